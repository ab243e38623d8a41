import { RE2JS, RE2JSException } from 're2js';

/** A pattern that takes time in proportion to its size and to the text, whatever stands in either. */
export type Pattern = { test: (text: string) => boolean; size: number };

const longest = 1000;

/** What is wrong with a pattern, in a sentence that follows its place; or the pattern. */
export function readPattern(source: string): Pattern | string {
  if (source.length > longest) return `a pattern is longer than ${longest} characters.`;
  if (!isRegularExpression(source)) return 'a pattern is no regular expression.';
  // The translation below would take the name for letters.
  if (/\\k</.test(source)) return unsupported;
  try {
    const compiled = RE2JS.compile(withMeaningOfJavaScript(RE2JS.translateRegExp(source)));
    return { test: (text) => compiled.test(text), size: compiled.programSize() };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return unsupported;
  }
}

const unsupported =
  'a pattern uses what is not supported here: look-aheads and look-behinds, back references, more than 1000 repetitions or properties such as \\p{Script=…}. Patterns run in linear time (RE2).';

function isRegularExpression(source: string): boolean {
  try {
    new RegExp(source, 'u');
    return true;
  } catch {
    return false;
  }
}

/** RE2 takes `\s` for the white space of ASCII, and `.` for all but the line feed. */
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
