import { createHash } from 'node:crypto';
import { chmod, chown, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Identity } from '../sandbox/confine.ts';

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

/** Far above the accounts of people and services; each computer is an account of its own. */
const firstUid = 700_000;

/** Null where the server is not root, and so cannot be anybody else. */
export const accountOf = (number: number): Identity | null =>
  process.getuid?.() === 0 ? { uid: firstUid + number, gid: firstUid + number } : null;

/** Folders of a computer, made where they are missing. Nobody but its own account and the server reaches into them. */
export async function makePlace(dataDir: string, number: number): Promise<Place> {
  const folder = await folderOf(dataDir);
  const root = join(folder, String(number));
  const identity = accountOf(number);
  const place = { home: join(root, 'home'), browser: join(root, 'browser'), sockets: join(root, 'sockets'), identity };
  await mkdir(root, { recursive: true });
  for (const each of [place.home, place.browser, place.sockets]) {
    await mkdir(each, { recursive: true });
    if (identity) await chown(each, identity.uid, identity.gid);
    await chmod(each, 0o700);
  }
  // Its account must pass through the folders above, and see nothing of them.
  for (const each of [dirname(folder), folder]) await chmod(each, 0o711);
  await chmod(root, identity ? 0o711 : 0o700);
  return place;
}

export async function removePlace(dataDir: string, number: number): Promise<void> {
  const root = join(await folderOf(dataDir), String(number));
  await rm(root, { recursive: true, force: true }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    // A folder that its owner may not enter either: an agent can make such a one.
    await openFolders(root);
    await rm(root, { recursive: true, force: true });
  });
}

/** Where root may put what the accounts of computers have to reach. */
const reachable = '/var/lib/vestra';

/**
 * In the data folder. Where root keeps that in a folder that nobody else may enter, such as its own home, no account of
 * a computer would reach what is its own: then beside the other data of servers.
 */
async function folderOf(dataDir: string): Promise<string> {
  if (accountOf(0) === null || (await canBeEntered(dirname(dataDir)))) return join(dataDir, 'computers');
  const name = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(reachable, `data-${name}`, 'computers');
}

/** Whether others may pass through a folder and all above it. */
async function canBeEntered(folder: string): Promise<boolean> {
  const { mode } = await stat(folder);
  if ((mode & 0o001) === 0) return false;
  return dirname(folder) === folder || canBeEntered(dirname(folder));
}

async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}
