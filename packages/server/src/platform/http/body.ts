import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Failure, fail } from '@vestra/contract/errors';
import { bodyLimitOf, type ContentType, type Route } from '@vestra/contract/route';
import type { readMultipart, Upload } from './multipart.ts';

/** The bytes of the body, or the parts of a multipart body, which are split while they arrive. */
export type RawBody =
  | { contentType: Exclude<ContentType, 'multipart/form-data'>; bytes: Uint8Array }
  | { contentType: 'multipart/form-data'; parts: Awaited<ReturnType<typeof readMultipart>> };

/** Checks content type and size before anything parses the bytes. */
export async function receiveBody(route: Route, request: Request, by: { session: boolean }): Promise<RawBody | null> {
  const limit = bodyLimitOf(route, by);
  if (!route.body) {
    if (route.method !== 'GET') await refuseFields(request, limit);
    return null;
  }
  const header = request.headers.get('content-type') ?? '';
  const contentType = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const accepted: readonly string[] = route.accepts ?? ['application/json'];
  if (contentType === '' && route.bodyOptional && (await isEmptyBody(request))) return null;
  if (!accepted.includes(contentType)) throw refusedType(accepted, contentType);
  if (contentType === 'multipart/form-data') {
    const message = `The file is larger than this route takes: the whole body may have ${limit} bytes.`;
    const chunks = within(request, limit, () => fail('file_too_large', { param: 'file', message }));
    const multipart = await import('./multipart.ts');
    return { contentType, parts: await multipart.readMultipart(chunks, header) };
  }
  const other = contentType as Exclude<ContentType, 'multipart/form-data'>;
  return { contentType: other, bytes: await readBytes(request, limit) };
}

/** Without this check a field that the route does not accept would be ignored silently. */
async function refuseFields(request: Request, limit: number): Promise<void> {
  const bytes = await readBytes(request, limit);
  if (bytes.length === 0) return;
  const value = await readJson(bytes);
  const [field] = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [''];
  if (field === undefined) return;
  const what = field === '' ? 'A body' : `The field \`${field.slice(0, 100)}\``;
  throw fail('invalid_request', { param: field, message: `${what} is not taken here: this route has no body.` });
}

/** A request without a body may have no content-length: `curl -X POST` sends none, and Node still provides a stream. */
async function isEmptyBody({ body, headers }: Request): Promise<boolean> {
  if (body === null) return true;
  const declared = headers.get('content-length');
  if (declared !== null) return declared === '0';
  for await (const chunk of body) if (chunk.byteLength > 0) return false;
  return true;
}

