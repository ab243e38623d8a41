import { isMap, isScalar, isSeq, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';

/** A text of service.yaml that changes: the instructions, or the description of a function. */
export type TextEdit = { path: 'instructions' | `tools.${string}`; before: string; after: string };

export type EditedFile = {
  text: string;
  /** Edits that the file has already. */
  there: TextEdit[];
  written: TextEdit[];
  /** Edits of a text that is no longer what the proposal was made for. */
  changed: TextEdit[];
};

/**
 * Replaces texts of a deployment file and leaves every other character as it is, with comments and layout. A text that
 * somebody changed meanwhile stays.
 */
export function editServiceFile(source: string, edits: readonly TextEdit[]): EditedFile {
  const document = parseDocument(source, { schema: 'core', stringKeys: true, merge: true, prettyErrors: false });
  const result: EditedFile = { text: source, there: [], written: [], changed: [] };
  const splices: { from: number; to: number; text: string }[] = [];
  for (const edit of edits) {
    const place = isMap(document.contents) ? placeOf(document.contents, edit.path) : null;
    const value = isScalar(place?.pair.value) ? String(place.pair.value.value ?? '') : null;
    if (value !== null && isSame(value, edit.after)) result.there.push(edit);
    else if (!place || value === null || !isSame(value, edit.before)) result.changed.push(edit);
    else {
      splices.push(spliceOf(source, place, edit.after));
      result.written.push(edit);
    }
  }
  for (const { from, to, text } of splices.toSorted((one, other) => other.from - one.from)) {
    result.text = result.text.slice(0, from) + text + result.text.slice(to);
  }
  return result;
}

/** A block in YAML may end with a line break that the text has not. */
const isSame = (one: string, other: string) => one.trim() === other.trim();

type Place = { pair: Pair; key: string };

function placeOf(root: YAMLMap, path: TextEdit['path']): Place | null {
  if (path === 'instructions') return pairOf(root, 'instructions');
  const tools = root.get('tools', true);
  const name = path.slice('tools.'.length);
  const entry = isSeq(tools)
    ? tools.items.find((item): item is YAMLMap => isMap(item) && item.get('function') === name)
    : undefined;
  return entry ? pairOf(entry, 'description') : null;
}

function pairOf(map: YAMLMap, key: string): Place | null {
  const pair = map.items.find((each) => isScalar(each.key) && each.key.value === key);
  return pair ? { pair, key } : null;
}

/** The value with the indentation of its key. Several lines become a literal block. */
function spliceOf(source: string, { pair, key }: Place, after: string): { from: number; to: number; text: string } {
  const [start] = (pair.key as { range: [number, number, number] }).range;
  const [, end] = (pair.value as { range: [number, number, number] }).range;
  const lineStart = source.lastIndexOf('\n', start - 1) + 1;
  const indent = ' '.repeat(start - lineStart);
  const written = stringify({ [key]: after.includes('\n') ? `${after.trimEnd()}\n` : after }, { lineWidth: 0 });
  const lines = written.trimEnd().split('\n');
  const [head = '', ...rest] = lines.map((line, at) => (at === 0 || line === '' ? line : indent + line));
  const old = source.slice(start, end);
  // Inside a block, a comment would become a part of the text: it goes behind the head.
  const lineEnd = source.indexOf('\n', end) < 0 ? source.length : source.indexOf('\n', end);
  const behind = old.includes('\n') ? '' : source.slice(end, lineEnd);
  const comment = /^[^\n]*?: [|>][-+0-9]*([ \t]+#[^\n]*)\n/.exec(old)?.[1] ?? (rest.length > 0 ? behind : '');
  const to = rest.length > 0 && behind !== '' ? lineEnd : end;
  const text = [head + comment, ...rest].join('\n');
  // A block ends with its line break, which belongs to it.
  return { from: start, to, text: old.endsWith('\n') ? `${text}\n` : text };
}
