import { access, mkdir, readdir, readlink, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Far above the accounts of people and services; each computer is an account of its own. */
const firstUid = 700_000;
/** How many computers one installation can have, and how many installations one machine. */
const accountsEach = 10_000_000;
const mostInstallations = 200;

/** Where the installations of a machine see each other: links to their data folders, named by the range they have. */
const register = '/var/lib/vestra/accounts';
const lockMs = 10_000;

/**
 * The first account of an installation. Two servers with one data folder have the same accounts; two installations
 * never have, or the computers of one could reach into those of the other.
 */
export async function claimAccounts(dataDir: string, folder = register): Promise<number> {
  const isWritable = await mkdir(folder, { recursive: true }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EROFS' || error.code === 'EACCES') return false;
      throw error;
    },
  );
  // A machine, or a container, whose system cannot be changed serves one installation as a rule.
  if (!isWritable) return firstOf(0);
  return underLock(join(folder, 'lock'), async () => {
    const names = (await readdir(folder)).filter((name) => /^\d+$/.test(name));
    const claims = new Map(
      await Promise.all(names.map(async (name) => [Number(name), await readlink(join(folder, name))] as const)),
    );
    for (const [range, owner] of claims) if (owner === dataDir) return firstOf(range);
    for (let range = 0; range < mostInstallations; range++) {
      const owner = claims.get(range);
      if (owner !== undefined && (await isThere(owner))) continue;
      // What belonged to an installation that is gone.
      await rm(join(folder, String(range)), { force: true });
      await symlink(dataDir, join(folder, String(range)));
      return firstOf(range);
    }
    throw new Error(`Every range of accounts in ${folder} belongs to an installation. Remove those that are not used.`);
  });
}

const firstOf = (range: number) => firstUid + range * accountsEach;

async function underLock<T>(lock: string, work: () => Promise<T>): Promise<T> {
  while (!(await mkdir(lock).then(...isDone('EEXIST')))) {
    const { mtimeMs } = await stat(lock).catch(() => ({ mtimeMs: Date.now() }));
    // Whoever held it was killed: it is held for milliseconds.
    if (Date.now() - mtimeMs > lockMs) await rmdir(lock).then(...isDone('ENOENT'));
    await sleep(5);
  }
  try {
    return await work();
  } finally {
    await rmdir(lock).then(...isDone('ENOENT'));
  }
}

/** True where it went well, false where somebody else was first. */
const isDone = (code: string) =>
  [
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === code) return false;
      throw error;
    },
  ] as const;

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
