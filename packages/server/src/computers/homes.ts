import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { markContentUnused, removeUnusedContent, unmarkContent } from '../engine/files/index.ts';
import type { Database } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import { type ComputerFolders, makeComputerFolders, removeComputerFolders } from './machine/computer-folder.ts';
import { createHomeArchive, type HomeArchive } from './machine/home-archive.ts';
import {
  databaseTime,
  findSavedHome,
  forgetPreparedSince,
  forgetSavedHome,
  listSavedHomes,
  type Owner,
  recordSavedHome,
  type SavedHome,
  unknownNumbers,
} from './store.ts';

/** A computer that is awake in this process, with the epoch of its hold. */
type HeldComputer = { owner: Owner; number: number; epoch: number; folders: ComputerFolders; signal: AbortSignal };

/** Saves the homes of computers to the file store, so that each computer can wake on any machine. */
export type Homes = {
  /** Before use: restores the newest home unless this machine already has it. */
  bring: (computer: HeldComputer) => Promise<void>;
  /** Saves the home if it changed. A process that lost the computer saves nothing. */
  save: (computer: HeldComputer) => Promise<void>;
  /** Deletes the saved home. */
  remove: (owner: Owner) => Promise<void>;
};

type Dependencies = {
  db: Database;
  files: FileStore;
  archive: HomeArchive;
  log: Logger;
  /** How often a running computer is saved. */
  everyMs: number;
};

/**
 * File times lag up to 10 ms behind the clock. The mark must be later than every unpacked file and earlier than the
 * first new write. Otherwise that write would not be saved.
 */
const tickMs = 15;

/** After a failure the store is not tried again for this long, however many computers want to sleep. */
const pauseMs = 30_000;

export function createHomes({ db, files, archive, log, everyMs }: Dependencies): Homes {
  const saving = new Map<number, Promise<void>>();
  const failed = new Map<number, number>();

  async function saveNow(computer: HeldComputer): Promise<void> {
    const { owner, number, folders } = computer;
    const before = await findSavedHome(db, computer);
    if (before === 'lost') return;
    const mark = await archive.readMark(folders);
    if (before && mark?.name === before.name && !(await archive.hasChanged(folders))) return;
    const savedAt = await databaseTime(db);
    // Earlier by a second, so that a change during packing is newer than the mark.
    const began = new Date(Date.now() - 1000);
    const name = `${randomBytes(16).toString('hex')}.home`;
    await markContentUnused(db, owner.orgId, name);
    const kept = await files.put(owner.orgId, name, archive.pack(folders));
    const isRecorded = await transaction(db, async (tx) => {
      if (!(await recordSavedHome(tx, computer, { name, ...kept, savedAt }))) return false;
      await unmarkContent(tx, owner.orgId, name);
      if (before) await markContentUnused(tx, owner.orgId, before.name);
      return true;
    });
    if (isRecorded) await archive.writeMark(folders, { name, epoch: computer.epoch }, began);
    // The replaced home stays until the clean-up job removes it: a running backup may still read it.
    else await removeUnusedContent(db, files, { org_id: owner.orgId, name });
    failed.delete(number);
  }

  /** One save at a time per computer: a second one would pack the same files. */
  function save(computer: HeldComputer): Promise<void> {
    const { number } = computer;
    const running = saving.get(number);
    if (running) return running;
    if (performance.now() < (failed.get(number) ?? Number.NEGATIVE_INFINITY) + pauseMs)
      return Promise.reject(notSaved());
    const saved = saveNow(computer)
      .catch((error: unknown) => {
        failed.set(number, performance.now());
        log.warn({ err: error, computer: number }, 'the home of a computer could not be saved; trying again');
        throw error;
      })
      .finally(() => saving.delete(number));
    saving.set(number, saved);
    return saved;
  }

  return {
    async bring(computer) {
      const { folders, epoch } = computer;
      const saved = await findSavedHome(db, computer);
      if (saved === 'lost')
        throw fail('computer_unavailable', { message: 'Another process has this computer by now.' });
      if (saved === null) {
        // A home older than this feature is kept as it is. A new computer has nothing prepared.
        if (await archive.isEmpty(folders)) await forgetPreparedSince(db, computer, new Date(0));
        await saveNow(computer);
      } else if (await isNewest(computer, saved.name)) {
        await archive.writeMark(folders, { name: saved.name, epoch }, null);
      } else {
        await restore(computer, saved);
      }
      const timer = setInterval(() => void save(computer).catch(() => {}), everyMs);
      timer.unref();
      computer.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
    save,
    async remove(owner) {
      const saved = await findSavedHome(db, { owner });
      if (saved !== null && saved !== 'lost') await files.remove(owner.orgId, saved.name);
    },
  };

  /** True if no other process has had the computer since, or if nothing here changed since the save. */
  async function isNewest({ folders, epoch }: HeldComputer, name: string): Promise<boolean> {
    const mark = await archive.readMark(folders);
    if (mark?.name !== name) return false;
    return mark.epoch === epoch - 1 || !(await archive.hasChanged(folders));
  }

  async function restore(computer: HeldComputer, { name, sha256, savedAt }: SavedHome): Promise<void> {
    const { owner, folders, epoch } = computer;
    const opened = await files.open(owner.orgId, name);
    if (!opened) {
      log.error({ computer: computer.number }, 'the saved home of a computer is not in the file store');
      throw fail('computer_unavailable', { message: 'The saved home of this computer is not in the file store.' });
    }
    // Items prepared after the save are not in it and must be prepared again.
    await forgetPreparedSince(db, computer, savedAt);
    await archive.unpack(folders, opened.chunks, sha256);
    const unpackedAt = Date.now();
    await pause(2 * tickMs);
    await archive.writeMark(folders, { name, epoch }, new Date(unpackedAt + tickMs));
  }
}

/** A computer erased while asleep may have left its home on every machine where it was awake. */
export async function removeLeftFolders(
  db: Database,
  computerFolders: { numbersHere: () => Promise<number[]>; removeFolders: (number: number) => Promise<void> },
): Promise<void> {
  const numbers = await computerFolders.numbersHere();
  for (const number of await unknownNumbers(db, numbers)) await computerFolders.removeFolders(number);
}

/**
 * After a restore: a home deleted before the backup reached it, such as that of an erased user, no longer exists. Its
 * computer then starts empty instead of staying unavailable. Returns the number of lost homes.
 */
export async function forgetLostHomes(db: Database, files: Pick<FileStore, 'has'>): Promise<number> {
  let lost = 0;
  for (const { org_id, saved_name } of await listSavedHomes(db)) {
    if (await files.has(org_id, saved_name)) continue;
    await forgetSavedHome(db, org_id, saved_name);
    lost += 1;
  }
  return lost;
}

const notSaved = () => fail('not_ready', { message: 'The home of this computer could not be saved just now.' });

/** The home of a computer that sleeps on this machine, in the form in which homes are saved. */
export async function packHome(dataDir: string, number: number): Promise<AsyncIterable<Uint8Array>> {
  return createHomeArchive().pack(await makeComputerFolders(dataDir, number));
}

/** Fills the home of a computer that has never run on this machine. */
export async function unpackHome(
  dataDir: string,
  number: number,
  content: AsyncIterable<Uint8Array>,
  sha256: string,
): Promise<void> {
  try {
    await createHomeArchive().unpack(await makeComputerFolders(dataDir, number), content, sha256);
  } catch (error) {
    await removeComputerFolders(dataDir, number);
    throw error;
  }
}
