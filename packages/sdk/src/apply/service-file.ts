import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { excerptAt, type Spot, yamlFaults } from '@vestra/contract/yaml-fault';
import { yamlSentence } from '@vestra/contract/yaml-sentences';
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type YAMLMap } from 'yaml';
import { ApplyError, type Problem, problemOf } from './problem.ts';

export type ServiceFile = {
  /** Relative to the given folder. */
  shown: string;
  /** The folder of the file. Its paths are relative to it. */
  folder: string;
  content: Record<string, unknown> & { name: string };
  /** Creates a problem at a location in the service's notation: `tools.3.auth`. */
  problemAt: (param: string, message: string) => Problem;
};

export async function readServiceFile(options: { folder: string; file: string }): Promise<ServiceFile> {
  const path = resolve(options.folder, options.file);
  const shown = relative(options.folder, path).split(sep).join('/');
  const text = await readText(path, shown);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    schema: 'core',
    stringKeys: true,
    merge: true,
    prettyErrors: false,
  });
  const placeOf = (offset: number): Spot => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const faults = yamlFaults(text, document);
  if (faults.length > 0) {
    throw new ApplyError(
      faults.map((fault) => ({ ...problemOf(shown, fault.message, fault), excerpt: excerptAt(text, fault) })),
    );
  }
  const stray = strayAliases(document);
  if (stray.length > 0) {
    throw new ApplyError(stray.map(({ message, pos }) => problemOf(shown, message, placeOf(pos[0]))));
  }
  const problemAt = (param: string, message: string): Problem => ({
    ...problemOf(shown, message, placeOf(offsetOf(document, param))),
    param,
  });
  return { shown, folder: dirname(path), content: readContent(document, problemAt), problemAt };
}

/** The library reports these only on conversion, and without a position. */
function strayAliases(document: Document.Parsed): { message: string; pos: [number] }[] {
  const stray: { message: string; pos: [number] }[] = [];
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document)) return;
      stray.push({ message: yamlSentence('noAnchor', { name: alias.source }), pos: [alias.range?.[0] ?? 0] });
    },
  });
  return stray;
}

async function readText(path: string, shown: string): Promise<string> {
  const bytes = await readBytes(path, shown);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ApplyError([problemOf(shown, yamlSentence('notUtf8'), placeOfBadByte(bytes))], { cause });
  }
}

/** A lenient decoder writes U+FFFD for the first bad byte; one that the file contains itself takes three bytes. */
function placeOfBadByte(bytes: Uint8Array): Spot {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let offset = text.indexOf('\ufffd');
  for (let from = 0, at = 0; offset !== -1; offset = text.indexOf('\ufffd', from)) {
    at += Buffer.byteLength(text.slice(from, offset));
    if (!(bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd)) break;
    at += 3;
    from = offset + 1;
  }
  const before = text.slice(0, Math.max(offset, 0)).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

async function readBytes(path: string, shown: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const message = isMissing(cause) ? yamlSentence('noFile') : `The file cannot be read: ${(cause as Error).message}`;
    throw new ApplyError([problemOf(shown, message)], { cause });
  }
}

function readContent(
  document: Document.Parsed,
  problemAt: (param: string, message: string) => Problem,
): ServiceFile['content'] {
  const content = readValue(document, problemAt);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ApplyError([problemAt('', yamlSentence('noMapping'))]);
  }
  const { name } = content as Record<string, unknown>;
  if (typeof name !== 'string' || name === '') {
    throw new ApplyError([problemAt('name', yamlSentence('noName'))]);
  }
  return { ...(content as Record<string, unknown>), name };
}

function readValue(document: Document.Parsed, problemAt: (param: string, message: string) => Problem): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    const isMerge = (cause as Error).message.startsWith('Merge sources');
    throw new ApplyError([problemAt('', yamlSentence(isMerge ? 'badMerge' : 'manyAliases'))], { cause });
  }
}

/** The offset of the named part, or of its closest existing parent. A field begins with its key. */
function offsetOf(document: Document.Parsed, param: string): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? 0;
  let rest = param;
  while (rest !== '') {
    if (isAlias(node)) node = node.resolve(document);
    const step = isMap(node) ? fieldIn(document, node, rest) : isSeq(node) ? itemOf(node.items, rest) : null;
    if (!step) break;
    ({ node, rest } = step);
    offset = step.offset ?? offset;
  }
  return offset;
}

type Step = { node: unknown; offset: number | undefined; rest: string };

/** A field of the map, or else of a map that it merges with `<<`. */
function fieldIn(document: Document.Parsed, map: YAMLMap, rest: string): Step | null {
  const own = fieldOf(map.items, rest);
  if (own) return own;
  const sources = map.items.filter(({ key }) => isScalar(key) && key.value === '<<').map(({ value }) => value);
  for (const source of sources.flatMap((value) => (isSeq(value) ? value.items : [value]))) {
    const merged = isAlias(source) ? source.resolve(document) : source;
    const found = isMap(merged) ? fieldIn(document, merged, rest) : null;
    if (found) return found;
  }
  return null;
}

/** A key may contain dots, like `shipping.track` under `tool_results`: the longest match wins. */
function fieldOf(pairs: readonly { key: unknown; value: unknown }[], rest: string): Step | null {
  const fitting = pairs.flatMap(({ key, value }) => {
    if (!isScalar(key)) return [];
    const name = String(key.value);
    if (rest !== name && !rest.startsWith(`${name}.`)) return [];
    return [{ node: value, offset: key.range?.[0], rest: rest.slice(name.length + 1), length: name.length }];
  });
  return fitting.sort((a, b) => b.length - a.length)[0] ?? null;
}

function itemOf(items: readonly unknown[], rest: string): Step | null {
  const [index = ''] = rest.split('.', 1);
  const node = items[Number(index)] as { range?: [number, number, number] } | undefined;
  return node ? { node, offset: node.range?.[0], rest: rest.slice(index.length + 1) } : null;
}

export const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException)?.code === 'ENOENT';
