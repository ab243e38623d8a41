import { trimEndOf } from '@vestra/contract/trim-end';

/** A part of a text with its citation. */
export type Passage = {
  text: string;
  /** The headings above it, outermost first, or an empty text. */
  heading: string;
  /** The page on which it begins, or null if the text has no pages. */
  page: number | null;
};

/** Length of a passage in UTF-16 units: it fits one search hit. */
const passageAim = 1200;
const minPassage = 600;
const maxPassage = 1600;

/** Break points if a text has no marks, best kind first. The break nearest to the passageAim is used. */
const breaks = [/\n[^\S\n]*\n\s*/g, /\n/g, /[.!?…]["'”’)\]]*\s+|[。！？]/g, /\s+/g];

/** Programs that convert PDF to text end each page with it. */
const pageEnd = '\f';

/** Cuts a text into passages. Joined again, they are exactly the text. */
export function splitPassages(text: string, marks: readonly Mark[] = []): Passage[] {
  const passages: Passage[] = [];
  const hasPages = text.includes(pageEnd);
  let page = 1;
  let passed = 0;
  let start = 0;
  do {
    const lead = leadOf(text, start);
    while (passed < marks.length && (marks[passed] as Mark).at <= start + lead) passed += 1;
    const left = text.length - start;
    const length = left > maxPassage ? lengthOfNext(text, start, breaksFrom(marks, passed, start)) : left;
    const passage = text.slice(start, start + length);
    page += endsIn(passage.slice(0, lead));
    passages.push({ text: passage, heading: marks[passed - 1]?.heading ?? '', page: hasPages ? page : null });
    page += endsIn(passage.slice(lead));
    start += length;
  } while (start < text.length);
  return passages;
}

/** Length of the leading white space. The heading and page of a passage are those of the text after it. */
function leadOf(text: string, start: number): number {
  let at = start;
  while (at < text.length && at < start + maxPassage && /\s/.test(text[at] as string)) at += 1;
  return at - start;
}

const endsIn = (text: string): number => text.split(pageEnd).length - 1;

/** Lists the break marks within reach of the passage, relative to its start. */
function breaksFrom(marks: readonly Mark[], passed: number, start: number): number[] {
  const found: number[] = [];
  for (let next = passed; next < marks.length; next++) {
    const { at, isBreak } = marks[next] as Mark;
    if (at >= start + maxPassage) break;
    if (isBreak && at >= start + minPassage) found.push(at - start);
  }
  return found;
}

function lengthOfNext(text: string, start: number, marked: readonly number[]): number {
  if (marked.length > 0) return nearestToAim(marked);
  const window = text.slice(start + minPassage, start + maxPassage);
  for (const kind of breaks) {
    const ends = [...window.matchAll(kind)].map((found) => minPassage + found.index + found[0].length);
    if (ends.length > 0) return nearestToAim(ends);
  }
  // PostgreSQL refuses half of a surrogate pair.
  const isInsidePair = isHighSurrogate(text.charCodeAt(start + passageAim - 1));
  return isInsidePair ? passageAim - 1 : passageAim;
}

const nearestToAim = (ends: readonly number[]): number =>
  ends.reduce((best, end) => (Math.abs(end - passageAim) < Math.abs(best - passageAim) ? end : best));

const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff;

/** From `at` on, the text is under this heading. `isBreak`: a passage may end here. */
type Mark = { at: number; heading: string; isBreak: boolean };

/** Finds the headings of a text. The file extension in the title decides its format. */
export function outlineOf(title: string, text: string): Mark[] {
  const extension = /\.([^.]+)$/.exec(title)?.[1]?.toLowerCase() ?? '';
  if (extension === 'csv' || extension === 'tsv') return outlineOfRows(text);
  if (extension === 'json') return outlineOfJson(text);
  if (extension === 'yaml' || extension === 'yml') return outlineOfYaml(text);
  return hasNoHeadings.has(extension) ? [] : outlineOfMarkdown(text);
}

/** In these formats a line that begins with `#` is a comment. */
const hasNoHeadings = new Set(
  `jsonl ndjson xml toml ini cfg conf properties log sql graphql proto diff patch sh bash zsh fish ps1 bat py rb php pl lua r jl
  js mjs cjs jsx ts tsx mts cts vue svelte css scss less java kt kts scala groovy swift go rs c h cc cpp hpp cs fs ex exs
  erl hs clj dart tf gradle`.split(/\s+/),
);

const maxHeadingLength = 300;
const between = ' › ';
const pathOf = (names: readonly string[]): string => cut(names.join(between));
const cut = (heading: string): string =>
  heading.length <= maxHeadingLength ? heading : `${heading.slice(0, maxHeadingLength - 1).toWellFormed()}…`;
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Marks headings with the path above them, and the rows of a table with its column names. */
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
    const found = fence === null ? headingIn(line) : null;
    if (found) {
      path = [...path.filter((above) => above.level < found.level), found];
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

function headingIn(line: string): { level: number; name: string } | null {
  const [, marks, content] = /^(#{1,6}) +(\S.*)$/.exec(line) ?? [];
  if (marks === undefined || content === undefined) return null;
  // A heading may be closed by the same signs.
  return { level: marks.length, name: oneLine(trimEndOf(content, ' #') || content) };
}

const isRule = (line: string): boolean => /^\|(\s*:?-+:?\s*\|)+\s*$/.test(line);

/** The first row has the names of the columns. */
function outlineOfRows(text: string): Mark[] {
  const [head, second] = [...linesOf(text, 2)];
  if (!head || !second) return [];
  return [{ at: second.at, heading: cut(`columns ${oneLine(head.line.replaceAll('\t', ' | '))}`), isBreak: false }];
}

/** Marks the entries of the top two levels by name or, in a list, by number from 1. */
function outlineOfJson(text: string): Mark[] {
  const marks: Mark[] = [];
  /** The open objects and lists, with the current entry of each and whether an entry comes next. */
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

/** Returns the position of the closing quote. */
function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

/** Marks the top-level entries and the items of their lists. */
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

/**
 * A window is one sentence, or several short ones. Measured with the memory recall set shuffled into six passages:
 * windows of 45, 83, 167, 251 and 503 characters ranked the right passage first for 67, 59, 47, 42 and 53 of 100
 * questions.
 */
const windowAim = 60;
const maxWindow = 240;

export type PassageWindow = { position: number; text: string };

/**
 * Link targets, tags, checksums, keys, rules and marks. An encoder reads them as words, often more than the sentence
 * has. Search by words still finds them, because it reads the passage itself. No pattern for tags and comments looks
 * past the next `<`: otherwise a text of opening tags would take quadratic time.
 */
const notProse = [
  /\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+"[^"]*")?\)|\]\[[^\]\n]*\]/g,
  /<!--[^<>]*>|<\/[a-z][\w-]*>|<[a-z][\w-]*\s[^<>=]*=[^<>]*>/gi,
  /https?:\/\/[^\s<>")\]]+/g,
  /\b[\w+/=-]{40,}/g,
  /[#*`|│[\]]+|[!-/:-@[-`{-~─]{3,}/g,
];

/** Cuts passages into windows that get one vector each. `first` is the position of the first passage. */
export function windowsOf(passages: readonly string[], first = 0): PassageWindow[] {
  return passages.flatMap((passage, at) =>
    joined(sentencesOf(proseIn(passage))).map((text) => ({ position: first + at, text })),
  );
}

const proseIn = (passage: string): string => notProse.reduce((text, pattern) => text.replace(pattern, ' '), passage);

function sentencesOf(passage: string): string[] {
  return passage
    .split(/(?<=[.!?…]["'”’)\]]{0,3})\s+|\n+/)
    .flatMap((sentence) => pieces(sentence.replace(/\s+/g, ' ').trim()))
    .filter((sentence) => /\p{L}{2}/u.test(sentence));
}

/** Cuts text without sentences, such as a table or a log, at the last space that fits. */
function pieces(sentence: string): string[] {
  const found: string[] = [];
  let rest = sentence;
  while (rest.length > maxWindow) {
    const space = rest.lastIndexOf(' ', maxWindow);
    const end = space > windowAim ? space : maxWindow;
    found.push(rest.slice(0, end).toWellFormed());
    rest = rest.slice(end).trimStart();
  }
  return [...found, rest];
}

function joined(sentences: readonly string[]): string[] {
  const windows: string[] = [];
  for (const sentence of sentences) {
    const last = windows.at(-1);
    if (last !== undefined && last.length < windowAim && last.length + sentence.length < maxWindow)
      windows[windows.length - 1] = `${last} ${sentence}`;
    else windows.push(sentence);
  }
  return windows;
}
