import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import { dropNoted, forgetUnused, noteUnused } from '../engine/files/index.ts';
import type { Database } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import type { Place } from './machine/computer-folder.ts';
import type { HomeArchive } from './machine/home-archive.ts';
import {
  allSaved,
  databaseTime,
  findSaved,
  forgetPreparedSince,
  forgetSaved,
  type Owner,
  recordSaved,
  type SavedHome,
  unknownNumbers,
} from './store.ts';

/** A computer that is awake in this process, and by which of those that have held it. */
type Awake = { owner: Owner; number: number; epoch: number; place: Place; signal: AbortSignal };

/** The homes of computers, saved to the file store, so that each can be woken on any machine. */
export type Homes = {
  /** Before a computer is used: brings the newest home here, unless it is here. */
  bring: (computer: Awake) => Promise<void>;
  /** Where anything has changed since it was last saved. Whoever lost the computer saves nothing. */
  save: (computer: Awake) => Promise<void>;
  /** Leaves nothing of what was saved. */
  remove: (owner: Owner) => Promise<void>;
};

type Dependencies = {
  db: Database;
  files: FileStore;
  archive: HomeArchive;
  log: Logger;
  /** How often one that is awake is saved. */
  everyMs: number;
};

/**
 * Files carry the time of the kernel's last tick, which lies up to 10 ms back. The mark must come after all that was
 * unpacked, and before the first thing that is written then, however soon that is: otherwise it would not be saved.
 */
const tickMs = 15;

/** Beyond this a store that is away is not asked again for each of the computers that want to sleep. */
const pauseMs = 30_000;

export function createHomes({ db, files, archive, log, everyMs }: Dependencies): Homes {
  const saving = new Map<number, Promise<void>>();
  const failed = new Map<number, number>();

  async function saveNow(computer: Awake): Promise<void> {
    const { owner, number, place } = computer;
    const before = await findSaved(db, computer);
    if (before === 'lost') return;
    const mark = await archive.readMark(place);
    if (before && mark?.name === before.name && !(await archive.hasChanged(place))) return;
    const savedAt = await databaseTime(db);
    // What changes while it is being packed, or in the same tick of the clock, is newer than the mark.
    const began = new Date(Date.now() - 1000);
    const name = `${randomBytes(16).toString('hex')}.home`;
    await noteUnused(db, owner.orgId, name);
    const kept = await files.put(owner.orgId, name, archive.pack(place));
    const isRecorded = await transaction(db, async (tx) => {
      if (!(await recordSaved(tx, computer, { name, ...kept, savedAt }))) return false;
      await forgetUnused(tx, owner.orgId, name);
      if (before) await noteUnused(tx, owner.orgId, before.name);
      return true;
    });
    if (isRecorded) await archive.writeMark(place, { name, epoch: computer.epoch }, began);
    // What it replaces stays until it is cleared away: a backup under way still reads what its rows name.
    else await dropNoted(db, files, { org_id: owner.orgId, name });
    failed.delete(number);
  }

  /** One at a time of each computer: two would pack the same, and one of them in vain. */
  function save(computer: Awake): Promise<void> {
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
      const { place, epoch } = computer;
      const saved = await findSaved(db, computer);
      if (saved === 'lost')
        throw fail('computer_unavailable', { message: 'Another process has this computer by now.' });
      if (saved === null) {
        // One that was used before homes were saved is as it is here; of a new one nothing is prepared.
        if (await archive.isEmpty(place)) await forgetPreparedSince(db, computer, new Date(0));
        await saveNow(computer);
      } else if (await isNewest(computer, saved.name)) {
        await archive.writeMark(place, { name: saved.name, epoch }, null);
      } else {
        await restore(computer, saved);
      }
      const timer = setInterval(() => void save(computer).catch(() => {}), everyMs);
      timer.unref();
      computer.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
    },
    save,
    async remove(owner) {
      const saved = await findSaved(db, { owner });
      if (saved !== null && saved !== 'lost') await files.remove(owner.orgId, saved.name);
    },
  };

  /** Whether nobody has had the computer since it was last awake on this machine, or what is here is what was saved. */
  async function isNewest({ place, epoch }: Awake, name: string): Promise<boolean> {
    const mark = await archive.readMark(place);
    if (mark?.name !== name) return false;
    return mark.epoch === epoch - 1 || !(await archive.hasChanged(place));
  }

  async function restore(computer: Awake, { name, sha256, savedAt }: SavedHome): Promise<void> {
    const { owner, place, epoch } = computer;
    const opened = await files.open(owner.orgId, name);
    if (!opened) {
      log.error({ computer: computer.number }, 'the saved home of a computer is not in the file store');
      throw fail('computer_unavailable', { message: 'The saved home of this computer is not in the file store.' });
    }
    // Whatever was prepared after it was saved is not in it, and is prepared again.
    await forgetPreparedSince(db, computer, savedAt);
    await archive.unpack(place, opened.chunks, sha256);
    const unpackedAt = Date.now();
    await pause(2 * tickMs);
    await archive.writeMark(place, { name, epoch }, new Date(unpackedAt + tickMs));
  }
}

/** A computer that was erased while it slept may have left a home on any machine where it was ever awake. */
export async function removeLeftPlaces(
  db: Database,
  places: { numbersHere: () => Promise<number[]>; removePlace: (number: number) => Promise<void> },
): Promise<void> {
  const numbers = await places.numbersHere();
  for (const number of await unknownNumbers(db, numbers)) await places.removePlace(number);
}

/**
 * After a restore: a home that was removed before the backup came to it, as that of a user who was erased meanwhile, is not
 * there and never will be. Its computer begins anew instead of staying unavailable. How many there were.
 */
export async function forgetLostHomes(db: Database, files: Pick<FileStore, 'has'>): Promise<number> {
  let lost = 0;
  for (const { org_id, saved_name } of await allSaved(db)) {
    if (await files.has(org_id, saved_name)) continue;
    await forgetSaved(db, org_id, saved_name);
    lost += 1;
  }
  return lost;
}

const notSaved = () => fail('not_ready', { message: 'The home of this computer could not be saved just now.' });
