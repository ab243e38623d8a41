import { fail } from '@vestra/contract/errors';

/** The schema has looked at its beginning. */
export function bytesOfDataUrl(url: string): { mediaType: string; bytes: Uint8Array<ArrayBuffer> } {
  const comma = url.indexOf(',');
  const mediaType = url.slice('data:'.length, url.indexOf(';'));
  const encoded = url.slice(comma + 1);
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(encoded)) {
    throw fail('invalid_request', { message: 'A data URL holds what is not base64.' });
  }
  return { mediaType, bytes: new Uint8Array(Buffer.from(encoded, 'base64')) };
}
