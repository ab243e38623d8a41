import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, chmod, mkdir, readdir, readlink, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bareEnvironment, type Identity, isRoot } from '../../platform/sandbox/confine.ts';

const run = promisify(execFile);

/** The folders of a computer on this machine, and the account of its programs. */
export type ComputerFolders = {
  /** The user's files. Kept. */
  home: string;
  /** The profile of the user's browser. Kept. */
  browser: string;
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

/** Creates the missing folders of a computer. Only its account and the server can enter them. */
export async function makeComputerFolders(dataDir: string, number: number): Promise<ComputerFolders> {
  const folder = await computersFolder(dataDir);
  const root = join(folder, String(number));
  const identity = await accountOf(dataDir, number);
  const folders = {
    home: join(root, 'home'),
    browser: join(root, 'browser'),
    sockets: join(root, 'sockets'),
    identity,
  };
  await mkdir(root, { recursive: true });
  for (const each of [folders.home, folders.browser, folders.sockets]) {
    await mkdir(each, { recursive: true });
    if (identity) await give(each, identity);
    await close(each);
  }
  // The account must pass through the folders above without seeing their content.
  for (const each of [dirname(folder), folder]) await chmod(each, 0o711);
  await chmod(root, identity ? 0o711 : 0o700);
  return folders;
}

export async function removeComputerFolders(dataDir: string, number: number): Promise<void> {
  await removeFolder(join(await computersFolder(dataDir), String(number)));
}

/** Also removes folders that their owner may not enter: an agent can create such folders. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    await openFolders(folder);
    await rm(folder, { recursive: true, force: true });
  });
}

/** The computers whose folders are on this machine. */
export async function numbersHere(dataDir: string): Promise<number[]> {
  const names = await readdir(await computersFolder(dataDir)).catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Only if needed: setting the mode again would count as a change of the folder. */
async function close(folder: string): Promise<void> {
  if (((await stat(folder)).mode & 0o7777) !== 0o700) await chmod(folder, 0o700);
}

/** Where root can put folders that the accounts of computers can reach. */
const reachable = '/var/lib/vestra';

/**
 * In the data folder, unless root stores it where no other account may enter, such as its home. Then no computer could
 * reach its files, so they are in `/var/lib/vestra`.
 */
export async function computersFolder(dataDir: string): Promise<string> {
  if (!isRoot() || (await canBeEntered(dirname(dataDir)))) return join(dataDir, 'computers');
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(reachable, `data-${name}`, 'computers');
}

/** True if other accounts may pass through the folder and all folders above it. */
async function canBeEntered(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return dirname(folder) === folder || canBeEntered(dirname(folder));
}

/** Changes the owner of all files if the installation had another range of accounts before. */
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

/** Far above the accounts of people and services. Each computer has its own account. */
const firstUid = 700_000;
/** The number of computers per installation, and of installations per machine. */
const accountsEach = 10_000_000;
const maxInstallations = 200;

/** The register of all installations on this machine: links to their data folders, named by account range. */
const register = '/var/lib/vestra/accounts';
const lockMs = 10_000;

/**
 * The first account of an installation. Servers that share a data folder share accounts. Two installations must not, or
 * the computers of one could read those of the other.
 */
export async function claimAccounts(dataDir: string, folder = register): Promise<number> {
  const isWritable = await mkdir(folder, { recursive: true }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EROFS' || error.code === 'EACCES') return false;
      throw error;
    },
  );
  // A machine or container with a read-only system usually has one installation.
  if (!isWritable) return firstOf(0);
  return underLock(join(folder, 'lock'), async () => {
    const names = (await readdir(folder)).filter((name) => /^\d+$/.test(name));
    const claims = new Map(
      await Promise.all(names.map(async (name) => [Number(name), await readlink(join(folder, name))] as const)),
    );
    for (const [range, owner] of claims) if (owner === dataDir) return firstOf(range);
    for (let range = 0; range < maxInstallations; range++) {
      const owner = claims.get(range);
      if (owner !== undefined && (await isThere(owner))) continue;
      // The installation of this range is gone.
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
    // The lock is held for milliseconds, so the process that held it was killed.
    if (Date.now() - mtimeMs > lockMs) await rmdir(lock).then(...isDone('ENOENT'));
    await sleep(5);
  }
  try {
    return await work();
  } finally {
    await rmdir(lock).then(...isDone('ENOENT'));
  }
}

/** Turns an error with this code into false: another process was first. */
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
