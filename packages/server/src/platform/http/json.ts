import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';

const deepest = 100;
/** Every value costs time to build, to walk and to validate, so their number is bounded apart from the bytes. */
const usualValues = 100_000;
const mostKeys = 10_000;
/** Decoding an escape costs ten times a plain byte. 32 MiB of nothing but `\u8bed` has 5.6 million. */
const mostEscapes = 6_000_000;
/** Larger bodies are read in several turns of the event loop, so that other requests are answered in between. */
const perTurn = 1024 * 1024;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body, or says exactly why it is not one that may come in. */
export async function readJson(
  bytes: Uint8Array,
  { mayHoldNul = false, mostValues = usualValues } = {},
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
  // Without an escape there is no NUL and no half of a pair: neither is valid JSON or valid UTF-8 as it stands.
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
  /** Keys of the object that is open at each depth. */
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

/** Looks at the bytes themselves, so that depth and number are bounded before anything is built from them. */
function scanTo(end: number, bytes: Uint8Array, scan: Scan): void {
  while (scan.at < end) {
    if (scan.isInString) scanString(end, bytes, scan);
    else scanBetween(end, bytes, scan);
  }
  if (scan.escapes > mostEscapes) throw tooMuch(`${mostEscapes} escaped characters`);
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
      if (count > mostKeys) throw tooMuch(`${mostKeys} fields in one object`);
      keys[depth] = count;
    } else if (kind === open) {
      values++;
      if (++depth > deepest) throw fail('invalid_json', { message: `JSON may be ${deepest} levels deep at most.` });
      keys[depth] = 0;
    } else depth--;
    if (values > mostValues) throw tooMuch(`${mostValues} values`);
  }
  scan.at = at;
  scan.depth = depth;
  scan.values = values;
}

const tooMuch = (most: string) => fail('invalid_request', { message: `A JSON body may hold at most ${most}.` });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fail('invalid_json');
  }
}

/** PostgreSQL stores neither NUL nor half a surrogate pair, and `__proto__` is never a field of ours. */
function refuseHostileText(value: unknown, mayHoldNul: boolean): void {
  const found = hostileText(value, mayHoldNul);
  if (!found) return;
  // The path may itself carry what is refused, and the answer must be writable all the same.
  const param = found.path.join('.').toWellFormed().replaceAll('\0', '').slice(0, 200);
  throw fail('invalid_request', { param, ...(found.what && { message: `Text may not carry ${found.what}.` }) });
}

type Hostile = { what: string | null; path: (string | number)[] };

/** The path is put together on the way back, once something is found. */
function hostileText(value: unknown, mayHoldNul: boolean): Hostile | null {
  if (typeof value === 'string') {
    const what = hostileString(value, mayHoldNul);
    return what === null ? null : { what, path: [] };
  }
  if (typeof value !== 'object' || value === null) return null;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const found = hostileText(value[index], mayHoldNul);
      if (found) return within(index, found);
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    if (key === '__proto__') return { what: null, path: [key] };
    const what = hostileString(key, false);
    if (what !== null) return { what, path: [key] };
    const found = hostileText((value as Record<string, unknown>)[key], mayHoldNul);
    if (found) return within(key, found);
  }
  return null;
}

const within = (step: string | number, { what, path }: Hostile): Hostile => ({ what, path: [step, ...path] });

function hostileString(value: string, mayHoldNul: boolean): string | null {
  if (!mayHoldNul && value.includes('\0')) return 'a NUL character';
  return value.isWellFormed() ? null : 'half a surrogate pair';
}
