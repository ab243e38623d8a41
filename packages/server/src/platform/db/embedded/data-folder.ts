import { createHash, randomBytes } from 'node:crypto';
import { chmod, chown, lstat, mkdir, readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../../files/make-folder.ts';
import { StartFailure } from '../start-failure.ts';
import { folderFailure } from './failure.ts';
import { chooseRunner, closedFolder, isRoot, type Runner } from './runner.ts';

/** `home` contains the cluster in `postgres`. It is the data folder, unless the runner cannot enter that. */
type ClusterLocation = { home: string; runner: Runner };

type Pointer = { home: string; has_cluster: boolean };

/** Folders for a cluster that the runner must reach, in order of preference. */
export const REACHABLE_FOLDERS = ['/var/lib/vestra', join(tmpdir(), 'vestra')];

/** Creates the data folder and returns its real path. Root makes it passable, because another user runs PostgreSQL. */
export async function createDataFolder(dataDir: string): Promise<string> {
  try {
    await createFolder(dataDir, isRoot() ? PASSABLE : 0o700);
    return await realpath(dataDir);
  } catch (error) {
    throw folderFailure(error, dataDir);
  }
}

/** Decides where the cluster is stored and who runs it. A location outside the data folder is saved in a pointer file. */
export async function chooseLocation(options: {
  dataDir: string;
  reachableFolders: string[];
  log: (line: string) => void;
}): Promise<ClusterLocation> {
  const { dataDir, reachableFolders, log } = options;
  const pointer = await readPointer(dataDir);
  if (pointer) return followPointer(dataDir, pointer);

  const cluster = await stat(join(dataDir, 'postgres')).catch(() => undefined);
  const runner = await chooseRunner(cluster);
  const closed = await makePassable(dataDir, await closedFolder(dataDir, runner), runner, log);
  if (!closed) return { home: dataDir, runner };
  if (cluster) {
    throw new StartFailure(
      `PostgreSQL runs as user id ${runner.uid}, which cannot enter ${closed}: let it pass with "chmod a+x ${closed}", or move ${dataDir}.`,
    );
  }
  const home = await createHome(dataDir, reachableFolders, runner);
  await writePointer(dataDir, { home, has_cluster: false });
  const warning = home.startsWith(tmpdir())
    ? ' The system may clear that folder: set VESTRA_DATA_DIR to a safer one.'
    : '';
  log(`The database is stored in ${home}, because the user that runs PostgreSQL cannot enter ${closed}.${warning}`);
  for (const { home: left, dataDir: gone } of await findAbandoned(dirname(home))) {
    log(`${left} holds the database of ${gone}, which no longer uses it: delete it if nobody needs it.`);
  }
  return { home, runner };
}

/**
 * Makes root's data folder passable if only its own mode blocks the runner. Its secrets have their own modes, and a database
 * elsewhere would outlive the folder unnoticed. Returns the folder that still blocks the runner.
 */
async function makePassable(
  dataDir: string,
  closed: string | undefined,
  runner: Runner,
  log: (line: string) => void,
): Promise<string | undefined> {
  if (closed !== dataDir || !(await isPrivateTo(dataDir, process.getuid?.()))) return closed;
  await chmod(dataDir, PASSABLE);
  log(`Others may pass through ${dataDir} from now on (mode 711), so that the user that runs PostgreSQL gets there.`);
  return closedFolder(dataDir, runner);
}

/** Databases whose data folder is gone or uses another one. Nothing is deleted: the folder may be on an unmounted disk. */
async function findAbandoned(folder: string): Promise<{ home: string; dataDir: string }[]> {
  const found: { home: string; dataDir: string }[] = [];
  for (const name of await readdir(folder)) {
    const home = join(folder, name);
    const dataDir = await readFile(ownerFile(home), 'utf8').catch(() => undefined);
    if (dataDir === undefined) continue;
    const pointer = await readPointer(dataDir).catch(() => undefined);
    if (pointer?.home !== home) found.push({ home, dataDir });
  }
  return found;
}

/** Records that the cluster exists. If it is missing later, that is a loss and not a first start. */
export async function confirmLocation(dataDir: string, place: ClusterLocation): Promise<void> {
  if (place.home !== dataDir) await writePointer(dataDir, { home: place.home, has_cluster: true });
}

async function followPointer(dataDir: string, pointer: Pointer): Promise<ClusterLocation> {
  const cluster = await stat(join(pointer.home, 'postgres')).catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw folderFailure(error, pointer.home);
  });
  if (!cluster && pointer.has_cluster) {
    throw new StartFailure(
      `The database of ${dataDir} was stored in ${pointer.home} and is gone: restore it, or delete ${pointerFile(dataDir)} to begin with an empty one.`,
    );
  }
  await createFolder(pointer.home, PASSABLE).catch((error) => {
    throw folderFailure(error, pointer.home);
  });
  return { home: pointer.home, runner: await chooseRunner(cluster) };
}

/** Each data folder gets a unique home: one that was deleted and created again must not find old rows. */
async function createHome(dataDir: string, reachableFolders: string[], runner: Runner): Promise<string> {
  const name = `${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}-${randomBytes(4).toString('hex')}`;
  const home = join(await createReachableFolder(reachableFolders, runner), name);
  try {
    await createFolder(home, PASSABLE);
    await writeFile(ownerFile(home), dataDir, { mode: 0o600 });
  } catch (error) {
    throw folderFailure(error, home);
  }
  return home;
}

