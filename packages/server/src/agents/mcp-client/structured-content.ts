import { isDeepStrictEqual } from 'node:util';
import type { CallToolResult } from '@modelcontextprotocol/client';

export type Base64 = { mediaType: string; base64: string };

export const bytesIn = (base64: string) => Math.floor((base64.length * 3) / 4);

/** How files of common kinds begin in base64. Other long words may be text. */
const kinds: readonly (readonly [begin: string, mediaType: string])[] = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
  ['UEsDB', 'application/zip'],
];
const embedded =
  /data:([\w.+-]{1,100}\/[\w.+-]{1,100})(?:;[\w.+=-]{1,200}){0,8};base64,([A-Za-z0-9+/]{200,}={0,2})|((?:iVBORw0KGg|\/9j\/|R0lGOD|UklGR|JVBERi0|UEsDB)[A-Za-z0-9+/]{200,}={0,2})/g;

/** Replaces files that are written into a text as base64: a model would pay for each character and see nothing. */
export function withoutBytes(text: string): { text: string; found: Base64[] } {
  const found: Base64[] = [];
  const shown = text.replace(embedded, (_whole, named?: string, ofAddress?: string, bare?: string) => {
    const base64 = ofAddress ?? bare ?? '';
    const mediaType = named ?? kinds.find(([begin]) => base64.startsWith(begin))?.[1] ?? '';
    found.push({ mediaType, base64 });
    return `[${mediaType}, ${bytesIn(base64)} bytes]`;
  });
  return { text: shown, found };
}

const minBytesLength = 256;
const isBase64 = (text: string): boolean =>
  text.length >= minBytesLength &&
  /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) &&
  [/[a-z]/, /[A-Z]/, /[0-9]/].every((sign) => sign.test(text));

/** The same for data. */
export function withoutBytesIn(value: unknown): unknown {
  if (typeof value === 'string') return isBase64(value) ? `[${bytesIn(value)} bytes]` : withoutBytes(value).text;
  if (Array.isArray(value)) return value.map(withoutBytesIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutBytesIn(inner)]));
}

/** Bounds the search for each value in the text. */
const maxValues = 500;
const maxSearched = 200_000;

/** Whether the content says all of the data already, as the protocol recommends. */
export function repeats(content: CallToolResult['content'], data: unknown): boolean {
  if (content.length === 0) return false;
  const texts = content.flatMap((part) =>
    part.type === 'text'
      ? [part.text]
      : part.type === 'resource' && 'text' in part.resource
        ? [part.resource.text]
        : [],
  );
  if (texts.some((text) => isDeepStrictEqual(parsed(text), data))) return true;
  const all = texts.join('\n');
  const values = valuesIn(data, []);
  // Data of this size is a repetition if the text has about as much.
  if (values.length > maxValues || all.length > maxSearched) return all.length * 2 > JSON.stringify(data).length;
  const others = new Set(content.filter(({ type }) => type !== 'text').flatMap((part) => valuesIn(part, [])));
  return values.every((value) => others.has(value) || all.includes(value));
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function valuesIn(value: unknown, found: string[]): string[] {
  if (found.length > maxValues) return found;
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) valuesIn(inner, found);
  else if (value !== undefined) found.push(String(value));
  return found;
}
