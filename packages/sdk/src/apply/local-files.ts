import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { isSystemFile } from '@vestra/contract/skill-digest';
import type { Problem } from './problem.ts';
import { isMissing } from './service-file.ts';

/** The target of a path in the deployment file. */
export type LocalPath = {
  kind: 'file' | 'folder';
  /** With all links resolved. */
  path: string;
  /** Relative to the folder of the deployment file, with forward slashes. */
  shown: string;
};

/** `path` is relative to the listed folder, with forward slashes. */
export type ListedFile = { path: string; real: string };

/** The value, or the reason why it is rejected. */
export type Lookup<Value> = { ok: true; value: Value } | { ok: false; message: string };

/** The maximum of a notebook. A larger folder is probably a mistake. */
const mostFiles = 1000;

/** Larger than any file of a skill or document may be. */
const largestFile = 10 * 1024 * 1024;

/**
 * Gives access only to files below one folder: not through `..`, an absolute path or a link. Files that begin with a
 * dot (`.git`, `.env`) and installed packages are never read, not even by name or link.
 */
export async function openFolder(folder: string) {
  const root = await realpath(folder);

  async function find(written: string): Promise<Lookup<LocalPath>> {
    if (isAbsolute(written)) return refused(`\`${written}\` is not below the folder: write a relative path.`);
    const target = resolve(folder, written);
    const below = relative(folder, target);
    if (below === '') return refused('Name a file or folder below this one, not this one itself.');
    if (isOutside(below)) return refused(`\`${written}\` is outside the folder. Only files below it are uploaded.`);
    if (isIgnored(below)) return refused(`\`${written}\` is never read: it is a dot file, or was installed.`);
    return look(target, withSlashes(below));
  }

  async function look(target: string, shown: string): Promise<Lookup<LocalPath>> {
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
      return refused(
        isMissing(error) ? `There is no \`${shown}\`. Correct the path, or add the file.` : unreadable(shown, error),
      );
    }
  }

  /** Lists every file below a folder, by path. */
  async function list(top: LocalPath): Promise<Lookup<ListedFile[]>> {
    const files: ListedFile[] = [];
    const fault = await collect(top, '', [], files).catch((error) => unreadable(top.shown, error));
    if (fault !== null) return refused(fault);
    return { ok: true, value: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }

  /** Returns the fault, or null. */
  async function collect(
    here: LocalPath,
    prefix: string,
    above: readonly string[],
    into: ListedFile[],
  ): Promise<string | null> {
    if (above.includes(here.path)) return `\`${here.shown}\` is a link to one of its parent folders.`;
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

  async function read(real: string, shown: string): Promise<Lookup<Uint8Array<ArrayBuffer>>> {
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

/** Returns the value, or null after adding its problem. */
export function taken<Value>(looked: Lookup<Value>, problems: Problem[], problem: (message: string) => Problem) {
  if (looked.ok) return looked.value;
  problems.push(problem(looked.message));
  return null;
}

/** Null if the bytes are not text. The decoder decides about a byte order mark. */
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
