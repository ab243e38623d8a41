import { isUtf8 } from 'node:buffer';

const longestBody = 1024 * 1024;

/** What a page was answered: JSON where it is JSON, else text; what is neither, as base64. */
export function readBody(bytes: Buffer | null): { body: unknown; truncated: boolean } {
  if (bytes === null) return { body: '', truncated: true };
  if (bytes.length > longestBody) return { body: cutText(bytes), truncated: true };
  if (!isUtf8(bytes)) return { body: bytes.toString('base64'), truncated: false };
  const text = bytes.toString('utf8');
  return { body: asJson(text) ?? text, truncated: false };
}

/** Without half a character at the end. */
function cutText(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, longestBody), { stream: true });
}

/** An object or a list; whatever else could be read as JSON is text as well. */
function asJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
