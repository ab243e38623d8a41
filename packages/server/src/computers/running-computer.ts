import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Database } from '../platform/db/pool.ts';
import type { ProcessNews } from '../platform/db/process-news.ts';
import { findUser } from '../users/index.ts';
import type { Homes } from './homes.ts';
import type { Place } from './machine/computer-folder.ts';
import {
  deleteComputer,
  findComputer,
  findHolder,
  holdComputer,
  type Owner,
  releaseHold,
  renewHolds,
  seizeComputer,
  unknownNumbers,
} from './store.ts';

/** A computer that is awake in this process. */
export type Awake = {
  owner: Owner;
  number: number;
  /** Which of those that have held it this is: what is written about it is refused once another has it. */
  epoch: number;
  place: Place;
  /** Ends when the computer is no longer this process's: whatever runs on it stops. */
  signal: AbortSignal;
};

/** Thrown where a computer is awake in another process: the work is to be done there, and nothing of it has happened. */
export class HeldElsewhere extends Error {}

/** The computers that are awake in this process. */
export type Computers = {
  /** The name under which this process holds computers. */
  self: string;
  /**
   * Runs `work` on the owner's computer, woken where it sleeps; throws `HeldElsewhere` where it is awake in another
   * process. It stays awake for as long as anybody uses it, and a while longer.
   */
  use: <T>(owner: Owner, work: (computer: Awake) => Promise<T>) => Promise<T>;
  /** Only where it is awake here; wakes nothing. */
  ifAwake: (owner: Owner) => Awake | null;
  countAwake: () => number;
  /** Stays awake at least until then, used or not. */
  keepUntil: (owner: Owner, until: Date) => void;
  /** What is to be ended before a computer sleeps, such as its browser. */
  beforeSleep: (end: (computer: Awake) => Promise<void>) => void;
  /** Puts one to sleep now; whatever runs on it ends. */
  sleep: (owner: Owner) => Promise<void>;
  /** Ends whatever runs on it, wherever it is awake, and leaves nothing of it. */
  erase: (owner: Owner) => Promise<void>;
  stop: () => Promise<void>;
};

type Settings = { leaseMs: number; renewEveryMs: number; idleMs: number; handOverMs: number };

/** `handOverMs`: above the lease, so that a computer whose process died is taken over and not given up. */
const defaults: Settings = { leaseMs: 15_000, renewEveryMs: 4_000, idleMs: 300_000, handOverMs: 60_000 };
const askAgainMs = 200;

type Entry = {
  ready: Promise<Awake>;
  awake: Awake | null;
  controller: AbortController;
  users: number;
  idleSince: number;
  keepUntil: number;
  /** Until when nobody else can hold it, by a clock that nobody sets: one that jumps would end all computers, or none. */
  hold: { goodUntil: number };
};