function refusedType(accepted: readonly string[], given: string) {
  if (accepted.length === 1 && accepted[0] === 'multipart/form-data') return fail('multipart_required');
  return fail('unsupported_media_type', {
    message: `Send ${accepted.join(' or ')}${given ? `, not ${given.slice(0, 100)}` : ' as Content-Type'}.`,
  });
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const tooLarge = () => fail('body_too_large', { message: `This route takes at most ${limit} bytes.` });
  if (Number(request.headers.get('content-length') ?? Number.NaN) <= limit) {
    return new Uint8Array(await request.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of within(request, limit, tooLarge)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/**
 * Yields the body up to its limit. It discards up to the same amount again before it refuses: if the connection closed
 * while the client sends, the client would see a broken pipe and not the error.
 */
async function* within({ body }: Request, limit: number, tooLarge: () => Failure): AsyncGenerator<Uint8Array> {
  let size = 0;
  // Leave the rest unread, but do not cancel it: a form that this process sends to itself would write into the
  // cancelled stream, and that error would end the process.
  for await (const chunk of body?.values({ preventCancel: true }) ?? []) {
    size += chunk.byteLength;
    if (size > 2 * limit) throw tooLarge();
    if (size <= limit) yield chunk;
  }
  if (size > limit) throw tooLarge();
}

/** Refuses repeated fields, because they are ambiguous. */
function readForm(bytes: Uint8Array): Record<string, string> {
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (fields.has(name)) {
      throw fail('invalid_request', { param: name.slice(0, 100), message: 'This field is given twice.' });
    }
    if (value.includes('\0')) throw fail('invalid_request');
    fields.set(name, value);
  }
  return Object.fromEntries(fields);
}

/** Parses the body into fields to validate, and the uploaded file if there is one. */
export async function openBody(
  route: Route,
  raw: RawBody | null,
): Promise<{ fields: unknown; upload: Upload | null; hashed: (string | Uint8Array)[] }> {
  if (!raw) return { fields: route.bodyOptional ? {} : undefined, upload: null, hashed: [] };
  if (raw.contentType === 'multipart/form-data') return { fields: undefined, ...raw.parts };
  if (raw.contentType === 'application/zip') {
    const upload = { filename: null, contentType: raw.contentType, bytes: raw.bytes, form: {} };
    return { fields: undefined, upload, hashed: [raw.contentType, raw.bytes] };
  }
  if (raw.contentType === 'application/x-www-form-urlencoded') {
    return { fields: readForm(raw.bytes), upload: null, hashed: [raw.contentType, raw.bytes] };
  }
  if (raw.bytes.length === 0 && route.bodyOptional) return { fields: {}, upload: null, hashed: [] };
  return {
    fields: await readJson(raw.bytes, {
      mayHoldNul: route.nulText === 'handler',
      ...(route.bodyValues !== undefined && { mostValues: route.bodyValues }),
    }),
    upload: null,
    hashed: [raw.contentType, raw.bytes],
  };
}

const maxDepth = 100;
/** Every value costs time to build, walk and validate, so the number of values has its own limit. */
const defaultMaxValues = 100_000;
const maxKeys = 10_000;
/** Decoding an escape takes as long as ten plain bytes. 32 MiB of `\u8bed` has 5.6 million escapes. */
const maxEscapes = 6_000_000;
/** Larger bodies are read in several turns of the event loop, so that other requests are answered in between. */
const perTurn = 1024 * 1024;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body, or throws the exact reason why it is refused. */
async function readJson(
  bytes: Uint8Array,
  { mayHoldNul = false, mostValues = defaultMaxValues } = {},
): Promise<unknown> {
  const isLarge = bytes.length > perTurn;
  const scan = newScan(mostValues);
  scanTo(Math.min(perTurn, bytes.length), bytes, scan);
  for (let start = perTurn; start < bytes.length; start += perTurn) {
    await nextTurn();
    scanTo(Math.min(start + perTurn, bytes.length), bytes, scan);
  }
  const text = decode(bytes);
  if (isLarge) await nextTurn();
  const value = parse(text);
  if (isLarge) await nextTurn();
  // Without escapes a text has neither NUL nor lone surrogates: unescaped, both are invalid JSON or UTF-8.
  if (scan.hasUnicodeEscape || text.includes('__proto__')) refuseHostileText(value, mayHoldNul);
  if (isLarge) await nextTurn();
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw fail('invalid_json', { message: 'The body is not valid UTF-8.' });
  }
}

const [other, quote, open, close, comma, colon] = [0, 1, 2, 3, 4, 5];
const kinds = new Uint8Array(256);
for (const [characters, kind] of [
  ['"', quote],
  ['{[', open],
  ['}]', close],
  [',', comma],
  [':', colon],
] as const) {
  for (const character of characters) kinds[character.charCodeAt(0)] = kind;
}

type Scan = {
  mostValues: number;
  at: number;
  depth: number;
  values: number;
  escapes: number;
  isInString: boolean;
  hasUnicodeEscape: boolean;
  /** The number of keys of the open object at each depth. */
  keys: number[];
};

const newScan = (mostValues: number): Scan => ({
  mostValues,
  at: 0,
  depth: 0,
  values: 1,
  escapes: 0,
  isInString: false,
  hasUnicodeEscape: false,
  keys: [],
});

/** Scans the raw bytes, so that depth and size are limited before anything is built. */
function scanTo(end: number, bytes: Uint8Array, scan: Scan): void {
  while (scan.at < end) {
    if (scan.isInString) scanString(end, bytes, scan);
    else scanBetween(end, bytes, scan);
  }
  if (scan.escapes > maxEscapes) throw tooMuch(`${maxEscapes} escaped characters`);
}

function scanString(end: number, bytes: Uint8Array, scan: Scan): void {
  let at = scan.at;
  for (; at < end; at++) {
    const byte = bytes[at];
    if (byte === 34) {
      scan.isInString = false;
      at++;
      break;
    }
    if (byte === 92) {
      scan.escapes++;
      if (bytes[++at] === 117) scan.hasUnicodeEscape = true;
    }
  }
  scan.at = at;
}

function scanBetween(end: number, bytes: Uint8Array, scan: Scan): void {
  const { keys, mostValues } = scan;
  let { at, depth, values } = scan;
  for (; at < end; at++) {
    const kind = kinds[bytes[at] as number] as number;
    if (kind === other) continue;
    if (kind === quote) {
      scan.isInString = true;
      at++;
      break;
    }
    if (kind === comma) values++;
    else if (kind === colon) {
      const count = (keys[depth] ?? 0) + 1;
      if (count > maxKeys) throw tooMuch(`${maxKeys} fields in one object`);
      keys[depth] = count;
    } else if (kind === open) {
      values++;
      if (++depth > maxDepth) throw fail('invalid_json', { message: `JSON may be ${maxDepth} levels deep at most.` });
      keys[depth] = 0;
    } else depth--;
    if (values > mostValues) throw tooMuch(`${mostValues} values`);
  }
  scan.at = at;
  scan.depth = depth;
  scan.values = values;
}

const tooMuch = (most: string) => fail('invalid_request', { message: `A JSON body can have at most ${most}.` });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fail('invalid_json', {
      message: text.trim() === '' ? 'The body is empty: send a JSON object.' : jsonFault(text, error as Error),
    });
  }
}

