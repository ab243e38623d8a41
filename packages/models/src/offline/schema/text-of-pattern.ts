/**
 * Generates a text that matches a regular expression: the first alternative, and the minimum repetitions plus `extra`.
 * Null for unsupported syntax (look-around, back references).
 */
export function textOfPattern(pattern: string, extra: number): string | null {
  const reader = { pattern, at: 0, extra };
  try {
    const text = alternatives(reader);
    return reader.at === pattern.length ? text : null;
  } catch {
    return null;
  }
}

type Reader = { pattern: string; at: number; readonly extra: number };

class Unreadable extends Error {}

function alternatives(reader: Reader): string {
  const first = sequence(reader);
  while (reader.pattern[reader.at] === '|') {
    reader.at++;
    sequence(reader);
  }
  return first;
}

function sequence(reader: Reader): string {
  let text = '';
  while (reader.at < reader.pattern.length && !'|)'.includes(reader.pattern[reader.at] as string)) {
    const atom = readAtom(reader);
    text += atom.repeat(repetitions(reader));
  }
  return text;
}

function readAtom(reader: Reader): string {
  const character = reader.pattern[reader.at++] as string;
  switch (character) {
    case '^':
    case '$':
      return '';
    case '.':
      return 'a';
    case '(':
      return group(reader);
    case '[':
      return characterClass(reader);
    case '\\':
      return escaped(reader);
    default:
      return character;
  }
}

function group(reader: Reader): string {
  if (reader.pattern[reader.at] === '?') {
    const opening = /^\?(:|<[A-Za-z]\w*>)/.exec(reader.pattern.slice(reader.at));
    if (!opening) throw new Unreadable();
    reader.at += opening[0].length;
  }
  const text = alternatives(reader);
  if (reader.pattern[reader.at++] !== ')') throw new Unreadable();
  return text;
}

const escapes: Record<string, string> = { d: '0', w: 'a', s: ' ', D: 'a', W: '-', S: 'a', t: '\t', n: '\n', r: '\r' };

function escaped(reader: Reader): string {
  const character = reader.pattern[reader.at++] as string;
  if (character === 'b' || character === 'B') return '';
  if (/[1-9kpPux]/.test(character)) throw new Unreadable();
  return escapes[character] ?? character;
}

function characterClass(reader: Reader): string {
  const end = endOfClass(reader);
  const source = reader.pattern.slice(reader.at - 1, end + 1);
  reader.at = end + 1;
  const allowed = new RegExp(`^${source}$`, 'u');
  const found = 'a0A_- .,:/@b1Bxyz9éß'.split('').find((each) => allowed.test(each));
  if (found) return found;
  for (let code = 33; code < 0x250; code++) {
    const each = String.fromCharCode(code);
    if (allowed.test(each)) return each;
  }
  throw new Unreadable();
}

function endOfClass({ pattern, at }: Reader): number {
  for (let index = at; index < pattern.length; index++) {
    if (pattern[index] === '\\') index++;
    else if (pattern[index] === ']') return index;
  }
  throw new Unreadable();
}

function repetitions(reader: Reader): number {
  const match = /^(?:([*+?])|\{(\d{1,9})(?:(,)(\d{0,9}))?\})\??/.exec(reader.pattern.slice(reader.at));
  if (!match) return 1;
  reader.at += match[0].length;
  const [, sign, from, comma, to] = match;
  const least = sign ? (sign === '+' ? 1 : 0) : Number(from);
  const most = sign ? (sign === '?' ? 1 : Infinity) : to ? Number(to) : comma ? Infinity : least;
  return Math.min(most, least + reader.extra, 1000);
}
