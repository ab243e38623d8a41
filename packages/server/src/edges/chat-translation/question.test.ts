import { describe, expect, it } from 'vitest';
import { bytesOfBase64, bytesOfDataUrl } from './question.ts';

const megabytes = (sign: string, count: number) => sign.repeat(count * 1024 * 1024);

describe('an inline file', () => {
  it('is read with its type, with or without padding and line breaks [OAI-008]', () => {
    const { mediaType, bytes } = bytesOfDataUrl('data:text/plain;base64,VGhl IGNv\nZGU=');
    expect([mediaType, Buffer.from(bytes).toString()]).toEqual(['text/plain', 'The code']);
    expect(Buffer.from(bytesOfBase64('VGhlIGNvZGU')).toString()).toBe('The code');
    expect(bytesOfBase64(megabytes('A', 12)).byteLength).toBe(9 * 1024 * 1024);
  });

  it('is refused before decoding if it is larger than an upload may be [OAI-600]', () => {
    expect(() => bytesOfBase64(megabytes('!', 16))).toThrow(expect.objectContaining({ code: 'file_too_large' }));
  });

  it.each([
    ['a foreign sign', 'VGh!'],
    ['padding in the middle', 'VG=hlIGNv'],
    ['megabytes of space and then a foreign sign', `${megabytes(' ', 10)}!`],
    ['megabytes of padding', megabytes('=', 10)],
  ])('is refused with %s [OAI-008]', (_, encoded) => {
    expect(() => bytesOfBase64(encoded)).toThrow('not base64');
  });
});
