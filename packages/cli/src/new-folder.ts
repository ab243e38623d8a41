import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { refuse } from './fault.ts';

/** Files by their path in a folder. Text is written as UTF-8. */
export type FolderFiles = ReadonlyMap<string, string | Uint8Array>;

/** A command that creates a folder never mixes its files with others. */
export async function refuseExisting(target: string, cwd: string): Promise<void> {
  const shown = relative(cwd, target) || '.';
  const found = await stat(target).catch(() => null);
  if (!found) return;
  if (!found.isDirectory()) throw refuse(`${shown} is a file: name a new folder with --out.`);
  if ((await readdir(target)).length > 0) throw refuse(`${shown} already exists: name a new folder with --out.`);
}

/** Files are written beside their folder and then moved, so that a full disk leaves no half of a folder. */
export async function writeFolders(folders: readonly { target: string; files: FolderFiles }[]): Promise<void> {
  const draftOf = (target: string) => `${target}.writing-${process.pid}`;
  try {
    for (const { target, files } of folders) {
      for (const [path, content] of files) {
        const file = join(draftOf(target), path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content);
      }
    }
    for (const { target } of folders) await rename(draftOf(target), target);
  } catch (error) {
    for (const { target } of folders) await rm(draftOf(target), { recursive: true, force: true });
    throw refuse(`The folder cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}