export function createComputers(options: {
  db: Database;
  log: Logger;
  makePlace: (number: number) => Promise<Place>;
  removePlace?: (number: number) => Promise<void>;
  /** Absent: all processes see the same folders. */
  homes?: Homes | undefined;
  /** Where other processes reach this one; null: not yet. */
  address?: () => string | null;
  /** How processes tell each other that a computer has woken, or is to end. */
  processNews?: Pick<ProcessNews, 'notify' | 'on'>;
  settings?: Partial<Settings>;
}): Computers {
  const { db, log, makePlace, removePlace, homes, processNews, address = () => null } = options;
  const { leaseMs, renewEveryMs, idleMs, handOverMs } = { ...defaults, ...options.settings };
  const self = randomUUID();
  const leaseNow = () => ({ holder: self, address: address(), leaseMs });
  const entries = new Map<string, Entry>();
  // Whoever wakes one that is just being put to sleep waits: its hold would be given back under their feet.
  const ending = new Map<string, Promise<void>>();
  // Homes of any size are brought and saved: longer than a lease lasts.
  const moving = new Map<number, Entry['hold']>();
  const enders: ((computer: Awake) => Promise<void>)[] = [];
  let isStopped = false;
  const beating = setInterval(() => {
    void endLost();
    void renew().then(sleepIdle);
  }, renewEveryMs);
  beating.unref();
  processNews?.on('computer', (told) => {
    if (told?.startsWith(erasing)) void endErased(told.slice(erasing.length));
    if (told?.startsWith(erased)) void removeErased(Number(told.slice(erased.length)));
  });

  function enter(owner: Owner): Entry {
    const found = entries.get(keyOf(owner));
    if (found) return found;
    const controller = new AbortController();
    const hold = { goodUntil: Number.POSITIVE_INFINITY };
    const entry: Entry = {
      ready: wake(owner, hold, controller.signal),
      awake: null,
      controller,
      users: 0,
      idleSince: Date.now(),
      keepUntil: 0,
      hold,
    };
    entries.set(keyOf(owner), entry);
    entry.ready.then(
      (awake) => {
        entry.awake = awake;
        processNews?.notify('computer', keyOf(owner));
      },
      () => forget(owner, entry),
    );
    return entry;
  }

  async function wake(owner: Owner, hold: Entry['hold'], signal: AbortSignal): Promise<Awake> {
    const deadline = Date.now() + handOverMs;
    for (;;) {
      if (isStopped || signal.aborted) throw unavailable('The server is going down.');
      await ending.get(keyOf(owner));
      const askedAt = performance.now();
      const held = await holdComputer(db, owner, leaseNow());
      if (held) hold.goodUntil = askedAt + leaseMs;
      if (held) return await prepare(owner, held, hold, signal);
      if (await isBeingErased(owner)) throw unavailable('This user is being erased.');
      if ((await findHolder(db, owner))?.address) throw new HeldElsewhere();
      if (Date.now() > deadline) throw unavailable('This computer is in use on another process of the server.');
      await pause(askAgainMs);
    }
  }

  async function isBeingErased({ userId, ...tenant }: Owner): Promise<boolean> {
    const user = userId === null ? undefined : await findUser(db, tenant, userId);
    return Boolean(user?.erasing_since);
  }

  async function prepare(
    owner: Owner,
    held: { number: number; epoch: number },
    hold: Entry['hold'],
    signal: AbortSignal,
  ): Promise<Awake> {
    try {
      const awake = { owner, ...held, place: await makePlace(held.number), signal };
      if (homes) await whileMoving(awake, hold, homes.bring);
      return awake;
    } catch (error) {
      await releaseHold(db, held.number, self);
      throw error;
    }
  }

  async function whileMoving(awake: Awake, hold: Entry['hold'], move: (awake: Awake) => Promise<void>): Promise<void> {
    moving.set(awake.number, hold);
    await move(awake).finally(() => moving.delete(awake.number));
  }

  function forget(owner: Owner, entry: Entry): void {
    if (entries.get(keyOf(owner)) === entry) entries.delete(keyOf(owner));
  }

  /** Used or not: of its user nothing is to be left. */
  async function endErased(key: string): Promise<void> {
    const entry = entries.get(key);
    if (entry?.awake) await putToSleep(entry.awake.owner, entry);
  }

  /** It may have been awake on this machine at any time, and whoever erased it reaches no disk but its own. */
  async function removeErased(number: number): Promise<void> {
    try {
      if ((await unknownNumbers(db, [number])).length > 0) await removePlace?.(number);
    } catch (error) {
      log.warn({ err: error, computer: number }, 'the folder of an erased computer could not be removed');
    }
  }

  function putToSleep(owner: Owner, entry: Entry): Promise<void> {
    const ended = ending.get(keyOf(owner)) ?? end(owner, entry).finally(() => ending.delete(keyOf(owner)));
    ending.set(keyOf(owner), ended);
    return ended;
  }

  async function end(owner: Owner, entry: Entry): Promise<void> {
    forget(owner, entry);
    entry.controller.abort(unavailable('The computer was put to sleep.'));
    const awake = await entry.ready.catch(() => null);
    if (!awake) return;
    for (const endPart of enders) {
      await endPart(awake).catch((error: unknown) => log.warn({ err: error }, 'a part of a computer did not end well'));
    }
    // Tells by itself what goes wrong; what was saved before stands then.
    if (homes) await whileMoving(awake, entry.hold, homes.save).catch(() => {});
    await releaseHold(db, awake.number, self).catch((error: unknown) =>
      log.warn({ err: error }, 'a computer was not given back; its lease runs out by itself'),
    );
  }

  async function renew(): Promise<void> {
    const asked = awakeEntries();
    const askedAt = performance.now();
    const numbers = [...moving.keys(), ...asked.map(({ awake }) => (awake as Awake).number)];
    if (numbers.length === 0) return;
    try {
      const held = await renewHolds(db, numbers, leaseNow());
      for (const [number, hold] of moving) if (held.has(number)) hold.goodUntil = askedAt + leaseMs;
      for (const entry of asked) {
        if (held.has((entry.awake as Awake).number)) entry.hold.goodUntil = askedAt + leaseMs;
        const keepUntil = held.get((entry.awake as Awake).number)?.keepUntil?.getTime() ?? 0;
        entry.keepUntil = Math.max(entry.keepUntil, keepUntil);
      }
      const lost = asked.filter(({ awake }) => !held.has((awake as Awake).number));
      await Promise.all(lost.map((entry) => putToSleep((entry.awake as Awake).owner, entry)));
    } catch (error) {
      log.warn({ err: error }, 'the leases of computers could not be renewed; trying again');
    }
  }

  const awakeEntries = () => [...entries.values()].filter((entry) => entry.awake);
  const isLost = ({ hold }: Entry) => performance.now() > hold.goodUntil;

  /** Waits for no answer: a network that carries nothing gives none, and the computers may be elsewhere meanwhile. */
  async function endLost(): Promise<void> {
    const lost = awakeEntries().filter(isLost);
    await Promise.all(lost.map((entry) => putToSleep((entry.awake as Awake).owner, entry)));
  }

  async function sleepIdle(): Promise<void> {
    const idle = [...entries.values()].filter(isIdle);
    await Promise.all(
      idle.map(async (entry) => {
        const awake = entry.awake as Awake;
        // One that cannot be saved just now stays awake: asleep, it would wake elsewhere as it was before.
        const isSaved = await (homes?.save(awake) ?? Promise.resolve()).then(
          () => true,
          () => false,
        );
        if (isSaved && isIdle(entry)) await putToSleep(awake.owner, entry);
      }),
    );
  }

  function isIdle({ awake, users, idleSince, keepUntil }: Entry): boolean {
    const now = Date.now();
    return awake !== null && users === 0 && now > idleSince + idleMs && now > keepUntil;
  }

  return {
    self,
    async use(owner, work) {
      const entry = enter(owner);
      entry.users += 1;
      try {
        return await work(await entry.ready);
      } finally {
        entry.users -= 1;
        entry.idleSince = Date.now();
      }
    },
    ifAwake(owner) {
      const entry = entries.get(keyOf(owner));
      return entry && !isLost(entry) ? entry.awake : null;
    },
    countAwake: () => entries.size,
    keepUntil(owner, until) {
      const entry = entries.get(keyOf(owner));
      if (entry) entry.keepUntil = Math.max(entry.keepUntil, until.getTime());
    },
    beforeSleep: (endPart) => void enders.push(endPart),
    async sleep(owner) {
      const entry = entries.get(keyOf(owner));
      if (entry) await putToSleep(owner, entry);
    },
    async erase(owner) {
      const deadline = Date.now() + handOverMs;
      const found = await findComputer(db, owner);
      for (;;) {
        const entry = entries.get(keyOf(owner));
        if (entry) await putToSleep(owner, entry);
        const answer = await seizeComputer(db, owner, { holder: `${self} erasing`, leaseMs });
        if (answer === 'none') return;
        if (answer === 'seized') break;
        if (Date.now() > deadline) throw unavailable('This computer is in use on another process of the server.');
        processNews?.notify('computer', `${erasing}${keyOf(owner)}`);
        await pause(askAgainMs);
      }
      // The folder goes first: an erasure that dies here is begun again and finds the row.
      if (found) await removePlace?.(found.number);
      await homes?.remove(owner);
      await deleteComputer(db, owner);
      if (found) processNews?.notify('computer', `${erased}${found.number}`);
    },
    async stop() {
      isStopped = true;
      await Promise.all(
        [...entries.values()].map(async (entry) => {
          const awake = await entry.ready.catch(() => null);
          if (awake) await putToSleep(awake.owner, entry);
        }),
      );
      clearInterval(beating);
    },
  };
}

export const keyOf = ({ orgId, mode, userId }: Owner) => JSON.stringify([orgId, mode, userId]);

/** Before the key of a computer that is to end at once, used or not. */
const erasing = 'erase ';
/** Before the number of one of which nothing is to be left. */
const erased = 'erased ';

const unavailable = (message: string) => fail('computer_unavailable', { message });
