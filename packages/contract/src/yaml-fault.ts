import { yamlSentence } from './yaml-sentences.ts';

export type Spot = { line: number; column: number };

type YamlFault = Spot & { message: string };

/** A text can have thousands of unknown tags, and the place of each is looked for from the beginning. */
const mostFaults = 10;

/**
 * The faults that the parser of a text reports: its first error, because one slip is many, or else the first unknown tags,
 * of which it only warns.
 */
export function yamlFaults(
  text: string,
  { errors, warnings }: { errors: readonly ParserFault[]; warnings: readonly ParserFault[] },
): YamlFault[] {
  const [first] = [...errors].sort((one, other) => one.pos[0] - other.pos[0]);
  return (first ? [first] : warnings.slice(0, mostFaults)).map(({ message, pos: [offset] }) => {
    const before = text.slice(0, offset).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return yamlFault(text, { line: before.length, column, message: /[.!?]$/.test(message) ? message : `${message}.` });
  });
}

type ParserFault = { message: string; pos: readonly [number, number] };

/**
 * The fault to report for a text that is not YAML. A slip like a missing colon makes the parser report later lines, so
 * it is looked for first. `found`: the first fault of the parser.
 */
export function yamlFault(text: string, found: YamlFault): YamlFault {
  const [, tag] = /^(?:Unresolved|Could not resolve) tag: (.+?)\.?$/.exec(found.message) ?? [];
  if (tag !== undefined) {
    return { ...found, message: yamlSentence('tag', { tag: tag.replace('tag:yaml.org,2002:', '!!') }) };
  }
  if (found.message.startsWith('Tabs are not allowed')) {
    return { ...found, message: yamlSentence('tab') };
  }
  const [, quote] = /^Missing closing (["'])/.exec(found.message) ?? [];
  if (quote !== undefined) return openQuote(text, quote) ?? found;
  return slipBefore(text.split('\n'), found.line) ?? inPlainWords(text, found);
}

/** The parser's words for the other common faults, and the sentence for each. The rest keep their words. */
const plainWords: readonly [RegExp, Parameters<typeof yamlSentence>[0]][] = [
  [/^Plain value cannot start with .*?(?<sign>\S)\.?$/, 'badStart'],
  [/^Unexpected \S*scalar at node end/, 'endedBefore'],
  [/^Unexpected block-seq-ind on same line/, 'listAfterKey'],
  [/^(?:Sequence item without|Implicit map keys need|All (?:mapping|sequence) items)/, 'uneven'],
  [/^Invalid escape sequence (?<escape>\S+?)\.?$/, 'badEscape'],
  [/^Unexpected flow-\S+-end .*"(?<sign>[\]}])"/, 'straySign'],
  [/^Unknown directive (?<sign>%)/, 'straySign'],
  [/^Block scalar header includes extra characters: (?<sign>[|>])/, 'textAfterSign'],
  [/^With stringKeys, all keys must be strings/, 'keyNotText'],
  [/^Source contains multiple documents/, 'secondDocument'],
];

function inPlainWords(text: string, found: YamlFault): YamlFault {
  const { message, line, column } = found;
  const lines = text.split('\n');
  const shown = lines[line - 1] ?? '';
  const key = /^\s*(?:- +)*"?([\w$-]+)/.exec(shown)?.[1] ?? '';
  if (message.startsWith('Map keys must be unique')) {
    return { ...found, message: yamlSentence('twice', { key }) };
  }
  if (message.startsWith('Nested mappings are not allowed')) {
    if (/:(?:\s|$)/.test(shown.slice(column - 1))) {
      return { ...found, message: yamlSentence('colonInValue') };
    }
    return afterLine(lines, line);
  }
  if (message.startsWith('Implicit keys need to be on a single line')) return afterLine(lines, line);
  const [, closer] = /^Flow (?:sequence|map) .* end with a ([\]}])/.exec(message) ?? [];
  if (closer !== undefined) return openBracket(lines.slice(0, line - 1), closer) ?? found;
  for (const [pattern, name] of plainWords) {
    const match = pattern.exec(message);
    if (match) return { ...found, message: yamlSentence(name, match.groups) };
  }
  return found;
}

