import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartFailure } from '../start-failure.ts';
import { folderFailure } from './failure.ts';

export type Ownership = { release(): Promise<void> };

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/**
 * Makes this process the only one that starts, uses and stops PostgreSQL in `folder`.
 *
 * The lock is the operating system's own, which Node offers only by way of SQLite: it goes with the process however
 * that dies, so a lock is never stale and no process id, which another process may have got since, decides anything.
 * The id beside it is only for the message.
 */
export async function takeOwnership(folder: string): Promise<Ownership> {
  const lock = lockIn(folder);
  if (!lock) {
    const pid = await ownerOf(folder);
    throw new StartFailure(
      `The data folder ${folder} is in use by another Vestra server${pid ? ` (process ${pid})` : ''}: stop it, set VESTRA_DATA_DIR to another folder, or let both use one DATABASE_URL.`,
    );
  }
  await writeFile(ownerFile(folder), `${process.pid}\n`).catch((error) => {
    lock.close();
    throw folderFailure(error, folder);
  });
  return {
    release: async () => {
      await rm(ownerFile(folder), { force: true });
      lock.close();
    },
  };
}

function lockIn(folder: string): DatabaseSync | undefined {
  const path = join(folder, 'postgres.lock');
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // The journal is kept in memory, since nothing is ever written and the disk may be full.
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

/** The owner writes its id just after it has taken the lock. */
async function ownerOf(folder: string): Promise<number | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const pid = Number.parseInt(await readFile(ownerFile(folder), 'utf8').catch(() => ''), 10);
    if (pid > 0) return pid;
    await sleep(10);
  }
  return undefined;
}

const ownerFile = (folder: string): string => join(folder, 'postgres.owner');
