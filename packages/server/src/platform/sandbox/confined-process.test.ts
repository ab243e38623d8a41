import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { capture, joinCaptured } from './confined-process.ts';

it('stores output that fits, and otherwise the beginning, the end and the number of missing bytes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), async (chunks) => {
      const stream = new PassThrough();
      const said = capture(stream, 64);
      for (const chunk of chunks) stream.write(chunk);
      stream.end();
      await finished(stream);
      const whole = Buffer.concat(chunks);
      const { head, tail, leftOut } = said();
      expect(Buffer.from(head).equals(whole.subarray(0, 32))).toBe(true);
      if (whole.length <= 64) expect(Buffer.from(joinCaptured(said(), () => '')).equals(whole)).toBe(true);
      else expect(Buffer.from(tail).equals(whole.subarray(-32))).toBe(true);
      expect(leftOut).toBe(Math.max(0, whole.length - 64));
    }),
  );
});
