export type Spot = { line: number; column: number };

type YamlFault = Spot & { message: string };

/**
 * The fault to report for a text that is not YAML. A slip like a missing colon makes the parser report later lines, so
 * it is looked for first. `found`: the first fault of the parser.
 */
export function yamlFault(text: string, found: YamlFault): YamlFault {
  if (found.message.startsWith('Tabs are not allowed')) {
    return { ...found, message: 'YAML allows no tab here: indent with spaces.' };
  }
  const [, quote] = /^Missing closing (["'])/.exec(found.message) ?? [];
  if (quote !== undefined) return openQuote(text, quote) ?? found;
  return slipBefore(text.split('\n'), found.line) ?? found;
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
  const message = `The text that begins here has no closing ${quote} quote.`;
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, message };
}

/** Looks for a key without its colon, or without the space after it, up to a few lines after the parser's position. */
function slipBefore(lines: readonly string[], until: number): YamlFault | null {
  let block: number | null = null;
  for (const [at, raw] of lines.slice(0, until + 2).entries()) {
    const line = raw.replace(/\s+#.*$/, '').trimEnd();
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
  const [, before = '', key = '', rest = ''] = /^(\s*(?:- +)*)([A-Za-z_$][\w-]*)(.*)$/.exec(line) ?? [];
  const end = before.length + key.length + 1;
  if (key === '' || /^\s*:(\s|$)/.test(rest)) return null;
  // An address such as http://example.com is no key.
  if (/^:[^\s/]/.test(rest)) return { column: end, message: `Write a space after the colon of \`${key}\`.` };
  const opens = rest === '' && isDeeper(next, before.length);
  const isAlone = isTop && !before.includes('-') && !rest.includes(': ');
  return opens || isAlone ? { column: end, message: `A colon is missing after \`${key}\`.` } : null;
}

const isDeeper = (next: string, indent: number) => {
  const depth = next.length - next.trimStart().length;
  return depth > indent || (depth === indent && next.trimStart().startsWith('- '));
};

const nextLine = (lines: readonly string[], at: number) => lines.slice(at + 1).find((line) => line.trim() !== '') ?? '';
