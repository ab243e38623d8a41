import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ArgumentShape } from './argument-shape.ts';
import { misuse } from './fault.ts';
import type { Terminal } from './terminal.ts';

export type TypedValue = string | boolean | readonly string[];

/**
 * Converts a typed value to text, a number, a list or JSON. Validation is up to the server. `-` reads standard input;
 * `@path` reads a file if JSON is expected.
 */
export async function readValue(
  terminal: Pick<Terminal, 'cwd' | 'stdin'>,
  flag: string,
  shape: ArgumentShape,
  given: TypedValue,
): Promise<unknown> {
  if (typeof given === 'boolean') return given;
  if (typeof given !== 'string') return readSeveral(terminal, flag, shape, given);
  if (shape.isNullable && given === 'null') return null;
  switch (shape.kind) {
    case 'labels':
      return readSeveral(terminal, flag, shape, [given]);
    case 'number':
      return readNumber(flag, given);
    case 'choice':
      return readChoice(flag, shape, given);
    case 'json':
      return parse(flag, await contentOf(terminal, flag, given));
    case 'mixed':
      return readMixed(await contentOf(terminal, flag, given));
    default:
      return given === '-' ? withoutLastNewline(await text(terminal.stdin)) : given;
  }
}

async function readSeveral(
  terminal: Pick<Terminal, 'cwd' | 'stdin'>,
  flag: string,
  shape: ArgumentShape,
  given: readonly string[],
): Promise<unknown> {
  const [first = ''] = given;
  if (shape.isNullable && given.length === 1 && first === 'null') return null;
  if (given.length === 1 && shape.alone.includes(first)) return first;
  const isJson = given.length === 1 && (/^[[{@]/.test(first) || first === '-');
  if (isJson) return parse(flag, await contentOf(terminal, flag, first));
  if (shape.kind === 'labels') return Object.fromEntries(given.map((each) => readLabel(flag, each)));
  // A word of a fixed list contains no comma; a free text may.
  if (shape.choices.length === 0) return given;
  return given.flatMap((each) => each.split(',')).map((each) => readChoice(flag, shape, each.trim()));
}

function readNumber(flag: string, given: string): number {
  const value = Number(given);
  if (given.trim() === '' || !Number.isFinite(value)) throw misuse(`${flag} expects a number, not "${given}".`, flag);
  return value;
}

function readChoice(flag: string, { choices }: ArgumentShape, given: string): unknown {
  const found = choices.find((each) => String(each) === given);
  if (found === undefined) throw misuse(`${flag} expects ${oneOf(choices)}, not "${given}".`, flag);
  return found;
}

function readLabel(flag: string, given: string): [string, string] {
  const at = given.indexOf('=');
  if (at < 1) throw misuse(`${flag} expects key=value, or a JSON object, not "${given}".`, flag);
  return [given.slice(0, at), given.slice(at + 1)];
}

function readMixed(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}

async function contentOf(terminal: Pick<Terminal, 'cwd' | 'stdin'>, flag: string, given: string): Promise<string> {
  if (given === '-' || given === '@-') return text(terminal.stdin);
  if (!given.startsWith('@')) return given;
  const path = resolve(terminal.cwd, given.slice(1));
  const bytes = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw misuse(`${flag} names ${path}, which cannot be read (${error.code}).`, flag);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw misuse(`${flag} names ${path}, which is not text in UTF-8.`, flag);
  }
}

function parse(flag: string, given: string): unknown {
  try {
    return JSON.parse(given);
  } catch (error) {
    throw misuse(`${flag} expects JSON, or @path of a file that contains it: ${(error as Error).message}`, flag);
  }
}

/** `echo` and editors end a text with an unintended newline. */
const withoutLastNewline = (given: string) => given.replace(/\r?\n$/, '');

function oneOf(choices: readonly unknown[]): string {
  const words = choices.map(String);
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}