/** Returns the first folder that can be created, belongs to this user only and lets the runner pass. */
export async function createReachableFolder(folders: string[], runner: Runner): Promise<string> {
  for (const folder of folders) {
    const made = await createFolder(folder, PASSABLE).then(
      () => true,
      () => false,
    );
    if (made && (await isPrivateTo(folder, process.getuid?.())) && !(await closedFolder(folder, runner))) return folder;
  }
  throw new StartFailure(
    `The user that runs PostgreSQL can reach neither the data folder nor ${folders.join(' or ')}: set VESTRA_DATA_DIR to a folder it can enter, or set DATABASE_URL.`,
  );
}

/** Others may pass through, but cannot list the folder. */
const PASSABLE = 0o711;

/** Sets the mode again, because a strict umask reduces it. An existing folder keeps its mode. */
async function createFolder(path: string, mode: number): Promise<void> {
  for (const folder of await makeFolder(path, mode)) await chmod(folder, mode);
}

/** In a world-writable folder such as /tmp, another user may have created the name first. */
async function isPrivateTo(folder: string, uid: number | undefined): Promise<boolean> {
  const entry = await lstat(folder).catch(() => undefined);
  return entry?.isDirectory() === true && entry.uid === uid && (entry.mode & 0o022) === 0;
}

/** A file in `home` with the path of its data folder. */
const ownerFile = (home: string): string => join(home, 'data-folder');

/** A file in the data folder with the location of its cluster. */
const pointerFile = (dataDir: string): string => join(dataDir, 'postgres-location.json');

async function readPointer(dataDir: string): Promise<Pointer | undefined> {
  const path = pointerFile(dataDir);
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw folderFailure(error, dataDir);
  });
  if (text === undefined) return undefined;
  try {
    const pointer = JSON.parse(text) as Pointer;
    if (typeof pointer.home === 'string' && typeof pointer.has_cluster === 'boolean') return pointer;
  } catch {}
  throw new StartFailure(`The file ${path}, which contains the location of the database, cannot be read: restore it.`);
}

/** Writes a temporary file and renames it, so that a crash leaves the old or the new pointer. */
async function writePointer(dataDir: string, pointer: Pointer): Promise<void> {
  const path = pointerFile(dataDir);
  const next = join(dirname(path), `.${basename(path)}.new`);
  try {
    await writeFile(next, `${JSON.stringify(pointer, null, 2)}\n`, { mode: 0o600, flush: true });
    await rename(next, path);
  } catch (error) {
    throw folderFailure(error, dataDir);
  }
}

export type Ownership = { release(): Promise<void> };

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/**
 * Makes this process the only one that starts, uses and stops PostgreSQL in `folder`.
 *
 * Uses a file lock of the operating system, which Node offers only through SQLite. It ends with the process, so it is never
 * stale and needs no process id, which could belong to another program. The stored id is only for the message.
 */
export async function takeOwnership(folder: string): Promise<Ownership> {
  const lock = tryLock(folder);
  if (!lock) {
    const pid = await ownerOf(folder);
    throw new StartFailure(
      `The data folder ${folder} is in use by another Vestra server${pid ? ` (process ${pid})` : ''}: stop it, set VESTRA_DATA_DIR to another folder, or let both use one DATABASE_URL.`,
    );
  }
  await writeFile(ownerIdFile(folder), `${process.pid}\n`).catch((error) => {
    lock.close();
    throw folderFailure(error, folder);
  });
  return {
    release: async () => {
      await rm(ownerIdFile(folder), { force: true });
      lock.close();
    },
  };
}

function tryLock(folder: string): DatabaseSync | undefined {
  const path = join(folder, 'postgres.lock');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Keep the journal in memory: nothing is written, and the disk may be full.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    if (database?.isOpen) database.close();
    const { errcode } = error as { errcode?: number };
    if (errcode === SQLITE_BUSY) return undefined;
    if (errcode === SQLITE_FULL) throw folderFailure({ code: 'ENOSPC', path }, folder);
    if (errcode === SQLITE_CANTOPEN) throw folderFailure({ code: 'EACCES', path }, folder);
    throw new StartFailure(
      `The file ${path} cannot be locked (${(error as Error).message}): set VESTRA_DATA_DIR to a folder on a local disk.`,
      { cause: error },
    );
  }
}

/** Retries, because the owner writes its id just after it has taken the lock. */
async function ownerOf(folder: string): Promise<number | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const pid = Number.parseInt(await readFile(ownerIdFile(folder), 'utf8').catch(() => ''), 10);
    if (pid > 0) return pid;
    await sleep(10);
  }
  return undefined;
}

const ownerIdFile = (folder: string): string => join(folder, 'postgres.owner');

const SOCKET_FILE = '.s.PGSQL.5432';

/** The limit of the operating system: 108 bytes on Linux and 104 on macOS, including the terminating zero. */
const MAX_SOCKET_PATH = process.platform === 'darwin' ? 103 : 107;

/** Returns the folder of the cluster, or a short one in the temporary folder if the path would be too long. */
export async function chooseSocketFolder(cluster: string, runner: Runner): Promise<string> {
  if (canHoldSocket(cluster)) return cluster;
  const name = `vestra-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`;
  for (const parent of [tmpdir(), '/tmp']) {
    const folder = join(parent, name);
    if (!canHoldSocket(folder) || (await closedFolder(parent, runner).catch(() => parent))) continue;
    await mkdir(folder, { mode: 0o700 }).then(
      () => (runner.isLent ? chown(folder, runner.uid, runner.gid) : undefined),
      () => undefined,
    );
    if (await isPrivateTo(folder, runner.uid)) return folder;
  }
  throw new StartFailure(
    `The path ${cluster} is too long for a socket, and no folder for it can be created in ${tmpdir()}: set VESTRA_DATA_DIR to a shorter path.`,
  );
}

/** Quotes and control characters cannot be written in the setting for the socket folder. */
function canHoldSocket(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET_FILE)) <= MAX_SOCKET_PATH && !/["\\\p{Cc}]/u.test(folder);
}