/** The parser reports the line before the one that is indented too far. */
function afterLine(lines: readonly string[], line: number): YamlFault {
  const next = lines[line] ?? '';
  return { line: line + 1, column: next.length - next.trimStart().length + 1, message: yamlSentence('uneven') };
}

/** The parser reports the line after the list. Its bracket is the last one that is not closed. */
function openBracket(lines: readonly string[], closer: string): YamlFault | null {
  const opener = closer === ']' ? '[' : '{';
  for (const [at, line] of [...lines.entries()].reverse()) {
    const start = line.lastIndexOf(opener);
    if (start === -1 || line.includes(closer, start)) continue;
    return { line: at + 1, column: start + 1, message: yamlSentence('openBracket', { opener, closer }) };
  }
  return null;
}

/** The line with a mark below the column. */
export function excerptAt(text: string, { line, column }: Spot): string {
  const shown = (text.split('\n')[line - 1] ?? '').replace(/\r$/, '').slice(0, 200);
  const margin = ' '.repeat(String(line).length);
  // Tabs stay, so that the mark is below its character at every tab width.
  const before = shown.slice(0, column - 1).replace(/[^\t]/g, ' ');
  return `  ${line} | ${shown}\n  ${margin} | ${before}^`;
}

/** The parser reports the end of the file. The text begins at the last quote after a key or a dash. */
function openQuote(text: string, quote: string): YamlFault | null {
  const start = Math.max(text.lastIndexOf(`: ${quote}`), text.lastIndexOf(`- ${quote}`)) + 2;
  if (start < 2) return null;
  const before = text.slice(0, start).split('\n');
  const message = yamlSentence('openQuote', { quote });
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
}

/** Looks for a key without its colon, or without the space after it, up to a few lines after the parser's position. */
function slipBefore(lines: readonly string[], until: number): YamlFault | null {
  let block: number | null = null;
  for (const [at, raw] of lines.slice(0, until + 2).entries()) {
    const comment = raw.search(/\s#/);
    const line = (comment === -1 ? raw : raw.slice(0, comment)).trimEnd();
    const indent = line.length - line.trimStart().length;
    if (line.trim() === '' || /^\s*(#|---|\.\.\.|%)/.test(line)) continue;
    // Text of a block scalar is not YAML.
    if (block !== null && indent > block) continue;
    block = /(:|^\s*-)\s+[|>][-+\d]*$/.test(line) ? indent : null;
    const slip = slipIn(line, { isTop: indent === 0, next: nextLine(lines, at) });
    if (slip) return { line: at + 1, ...slip };
  }
  return null;
}

function slipIn(line: string, { isTop, next }: { isTop: boolean; next: string }): Omit<YamlFault, 'line'> | null {
  const [start = '', before = '', key = ''] = /^(\s*(?:- +)*)([A-Za-z_$][\w-]*)/.exec(line) ?? [];
  const rest = line.slice(start.length);
  const end = before.length + key.length + 1;
  if (key === '' || /^\s*:(\s|$)/.test(rest)) return null;
  // An address such as http://example.com is no key.
  if (/^:[^\s/]/.test(rest)) return { column: end, message: yamlSentence('noSpace', { key }) };
  const opens = rest === '' && isDeeper(next, before.length);
  const isAlone = isTop && !before.includes('-') && !rest.includes(': ');
  return opens || isAlone ? { column: end, message: yamlSentence('noColon', { key }) } : null;
}

const isDeeper = (next: string, indent: number) => {
  const depth = next.length - next.trimStart().length;
  return depth > indent || (depth === indent && next.trimStart().startsWith('- '));
};

function nextLine(lines: readonly string[], at: number): string {
  for (let next = at + 1; next < lines.length; next++) if (lines[next]?.trim()) return lines[next] as string;
  return '';
}