/** The parser's message quotes the body, which may contain a secret, so only the position is repeated. */
function jsonFault(text: string, { message }: Error): string {
  const [, at] = /at position (\d+)/.exec(message) ?? [];
  const isCut = at ? Number(at) >= text.trimEnd().length : message.includes('end of JSON input');
  if (isCut) return 'The body is not valid JSON: it ends too early. Send it whole, and close every quote and bracket.';
  const before = text.slice(0, Number(at)).split('\n');
  const place = at ? ` at line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}` : '';
  return `The body is not valid JSON${place}. Write names and texts in double quotes, and no comma after the last field.`;
}

/** PostgreSQL stores neither NUL nor lone surrogates, and no field is called `__proto__`. */
function refuseHostileText(value: unknown, mayHoldNul: boolean): void {
  const found = hostileText(value, mayHoldNul);
  if (!found) return;
  // The path may contain the refused characters, but the response must not.
  const param = found.path.join('.').toWellFormed().replaceAll('\0', '').slice(0, 200);
  throw fail('invalid_request', { param, ...(found.what && { message: `Text may not carry ${found.what}.` }) });
}

type Hostile = { what: string | null; path: (string | number)[] };

/** Builds the path only after a match, on the way back. */
function hostileText(value: unknown, mayHoldNul: boolean): Hostile | null {
  if (typeof value === 'string') {
    const what = hostileString(value, mayHoldNul);
    return what === null ? null : { what, path: [] };
  }
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = hostileText(value[index], mayHoldNul);
      if (found) return prefixed(index, found);
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return { what: null, path: [key] };
    const what = hostileString(key, false);
    if (what !== null) return { what, path: [key] };
    const found = hostileText((value as Record<string, unknown>)[key], mayHoldNul);
    if (found) return prefixed(key, found);
  }
  return null;
}

const prefixed = (step: string | number, { what, path }: Hostile): Hostile => ({ what, path: [step, ...path] });

function hostileString(value: string, mayHoldNul: boolean): string | null {
  if (!mayHoldNul && value.includes('\0')) return 'a NUL character';
  return value.isWellFormed() ? null : 'half a surrogate pair';
}
