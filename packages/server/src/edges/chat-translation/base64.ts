import { fail } from '@vestra/contract/errors';
import { maxUploadBytes } from '@vestra/contract/files';

/** `data:image/png;base64,…`, whose beginning the schema has looked at. */
export function bytesOfDataUrl(url: string): { mediaType: string; bytes: Uint8Array<ArrayBuffer> } {
  const mediaType = url.slice('data:'.length, url.indexOf(';'));
  return { mediaType, bytes: bytesOfBase64(url.slice(url.indexOf(',') + 1)) };
}

/** Longer than a file of the largest size with line breaks: refused before megabytes are decoded and sent on. */
const longestEncoded = maxUploadBytes * 1.5;

/** Each sign is looked at once: what a client sends may be megabytes of anything. */
export function bytesOfBase64(encoded: string): Uint8Array<ArrayBuffer> {
  if (encoded.length > longestEncoded) throw fail('file_too_large');
  const text = encoded.trimEnd();
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  if (/[^A-Za-z0-9+/\s]/.test(text.slice(0, text.length - padding))) {
    throw fail('invalid_request', { message: 'What is sent as a file is not base64.' });
  }
  return new Uint8Array(Buffer.from(text, 'base64'));
}
