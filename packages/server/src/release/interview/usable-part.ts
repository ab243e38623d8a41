import { isDeepStrictEqual } from 'node:util';
import type { FileFault, InterviewFile } from './ports.ts';

/**
 * The file without what its faults name: an entry of a list where they are about one, otherwise the whole key. Null where
 * nothing would be left of it.
 */
export function withoutFaulty(file: InterviewFile, faults: readonly FileFault[]): InterviewFile | null {
  const faulty = new Map<string, Set<number> | 'whole'>();
  for (const { param } of faults) {
    const [key = '', index = ''] = param.split('.');
    const known = faulty.get(key) ?? new Set<number>();
    const isEntry = Array.isArray(file[key]) && /^\d+$/.test(index);
    faulty.set(key, isEntry && known !== 'whole' ? known.add(Number(index)) : 'whole');
  }
  if (faulty.has('') || faulty.has('name')) return null;
  const left = Object.entries(file).flatMap(([key, value]) => {
    const which = faulty.get(key);
    if (which === 'whole') return [];
    return [[key, which ? (value as unknown[]).filter((_, at) => !which.has(at)) : value]];
  });
  const rest = { ...Object.fromEntries(left), name: file.name };
  return saysNothing(rest) ? null : rest;
}

/** What was kept, and what the model has written since: of two entries of a list with one name the newer counts. */
export function mergedFile(kept: InterviewFile | null, given: InterviewFile): InterviewFile {
  if (!kept) return given;
  const lists = Object.entries(given).flatMap(([key, value]) => {
    const before = kept[key];
    return Array.isArray(value) && Array.isArray(before) ? [[key, mergedList(before, value)]] : [];
  });
  return { ...kept, ...given, ...Object.fromEntries(lists) };
}

const mergedList = (before: readonly unknown[], given: readonly unknown[]) => [
  ...before.filter((old) => !given.some((entry) => isSame(old, entry))),
  ...given,
];

function isSame(one: unknown, other: unknown): boolean {
  const name = nameOf(one);
  return name === undefined ? isDeepStrictEqual(one, other) : name === nameOf(other);
}

function nameOf(entry: unknown): unknown {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { function: called, mcp, name } = entry as Record<string, unknown>;
  return called ?? mcp ?? name;
}

/** A name alone is no agent. */
export const saysNothing = ({ name: _, ...rest }: InterviewFile) =>
  Object.values(rest).every((value) => value === '' || (Array.isArray(value) && value.length === 0));
