import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partCounter } from './bounded-fetch.ts';

const count = (text: string, isEventStream = false) => partCounter({ isEventStream })(Buffer.from(text));

/** As many as a comma, a list or an object announces. */
const expected = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return Math.max(1, inner.length) + inner.reduce((sum: number, each) => sum + expected(each), 0);
};

describe('the parts of a text', () => {
  it('are those of its JSON, whatever its strings hold, however it is cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }),
        fc.integer({ min: 1, max: 7 }),
        (value, size) => {
          const bytes = Buffer.from(JSON.stringify(value, null, size % 2));
          const counter = partCounter({ isEventStream: false });
          let parts = 0;
          for (let at = 0; at < bytes.length; at += size) parts += counter(bytes.subarray(at, at + size));
          expect(parts).toBe(expected(JSON.parse(bytes.toString())));
        },
      ),
    );
  });

  it.each([
    ['{"a":"\\\\","b":"\\"[{,","c":[1,2]}', 5],
    ['"[{,', 0],
    ['"[{,\n[{,', 3],
    ['"\\\n[', 1],
  ])('of %j are %i', (text, parts) => {
    expect(count(text)).toBe(parts);
  });

  it('of a stream are also its lines, ten each, and a quote in a comment hides nothing', () => {
    expect(count(': "\ndata: {"a":1}\n\n: "\r\rdata: [[\n', true)).toBe(63);
  });
});
