import { RE2JS, RE2JSException } from 're2js';

/** A pattern whose time is linear in its size and in the text. */
export type Pattern = { test: (text: string) => boolean; size: number };

const maxPatternLength = 1000;

/** Returns the pattern, or the reason why it is refused. The reason follows the location in a sentence. */
export function readPattern(source: string): Pattern | string {
  if (source.length > maxPatternLength) return `a pattern is longer than ${maxPatternLength} characters.`;
  if (!isRegularExpression(source)) return 'a pattern is no regular expression.';
  const parts = partsOf(source).map(({ isWanted, source }) => ({ isWanted, pattern: inLinearTime(source) }));
  const known = parts.flatMap(({ isWanted, pattern }) => (pattern === null ? [] : [{ isWanted, ...pattern }]));
  if (known.length < parts.length) return unsupported;
  return {
    test: (text) => known.every(({ isWanted, test }) => test(text) === isWanted),
    size: known.reduce((sum, { size }) => sum + size, 0),
  };
}

export const unsupported =
  'a pattern uses what cannot be checked here: look-aheads that do not follow `^` at its beginning, look-behinds, back references, more than 1000 repetitions or properties such as \\p{Script=…}. Patterns run in linear time (RE2).';

function inLinearTime(source: string): Pattern | null {
  // The translation below would read the group name as letters.
  if (/\\k</.test(source)) return null;
  try {
    const compiled = RE2JS.compile(withMeaningOfJavaScript(RE2JS.translateRegExp(source)));
    return { test: (text) => compiled.test(text), size: compiled.programSize() };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return null;
  }
}

/**
 * Splits off look-aheads directly after `^`, as libraries write them for emails and host names: each becomes a pattern
 * that the text must match, or must not. With a top-level `|` the `^` would belong to the first alternative only.
 */
function partsOf(source: string): { isWanted: boolean; source: string }[] {
  const whole = { isWanted: true, source };
  if (!source.startsWith('^') || hasChoiceAtTop(source)) return [whole];
  const looks: (typeof whole)[] = [];
  let at = 1;
  while (/^\(\?[=!]/.test(source.slice(at, at + 3))) {
    const end = endOfGroup(source, at);
    looks.push({ isWanted: source[at + 2] === '=', source: `^(?:${source.slice(at + 3, end)})` });
    at = end + 1;
  }
  return [...looks, { isWanted: true, source: `^${source.slice(at)}` }];
}

function endOfGroup(source: string, start: number): number {
  for (const { at, token, depth } of tokensOf(source.slice(start))) {
    if (token === ')' && depth === 0) return start + at;
  }
  return source.length;
}

function hasChoiceAtTop(source: string): boolean {
  for (const { token, depth } of tokensOf(source)) if (token === '|' && depth === 0) return true;
  return false;
}

/** Yields the tokens outside of character classes, with the depth of open groups after each. */
function* tokensOf(source: string): Generator<{ at: number; token: string; depth: number }> {
  let depth = 0;
  for (const { 0: token, index: at } of source.matchAll(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|[()|]/g)) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    yield { at, token, depth };
  }
}

function isRegularExpression(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

/** RE2 reads `\s` as ASCII white space, and `.` as everything except the line feed. */
function withMeaningOfJavaScript(source: string): string {
  let isInClass = false;
  return source.replace(/\\[\s\S]|[[\].]/g, (token) => {
    if (token === '\\s') return isInClass ? spaces : `[${spaces}]`;
    if (token === '\\S') return isInClass ? token : `[^${spaces}]`;
    if (token === '.') return isInClass ? token : '[^\\n\\r\\x{2028}\\x{2029}]';
    if (token === '[') isInClass = true;
    if (token === ']') isInClass = false;
    return token;
  });
}

const spaces = '\\t\\n\\x0b\\f\\r\\x{feff}\\p{Z}';
