import { Failure } from '@vestra/contract/errors';
import { files, maxUploadBytes } from '@vestra/contract/files';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { receiveBody } from './body.ts';
import { readMultipart } from './multipart.ts';

const whole = Buffer.from(
  [
    '--b\r\ncontent-disposition: form-data; name="note"\r\n\r\nhello\r\n',
    '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n',
    `${'text '.repeat(40)}\r\n--b--\r\n`,
  ].join(''),
);

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const read = (bytes: Uint8Array, size = 64) => readMultipart(inChunks(bytes, size), 'multipart/form-data; boundary=b');

describe('a multipart body', () => {
  it('parses the same in any chunks [REQ-205]', async () => {
    const { upload } = await read(whole, whole.length);
    expect([upload.filename, upload.contentType, upload.form]).toEqual(['a.txt', 'text/plain', { note: 'hello' }]);
    expect(Buffer.from(upload.bytes).toString()).toBe('text '.repeat(40));
    for (const size of [1, 2, 3, 7, 64]) expect(await read(whole, size)).toEqual(await read(whole, whole.length));
  });

  it('is refused with an error if it is broken or truncated [REQ-205]', async () => {
    const damaged = fc.array(fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(damaged, fc.nat(whole.length), fc.integer({ min: 1, max: 300 }), async (changes, cut, size) => {
        const bytes = Buffer.from(whole);
        for (const { at, byte } of changes) bytes[at] = byte;
        const outcome = await read(bytes.subarray(0, cut % 2 === 0 ? cut : whole.length), size).then(
          () => null,
          (error: unknown) => error,
        );
        return outcome === null || (outcome instanceof Failure && outcome.status === 400);
      }),
      { numRuns: 200 },
    );
  });
});

it('keeps the process running if its own form exceeds twice the limit [REQ-605]', async () => {
  const form = new FormData();
  form.set('file', new File([new Uint8Array(3 * maxUploadBytes)], 'a.bin'));
  const request = new Request('http://vestra.internal/v1/files', { method: 'POST', body: form });
  const received = receiveBody(files.create, request, { session: false });
  await expect(received).rejects.toMatchObject({ code: 'file_too_large' });
  // The runner fails on an unhandled rejection, which comes with the next chunk.
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
});
