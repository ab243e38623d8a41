import { fail } from '@vestra/contract/errors';

const deepest = 100;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body, or says exactly why it is not one that may come in. */
export function readJson(bytes: Uint8Array, { mayHoldNul = false } = {}): unknown {
  const text = decode(bytes);
  refuseDepth(text);
  const value = parse(text);
  refuseHostileText(value, mayHoldNul);
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw fail('invalid_json', { message: 'The body is not valid UTF-8.' });
  }
}

/** Looks at the text itself, so that depth is bounded before anything is built from it. */
function refuseDepth(text: string): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (inString) {
      if (character === 92) at++;
      else if (character === 34) inString = false;
    } else if (character === 34) inString = true;
    else if (character === 123 || character === 91) {
      if (++depth > deepest) throw fail('invalid_json', { message: `JSON may be ${deepest} levels deep at most.` });
    } else if (character === 125 || character === 93) depth--;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fail('invalid_json');
  }
}

/** Postgres stores neither NUL nor half a surrogate pair, and `__proto__` is never a field of ours. */
function refuseHostileText(value: unknown, mayHoldNul: boolean, path: string[] = []): void {
  if (typeof value === 'string') refuseString(value, mayHoldNul, path);
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    path.push(key);
    if (key === '__proto__') throw fail('invalid_request', { param: path.join('.') });
    refuseString(key, false, path);
    refuseHostileText((value as Record<string, unknown>)[key], mayHoldNul, path);
    path.pop();
  }
}

function refuseString(value: string, mayHoldNul: boolean, path: string[]): void {
  if (!mayHoldNul && value.includes('\0')) throw refusedText(path, 'a NUL character');
  if (!value.isWellFormed()) throw refusedText(path, 'half a surrogate pair');
}

/** The path may itself carry what is refused, and an answer must be writable whatever came in. */
const refusedText = (path: string[], what: string) =>
  fail('invalid_request', {
    message: `Text may not carry ${what}.`,
    param: path.join('.').toWellFormed().replaceAll('\0', '').slice(0, 200),
  });
