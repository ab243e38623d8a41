/** From here on a text stands under this heading. `isBreak`: it is well cut here. */
export type Mark = { at: number; heading: string; isBreak: boolean };

/** Where the parts of a text begin and what they are called, by the kind of text that its title tells. */
export function outlineOf(title: string, text: string): Mark[] {
  const extension = /\.([^.]+)$/.exec(title)?.[1]?.toLowerCase() ?? '';
  if (extension === 'csv' || extension === 'tsv') return outlineOfRows(text);
  if (extension === 'json') return outlineOfJson(text);
  if (extension === 'yaml' || extension === 'yml') return outlineOfYaml(text);
  return hasNoHeadings.has(extension) ? [] : outlineOfMarkdown(text);
}

/** There a line that begins with `#` is a comment. */
const hasNoHeadings = new Set(
  `jsonl ndjson xml toml ini cfg conf properties log sql graphql proto diff patch sh bash zsh fish ps1 bat py rb php pl lua r jl
  js mjs cjs jsx ts tsx mts cts vue svelte css scss less java kt kts scala groovy swift go rs c h cc cpp hpp cs fs ex exs
  erl hs clj dart tf gradle`.split(/\s+/),
);

const longestHeading = 300;
const between = ' › ';
const pathOf = (names: readonly string[]): string => cut(names.join(between));
const cut = (heading: string): string =>
  heading.length <= longestHeading ? heading : `${heading.slice(0, longestHeading - 1).toWellFormed()}…`;
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Headings, each with those above it; below the head of a table its columns, so that a row far down can be read. */
function outlineOfMarkdown(text: string): Mark[] {
  const marks: Mark[] = [];
  let path: { level: number; name: string }[] = [];
  let fence: string | null = null;
  let before = '';
  let isInTable = false;
  const headings = () => pathOf(path.map(({ name }) => name));
  for (const { at, line } of linesOf(text)) {
    const mark = /^\s{0,3}(```|~~~)/.exec(line)?.[1] ?? null;
    if (mark !== null && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    const found = fence === null ? /^(#{1,6}) +(.+?)[ #]*$/.exec(line) : null;
    if (found) {
      const level = (found[1] as string).length;
      path = [...path.filter((above) => above.level < level), { level, name: oneLine(found[2] as string) }];
      marks.push({ at, heading: headings(), isBreak: true });
    } else if (isInTable && !line.startsWith('|')) {
      marks.push({ at, heading: headings(), isBreak: false });
    }
    isInTable = line.startsWith('|') && (isInTable || isRule(line));
    if (isInTable && isRule(line)) {
      const columns = oneLine(before.replace(/^\||\|\s*$/g, ''));
      const heading = cut([...(path.length === 0 ? [] : [headings()]), `columns ${columns}`].join(', '));
      marks.push({ at: at + line.length + 1, heading, isBreak: false });
    }
    before = line;
  }
  return marks;
}

const isRule = (line: string): boolean => /^\|(\s*:?-+:?\s*\|)+\s*$/.test(line);

/** All rows but the first stand under its names. */
function outlineOfRows(text: string): Mark[] {
  const [head, second] = [...linesOf(text, 2)];
  if (!head || !second) return [];
  return [{ at: second.at, heading: cut(`columns ${oneLine(head.line.replaceAll('\t', ' | '))}`), isBreak: false }];
}

/** The entries of the whole and of what they hold, with their names or, in a list, their numbers from 1. */
function outlineOfJson(text: string): Mark[] {
  const marks: Mark[] = [];
  /** Of each thing that is open: its kind, the entry it is at, and whether the next text is the name of one. */
  const open: { isList: boolean; entry: string; count: number; isName: boolean }[] = [];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] as string;
    const last = open.at(-1);
    const isEntry = last !== undefined && open.length <= 2 && last.isName && !/[\s,}\]]/.test(sign);
    if (isEntry) {
      last.count += 1;
      last.isName = false;
      last.entry = last.isList || sign !== '"' ? String(last.count) : text.slice(at + 1, endOfText(text, at));
      marks.push({ at, heading: pathOf(open.map(({ entry }) => oneLine(entry))), isBreak: true });
    }
    if (sign === '"') at = endOfText(text, at);
    else if (sign === '{' || sign === '[') open.push({ isList: sign === '[', entry: '', count: 0, isName: true });
    else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',' && last) last.isName = true;
  }
  return marks;
}

/** The place of the quote that ends the text which begins here. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** The entries of the whole, and the items of a list that stands in one. */
function outlineOfYaml(text: string): Mark[] {
  const marks: Mark[] = [];
  let entry: string | null = null;
  let item = 0;
  for (const { at, line } of linesOf(text)) {
    const key = /^([^\s#:-][^:]*?):(\s|$)/.exec(line)?.[1];
    if (key !== undefined) {
      entry = oneLine(key.replace(/^["']|["']$/g, ''));
      item = 0;
      marks.push({ at, heading: cut(entry), isBreak: true });
    } else if (/^ {0,2}- /.test(line)) {
      item += 1;
      marks.push({ at, heading: pathOf([...(entry === null ? [] : [entry]), String(item)]), isBreak: true });
    }
  }
  return marks;
}

function* linesOf(text: string, most = Number.POSITIVE_INFINITY): Generator<{ at: number; line: string }> {
  let at = 0;
  for (let count = 0; count < most && at < text.length; count++) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end === -1 ? text.length : end);
    yield { at, line: line.endsWith('\r') ? line.slice(0, -1) : line };
    if (end === -1) return;
    at = end + 1;
  }
}
