import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isSystemFile } from '@vestra/contract/skill-digest';
import type { Problem } from './problem.ts';
import { isMissing } from './service-file.ts';

/** What a path of the deployment file led to. */
export type Found = {
  kind: 'file' | 'folder';
  /** With every link followed. */
  path: string;
  /** As it is reached from the folder of the deployment file, with forward slashes. */
  shown: string;
};

/** `path` is below the folder that was listed, with forward slashes. */
export type Listed = { path: string; real: string };

/** What was looked for, or why it is not taken. */
export type Looked<Value> = { ok: true; value: Value } | { ok: false; message: string };

/** The most that a notebook holds; a folder with more was hardly meant. */
const mostFiles = 1000;

/** More than any file of a skill or any document may have. */
const largestFile = 10 * 1024 * 1024;

/**
 * The files below one folder, and none besides: not by `..`, not by an absolute path and not by a link. What begins with
 * a dot (`.git`, `.env`) and what was installed is never read, also where a link or the deployment file names it.
 */
export async function openFolder(folder: string) {
  const root = await realpath(folder);

  async function find(written: string): Promise<Looked<Found>> {
    if (isAbsolute(written)) return refused(`\`${written}\` is not below the folder: write a relative path.`);
    const target = resolve(folder, written);
    const below = relative(folder, target);
    if (below === '') return refused('Name a file or folder below this one, not this one itself.');
    if (isOutside(below))
      return refused(`\`${written}\` leads out of the folder: only what lies below it is uploaded.`);
    if (isIgnored(below)) return refused(`\`${written}\` is never read: it is a dot file, or was installed.`);
    return look(target, withSlashes(below));
  }

  async function look(target: string, shown: string): Promise<Looked<Found>> {
    try {
      const path = await realpath(target);
      const below = relative(root, path);
      if (isOutside(below)) return refused(`\`${shown}\` is a link that leads out of the folder: it is not uploaded.`);
      if (isIgnored(below)) return refused(`\`${shown}\` is a link to a file that is never read.`);
      const found = await stat(path);
      if (found.isFile()) return { ok: true, value: { kind: 'file', path, shown } };
      if (found.isDirectory()) return { ok: true, value: { kind: 'folder', path, shown } };
      return refused(`\`${shown}\` is neither a file nor a folder.`);
    } catch (error) {
      return refused(isMissing(error) ? `There is no \`${shown}\`.` : unreadable(shown, error));
    }
  }

  /** Every file below a folder, by path. */
  async function list(top: Found): Promise<Looked<Listed[]>> {
    const files: Listed[] = [];
    const fault = await collect(top, '', [], files).catch((error) => unreadable(top.shown, error));
    if (fault !== null) return refused(fault);
    return { ok: true, value: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }

  /** Answers what is wrong, or null. */
  async function collect(
    here: Found,
    prefix: string,
    above: readonly string[],
    into: Listed[],
  ): Promise<string | null> {
    if (above.includes(here.path)) return `\`${here.shown}\` is a link to a folder that it lies in.`;
    for (const { name } of await readdir(here.path, { withFileTypes: true })) {
      if (isIgnored(name)) continue;
      const shown = `${here.shown}/${name}`;
      const next = await look(join(here.path, name), shown);
      if (!next.ok) return next.message;
      const path = `${prefix}${name}`;
      if (next.value.kind === 'file') into.push({ path, real: next.value.path });
      if (into.length > mostFiles) return `\`${shown}\` is one file too many: at most ${mostFiles} are taken together.`;
      const fault =
        next.value.kind === 'folder' ? await collect(next.value, `${path}/`, [...above, here.path], into) : null;
      if (fault !== null) return fault;
    }
    return null;
  }

  async function read(real: string, shown: string): Promise<Looked<Uint8Array<ArrayBuffer>>> {
    try {
      const { size } = await stat(real);
      if (size > largestFile) return refused(`\`${shown}\` has ${size} bytes: at most ${largestFile} are taken.`);
      return { ok: true, value: new Uint8Array(await readFile(real)) };
    } catch (error) {
      return refused(unreadable(shown, error));
    }
  }

  return { find, list, read };
}

export type Folder = Awaited<ReturnType<typeof openFolder>>;

/** The value, or null after its problem has been noted. */
export function taken<Value>(looked: Looked<Value>, problems: Problem[], problem: (message: string) => Problem) {
  if (looked.ok) return looked.value;
  problems.push(problem(looked.message));
  return null;
}

/** Null where the bytes are no text. A byte order mark stays or goes as the decoder has it. */
export function textOf(bytes: Uint8Array, decoder: TextDecoder): string | null {
  try {
    const text = decoder.decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

const refused = (message: string): { ok: false; message: string } => ({ ok: false, message });

const isOutside = (below: string) => below === '..' || below.startsWith(`..${sep}`) || isAbsolute(below);

const isIgnored = (below: string) =>
  below.split(sep).some((name) => name.startsWith('.') || name === 'node_modules' || isSystemFile(name));

const withSlashes = (path: string) => path.split(sep).join('/');

const unreadable = (shown: string, error: unknown) => `\`${shown}\` cannot be read: ${(error as Error).message}.`;
