import { fail } from '@vestra/contract/errors';

/** The text of bytes that are said to be one: in the charset that is declared, else that of a byte order mark, else UTF-8. */
export function decodeText(bytes: Uint8Array, declaredCharset: string | undefined): string {
  const decoder = decoderOf(charsetOfMark(bytes) ?? declaredCharset ?? 'utf-8');
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw fail('invalid_request', { param: 'file', message: `The file is not a text in ${decoder.encoding}.` });
  }
  if (text.includes('\0')) throw fail('invalid_request', { param: 'file', message: 'The file is binary, not a text.' });
  return text;
}

function charsetOfMark([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return undefined;
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { fatal: true });
  } catch {
    throw fail('invalid_request', { param: 'file', message: `The charset \`${charset.slice(0, 40)}\` is not known.` });
  }
}

export const charsetOfType = (contentType: string): string | undefined =>
  /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1];

/** A page says its charset near its beginning. */
export function charsetOfPage(bytes: Uint8Array): string | undefined {
  const beginning = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /<meta[^>]+charset\s*=\s*["']?([^"'\s/>;]+)/i.exec(beginning)?.[1];
}
