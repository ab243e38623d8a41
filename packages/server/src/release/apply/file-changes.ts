import { isDeepStrictEqual } from 'node:util';
import { headerExposesCredential, variableExposesCredential } from '@vestra/contract/exposed-credential';
import { nameOfRoutine } from '@vestra/contract/routine-name';
import type { FixedContent } from '../../agents/versions/index.ts';
import { firstTimePersona } from './manifest.ts';
import type { FileKey, WrittenFile } from './parts.ts';

type FileChange = { path: string; before: unknown; after: unknown };

/** A version as its file, and the content that it fixes. */
type Side = { file: WrittenFile | null; content: Pick<FixedContent, 'notebooks' | 'skills'> | null };

type Compared = {
  /** The keys that an apply reports as changed. */
  keys: readonly string[];
  before: Side;
  after: Side;
  /** Keys whose local files the client lists itself. */
  uploads: readonly string[];
};

/** Every field that differs, for the keys that an apply reports as changed. Each such key has at least one row. */
export function changesOf({ keys, before, after, uploads }: Compared): FileChange[] {
  return (keys as readonly FileKey[]).flatMap((key) => {
    const [old, now] = [shown(before.file?.[key], key), shown(after.file?.[key], key)];
    const rows = [...changesAt(key, old, now), ...contentChanges(key, before, after)];
    if (rows.length > 0 || uploads.includes(key)) return rows;
    return [{ path: key, before: old ?? null, after: now ?? null }];
  });
}

/** How the entries of a list are named. Lists of plain words are compared as a whole. */
const nameOfEntry: Partial<Record<FileKey, (entry: Fields) => unknown>> = {
  tools: (entry) => entry.function ?? entry.mcp,
  skills: (entry) => entry.id ?? entry.name,
  knowledge: (entry) => entry.notebook,
  routines: (entry) => nameOfRoutine(entry as { name?: string; ask: string }),
  tests: (entry) => entry.name,
  webhooks: (entry) => entry.url,
};

type Fields = Readonly<Record<string, unknown>>;

function changesAt(key: FileKey, before: unknown, after: unknown): FileChange[] {
  const nameOf = nameOfEntry[key];
  if (nameOf) return entryChanges(key, asList(before), asList(after), nameOf);
  if (!isFields(before ?? {}) || !isFields(after ?? {})) return change(key, before, after);
  return fieldChanges(key, (before ?? {}) as Fields, (after ?? {}) as Fields);
}

function entryChanges(
  key: string,
  before: readonly Fields[],
  after: readonly Fields[],
  nameOf: (entry: Fields) => unknown,
): FileChange[] {
  const [old, now] = [before, after].map((list) => new Map(list.map((entry) => [String(nameOf(entry)), entry]))) as [
    Map<string, Fields>,
    Map<string, Fields>,
  ];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const rows = names.flatMap((name) => {
    const [was, is] = [old.get(name), now.get(name)];
    const path = `${key}[${JSON.stringify(name)}]`;
    return was && is ? fieldChanges(path, was, is) : change(path, was, is);
  });
  if (rows.length > 0 || isDeepStrictEqual([...old.keys()], [...now.keys()])) return rows;
  return [{ path: key, before: [...old.keys()], after: [...now.keys()] }];
}

/** Variables and headers are compared one by one, since each is a line of the file. */
const isRecordOfLines = (field: string) => field === 'env' || field === 'headers';

function fieldChanges(path: string, before: Fields, after: Fields): FileChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields.flatMap((field) => {
    const [old, now] = [before[field], after[field]];
    const at = `${path}.${field}`;
    if (isRecordOfLines(field)) return fieldChanges(at, (old ?? {}) as Fields, (now ?? {}) as Fields);
    return change(at, old, now);
  });
}

function change(path: string, before: unknown, after: unknown): FileChange[] {
  if (isDeepStrictEqual(asList(before ?? null), asList(after ?? null))) return [];
  return [{ path, before: before ?? null, after: after ?? null }];
}

/** One value and a list of it mean the same in a file. */
const asList = <Item>(value: unknown): Item[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]) as Item[];

const isFields = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Notebooks and skills whose documents or files changed since the version fixed them. */
function contentChanges(key: FileKey, before: Side, after: Side): FileChange[] {
  const place = key === 'knowledge' ? 'notebooks' : key === 'skills' ? 'skills' : null;
  if (place === null || !before.content || !after.content) return [];
  const [old, now] = [before.content[place], after.content[place]];
  return Object.keys(now).flatMap((id) =>
    id in old && old[id] !== now[id]
      ? [{ path: `${key}[${JSON.stringify(id)}].content`, before: old[id], after: now[id] }]
      : [],
  );
}

/** Drops defaults that a file may also write, and hides credentials that older versions may contain. */
function shown(value: unknown, key: FileKey): unknown {
  if (value === undefined) return undefined;
  if (key === 'tools') {
    return asList<Fields>(value).map((entry) => ({
      ...entry,
      ...(isFields(entry.headers) && { headers: hidden(entry.headers as Fields, headerExposesCredential) }),
    }));
  }
  if (key === 'computer' && isFields((value as Fields).env)) {
    return { ...(value as Fields), env: hidden((value as Fields).env as Fields, variableExposesCredential) };
  }
  if (key === 'tests') {
    return asList<Fields>(value).map(({ persona, ...test }) =>
      persona === undefined || persona === firstTimePersona ? test : { ...test, persona },
    );
  }
  return value;
}

const hidden = (lines: Fields, exposes: (name: string, value: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(lines).map(([name, value]) => [name, exposes(name, String(value)) ? '…' : value]));
