import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const prefix = 'vestra-test-';
const memory = '/dev/shm';
const gib = 2 ** 30;

/** Each folder names its process, so that the next run can remove those of a run that was killed. */
export const makeDatabaseFolder = (): Promise<string> =>
  mkdtemp(join(hasMemory() ? memory : tmpdir(), `${prefix}${process.pid}-`));

/**
 * A cluster has 2,000 files, and tests copy and drop a database of 900 files hundreds of times. In memory this takes a tenth
 * of the CPU. Nothing in it has to survive the machine, and it is used only if there is plenty.
 */
function hasMemory(): boolean {
  if (!existsSync(memory)) return false;
  // Data folders have the computers of users in them, which run programs from there.
  if (/^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(readFileSync('/proc/mounts', 'utf8'))) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= 4 * gib && process.availableMemory() >= 8 * gib;
}

/** Where `makeDatabaseFolder` may have put folders. */
export const databaseFolderParents = (): string[] => [tmpdir(), memory].filter((folder) => existsSync(folder));

/** The process that made a folder with this name; null if it has another name. */
export function makerOf(name: string): number | null {
  const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
  return pid === undefined ? null : Number(pid);
}
