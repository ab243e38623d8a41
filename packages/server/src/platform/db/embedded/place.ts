import { createHash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { StartFailure } from '../start-failure.ts';
import { folderFailure } from './failure.ts';
import { chooseRunner, closedFolder, isRoot, type Runner } from './runner.ts';

/** `home` holds the folder `postgres` with the cluster: the data folder itself, unless its user cannot get there. */
type Place = { home: string; runner: Runner };

type Pointer = { home: string; has_cluster: boolean };

/** Where root may put what an unprivileged user has to reach; the second only where the first cannot be written. */
export const REACHABLE_FOLDERS = ['/var/lib/vestra', join(tmpdir(), 'vestra')];

/** Makes the data folder and gives its real path. Root lets others pass through it, since one of them runs PostgreSQL. */
export async function makeDataFolder(dataDir: string): Promise<string> {
  try {
    await makeFolder(dataDir, isRoot() ? PASSABLE : 0o700);
    return await realpath(dataDir);
  } catch (error) {
    throw folderFailure(error, dataDir);
  }
}

/** Decides where the cluster lies and who runs it; a decision for another place is kept in a pointer file. */
export async function choosePlace(options: {
  dataDir: string;
  reachableFolders: string[];
  log: (line: string) => void;
}): Promise<Place> {
  const { dataDir, reachableFolders, log } = options;
  const pointer = await readPointer(dataDir);
  if (pointer) return elsewhere(dataDir, pointer);

  const cluster = await stat(join(dataDir, 'postgres')).catch(() => undefined);
  const runner = await chooseRunner(cluster);
  const closed = await openUp(dataDir, await closedFolder(dataDir, runner), runner, log);
  if (!closed) return { home: dataDir, runner };
  if (cluster) {
    throw new StartFailure(
      `PostgreSQL runs as user id ${runner.uid}, which cannot enter ${closed}: let it pass with "chmod a+x ${closed}", or move ${dataDir}.`,
    );
  }
  const home = await makeHome(dataDir, reachableFolders, runner);
  await writePointer(dataDir, { home, has_cluster: false });
  const warning = home.startsWith(tmpdir())
    ? ' The system may clear that folder: set VESTRA_DATA_DIR to a safer one.'
    : '';
  log(`The database is kept in ${home}, because the user that runs PostgreSQL cannot enter ${closed}.${warning}`);
  for (const { home: left, dataDir: gone } of await leftBehind(dirname(home))) {
    log(`${left} holds the database of ${gone}, which no longer uses it: delete it if nobody needs it.`);
  }
  return { home, runner };
}

/**
 * A data folder of root's that is closed by its own mode alone gets the mode that a new one is made with: its secrets
 * are closed by their own modes, and a database elsewhere would outlive the folder unseen. Gives what stays closed.
 */
async function openUp(
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

/** Databases whose data folder is gone or has another one. Nothing is deleted: the folder may lie on a disk that is away. */
async function leftBehind(folder: string): Promise<{ home: string; dataDir: string }[]> {
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

/** From now on a missing cluster at the other place is a loss to report, no longer a first start. */
export async function confirmPlace(dataDir: string, place: Place): Promise<void> {
  if (place.home !== dataDir) await writePointer(dataDir, { home: place.home, has_cluster: true });
}

async function elsewhere(dataDir: string, pointer: Pointer): Promise<Place> {
  const cluster = await stat(join(pointer.home, 'postgres')).catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw folderFailure(error, pointer.home);
  });
  if (!cluster && pointer.has_cluster) {
    throw new StartFailure(
      `The database of ${dataDir} was kept in ${pointer.home} and is gone: restore it, or delete ${pointerFile(dataDir)} to begin with an empty one.`,
    );
  }
  await makeFolder(pointer.home, PASSABLE).catch((error) => {
    throw folderFailure(error, pointer.home);
  });
  return { home: pointer.home, runner: await chooseRunner(cluster) };
}

/** A folder of its own for each data folder ever made: one that was deleted and made anew must not find old rows. */
async function makeHome(dataDir: string, reachableFolders: string[], runner: Runner): Promise<string> {
  const name = `${createHash('sha256').update(dataDir).digest('hex').slice(0, 8)}-${randomBytes(4).toString('hex')}`;
  const home = join(await makeReachable(reachableFolders, runner), name);
  try {
    await makeFolder(home, PASSABLE);
    await writeFile(ownerFile(home), dataDir, { mode: 0o600 });
  } catch (error) {
    throw folderFailure(error, home);
  }
  return home;
}

/** The first of the folders that can be made, belongs to this user alone and lets the runner pass. */
export async function makeReachable(folders: string[], runner: Runner): Promise<string> {
  for (const folder of folders) {
    const made = await makeFolder(folder, PASSABLE).then(
      () => true,
      () => false,
    );
    if (made && (await isPrivateTo(folder, process.getuid?.())) && !(await closedFolder(folder, runner))) return folder;
  }
  throw new StartFailure(
    `The user that runs PostgreSQL can reach neither the data folder nor ${folders.join(' or ')}: set VESTRA_DATA_DIR to a folder it can enter, or set DATABASE_URL.`,
  );
}

/** Others may pass through and open what they know by name, without seeing what is there. */
const PASSABLE = 0o711;

/** The mode is set again, since a strict umask takes from it; that of a folder which exists is its owner's choice. */
async function makeFolder(path: string, mode: number): Promise<void> {
  const target = resolve(path);
  const first = await mkdir(target, { recursive: true, mode });
  for (let folder = target; first && folder.startsWith(first); folder = dirname(folder)) await chmod(folder, mode);
}

/** In a folder that everybody can write, such as /tmp, somebody else may have made the name first. */
export async function isPrivateTo(folder: string, uid: number | undefined): Promise<boolean> {
  const entry = await lstat(folder).catch(() => undefined);
  return entry?.isDirectory() === true && entry.uid === uid && (entry.mode & 0o022) === 0;
}

/** In the place of the cluster: whose it is. */
const ownerFile = (home: string): string => join(home, 'data-folder');

/** In the data folder: where its cluster is. */
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
  throw new StartFailure(`The file ${path}, which says where the database lies, cannot be read: restore it.`);
}

/** Written beside and renamed, so that a crash leaves the old pointer or the new one and never half of one. */
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
