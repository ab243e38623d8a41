import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chmod, mkdir, readdir, readlink, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bareEnvironment, type Identity, isRoot } from '../../platform/sandbox/confine.ts';

const run = promisify(execFile);

/** Where a computer lies on this machine, and who its programs are. */
export type Place = {
  /** What stays: the user's own files. */
  home: string;
  /** What stays: the profile of the user's browser. */
  browser: string;
  /** Sockets. */
  sockets: string;
  identity: Identity | null;
};

const claimed = new Map<string, Promise<number>>();

async function accountOf(dataDir: string, number: number): Promise<Identity | null> {
  if (!isRoot()) return null;
  const claim = claimed.get(dataDir) ?? claimAccounts(dataDir);
  claimed.set(dataDir, claim);
  claim.catch(() => claimed.delete(dataDir));
  const uid = (await claim) + number;
  return { uid, gid: uid };
}

/** Folders of a computer, made where they are missing. Nobody but its own account and the server reaches into them. */
export async function makePlace(dataDir: string, number: number): Promise<Place> {
  const folder = await computersFolder(dataDir);
  const root = join(folder, String(number));
  const identity = await accountOf(dataDir, number);
  const place = { home: join(root, 'home'), browser: join(root, 'browser'), sockets: join(root, 'sockets'), identity };
  await mkdir(root, { recursive: true });
  for (const each of [place.home, place.browser, place.sockets]) {
    await mkdir(each, { recursive: true });
    if (identity) await give(each, identity);
    await close(each);
  }
  // Its account must pass through the folders above, and see nothing of them.
  for (const each of [dirname(folder), folder]) await chmod(each, 0o711);
  await chmod(root, identity ? 0o711 : 0o700);
  return place;
}

export async function removePlace(dataDir: string, number: number): Promise<void> {
  await removeFolder(join(await computersFolder(dataDir), String(number)));
}

/** With what its owner may not enter either: an agent can make such folders. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    await openFolders(folder);
    await rm(folder, { recursive: true, force: true });
  });
}

/** The numbers of computers whose folders lie on this machine. */
export async function numbersHere(dataDir: string): Promise<number[]> {
  const names = await readdir(await computersFolder(dataDir)).catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Only where it is open: whatever is set again counts as a change of the folder. */
async function close(folder: string): Promise<void> {
  if (((await stat(folder)).mode & 0o7777) !== 0o700) await chmod(folder, 0o700);
}

/** Where root may put what the accounts of computers have to reach. */
const reachable = '/var/lib/vestra';

/**
 * In the data folder. Where root keeps that in a folder that nobody else may enter, such as its own home, no account of
 * a computer would reach what is its own: then beside the other data of servers.
 */
export async function computersFolder(dataDir: string): Promise<string> {
  if (!isRoot() || (await canBeEntered(dirname(dataDir)))) return join(dataDir, 'computers');
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(reachable, `data-${name}`, 'computers');
}

/** Whether others may pass through a folder and all above it. */
async function canBeEntered(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return dirname(folder) === folder || canBeEntered(dirname(folder));
}

/** With all that is in it, where it was another account's: this installation had other accounts then. */
async function give(folder: string, { uid, gid }: Identity): Promise<void> {
  const { uid: owner } = await stat(folder);
  if (owner === uid) return;
  await run('chown', ['-R', '-h', '--', `${uid}:${gid}`, folder], { cwd: '/', env: bareEnvironment });
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}

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
