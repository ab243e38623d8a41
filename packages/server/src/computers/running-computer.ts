import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fail } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { ClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import type { Database } from '../platform/db/pool.ts';
import { startHeartbeat } from '../platform/jobs/lease.ts';
import { findUser } from '../users/index.ts';
import type { Homes } from './homes.ts';
import type { ComputerFolders } from './machine/computer-folder.ts';
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
export type RunningComputer = {
  owner: Owner;
  number: number;
  /** Increases with every hold. Writes with an older epoch are refused. */
  epoch: number;
  folders: ComputerFolders;
  /** Aborts when this process loses the computer, so that everything on it stops. */
  signal: AbortSignal;
};

/** A hold to renew: of a computer that is awake, or (`entry` is null) of one whose home is being restored or saved. */
type Renewable = { number: number; hold: Entry['hold']; entry: Entry | null };

/** The computer is awake in another process. Nothing has run; the caller must run the operation there. */
export class HeldElsewhere extends Error {}

/** The computers that are awake in this process. */
export type Computers = {
  /** The id under which this process holds computers. */
  self: string;
  /**
   * Runs `work` on the owner's computer and wakes it if it sleeps. Throws `HeldElsewhere` if another process has it.
   * The computer stays awake while it is in use, and a while longer.
   */
  use: <T>(owner: Owner, work: (computer: RunningComputer) => Promise<T>) => Promise<T>;
  /** Null if the computer is not awake here. Wakes nothing. */
  ifAwake: (owner: Owner) => RunningComputer | null;
  countAwake: () => number;
  /** Keeps the computer awake until then, even if it is not used. */
  keepUntil: (owner: Owner, until: Date) => void;
  /** Registers a part, such as the browser, that must end before a computer sleeps. */
  beforeSleep: (end: (computer: RunningComputer) => Promise<void>) => void;
  /** Puts a computer to sleep now and ends everything on it. */
  sleep: (owner: Owner) => Promise<void>;
  /** Ends the computer in whichever process it runs, and deletes everything. */
  erase: (owner: Owner) => Promise<void>;
  /**
   * The process shuts down: from now on each computer sleeps as soon as no call and no run here uses it, so that another
   * process can wake it. Until then, other processes wait for it.
   */
  leave: (hasRun: (owner: Owner) => boolean) => void;
  stop: () => Promise<void>;
};

type Settings = { leaseMs: number; renewEveryMs: number; idleMs: number; handOverMs: number };

/** `handOverMs`: longer than the lease, so that a computer whose process died is taken over. */
const defaults: Settings = { leaseMs: 15_000, renewEveryMs: 4_000, idleMs: 300_000, handOverMs: 60_000 };
const askAgainMs = 200;

type Entry = {
  ready: Promise<RunningComputer>;
  awake: RunningComputer | null;
  controller: AbortController;
  users: number;
  idleSince: number;
  keepUntil: number;
  /** Its org moves to another installation: it sleeps as soon as nobody uses it, so that its home is saved. */
  isFrozen: boolean;
  /**
   * Until when no other process can hold it, on the monotonic clock: a wall clock that jumps would end all computers,
   * or none.
   */
  hold: { goodUntil: number };
};

export function createComputers(options: {
  db: Database;
  log: Logger;
  makeFolders: (number: number) => Promise<ComputerFolders>;
  removeFolders?: (number: number) => Promise<void>;
  /** Absent: all processes share the same disk. */
  homes?: Homes | undefined;
  /** Where other processes reach this one; null: not yet known. */
  address?: () => string | null;
  /** Notifies other processes that a computer woke or must end. */
  processNews?: Pick<ClusterNotifications, 'notify' | 'on'>;
  settings?: Partial<Settings>;
}): Computers {
  const { db, log, makeFolders, removeFolders, homes, processNews, address = () => null } = options;
  const { leaseMs, renewEveryMs, idleMs, handOverMs } = { ...defaults, ...options.settings };
  const self = randomUUID();
  // A process that leaves accepts no connections, so its leases name no address.
  const leaseNow = () => ({ holder: self, address: leaving ? null : address(), leaseMs });
  const entries = new Map<string, Entry>();
  // Waking waits until the computer has gone to sleep, or its new hold would be released.
  const ending = new Map<string, Promise<void>>();
  // Restoring and saving a large home may take longer than a lease, so these holds are renewed too.
  const moving = new Map<number, Entry['hold']>();
  const enders: ((computer: RunningComputer) => Promise<void>)[] = [];
  let isStopped = false;
  let leaving: NodeJS.Timeout | null = null;
  const heartbeat = startHeartbeat<Renewable>({
    everyMs: renewEveryMs,
    held: () => [
      ...[...moving].map(([number, hold]) => ({ number, hold, entry: null })),
      ...awakeEntries().map((entry) => ({ number: (entry.awake as RunningComputer).number, hold: entry.hold, entry })),
    ],
    async renew(entries) {
      const askedAt = performance.now();
      const rows = await renewHolds(
        db,
        entries.map(({ number }) => number),
        leaseNow(),
      );
      for (const { number, hold, entry } of entries) {
        const row = rows.get(number);
        if (row) hold.goodUntil = askedAt + leaseMs;
        if (entry) entry.keepUntil = Math.max(entry.keepUntil, row?.keepUntil?.getTime() ?? 0);
        if (entry) entry.isFrozen = row?.isFrozen ?? false;
      }
      return ({ number }) => rows.has(number);
    },
    onLost: async ({ entry }) => {
      if (entry) await putToSleep((entry.awake as RunningComputer).owner, entry);
    },
    onError: (error) => log.warn({ err: error }, 'the leases of computers could not be renewed; trying again'),
    afterwards: () => sleepIdle(),
  });
  const checkingLost = setInterval(() => void endLost(), renewEveryMs);
  checkingLost.unref();
  processNews?.on('computer', (told) => {
    if (told?.startsWith(erasing)) void endErased(told.slice(erasing.length));
    if (told?.startsWith(erased)) void removeErased(Number(told.slice(erased.length)));
  });

  function enter(owner: Owner): Entry {
    const found = entries.get(computerKey(owner));
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
      isFrozen: false,
      hold,
    };
    entries.set(computerKey(owner), entry);
    entry.ready.then(
      (awake) => {
        entry.awake = awake;
        processNews?.notify('computer', computerKey(owner));
      },
      () => forget(owner, entry),
    );
    return entry;
  }

  async function wake(owner: Owner, hold: Entry['hold'], signal: AbortSignal): Promise<RunningComputer> {
    const deadline = Date.now() + handOverMs;
    for (;;) {
      if (isStopped || signal.aborted) throw unavailable('The server is going down.');
      await ending.get(computerKey(owner));
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
  ): Promise<RunningComputer> {
    try {
      const awake = { owner, ...held, folders: await makeFolders(held.number), signal };
      if (homes) await whileMoving(awake, hold, homes.bring);
      return awake;
    } catch (error) {
      await releaseHold(db, held.number, self);
      throw error;
    }
  }

  async function whileMoving(
    awake: RunningComputer,
    hold: Entry['hold'],
    move: (awake: RunningComputer) => Promise<void>,
  ): Promise<void> {
    moving.set(awake.number, hold);
    await move(awake).finally(() => moving.delete(awake.number));
  }

  function forget(owner: Owner, entry: Entry): void {
    if (entries.get(computerKey(owner)) === entry) entries.delete(computerKey(owner));
  }

  /** Ends the computer even if it is in use: its user is being erased. */
  async function endErased(key: string): Promise<void> {
    const entry = entries.get(key);
    if (entry?.awake) await putToSleep(entry.awake.owner, entry);
  }

  /** The computer may have been awake on this machine before. The process that erased it reaches only its own disk. */
  async function removeErased(number: number): Promise<void> {
    try {
      if ((await unknownNumbers(db, [number])).length > 0) await removeFolders?.(number);
    } catch (error) {
      log.warn({ err: error, computer: number }, 'the folder of an erased computer could not be removed');
    }
  }

  function putToSleep(owner: Owner, entry: Entry): Promise<void> {
    const ended = ending.get(computerKey(owner)) ?? end(owner, entry).finally(() => ending.delete(computerKey(owner)));
    ending.set(computerKey(owner), ended);
    return ended;
  }

  async function end(owner: Owner, entry: Entry): Promise<void> {
    forget(owner, entry);
    entry.controller.abort(unavailable('The computer was put to sleep.'));
    const awake = await entry.ready.catch(() => null);
    if (!awake) return;
    for (const endPart of enders) {
      await endPart(awake).catch((error: unknown) =>
        log.warn({ err: error }, 'a part of a computer could not be ended'),
      );
    }
    // `save` logs its failure. The previous save then remains.
    if (homes) await whileMoving(awake, entry.hold, homes.save).catch(() => {});
    await releaseHold(db, awake.number, self).catch((error: unknown) =>
      log.warn({ err: error }, 'the hold on a computer was not released; its lease will expire'),
    );
  }

  const awakeEntries = () => [...entries.values()].filter((entry) => entry.awake);
  const isLost = ({ hold }: Entry) => performance.now() > hold.goodUntil;

  /** Does not wait for the database: if the network is down, another process may have the computer by now. */
  async function endLost(): Promise<void> {
    const lost = awakeEntries().filter(isLost);
    await Promise.all(lost.map((entry) => putToSleep((entry.awake as RunningComputer).owner, entry)));
  }

  /** Repeated until the process stops. An unsaved home is saved on the way, as at a stop. */
  async function sleepUnused(hasRun: (owner: Owner) => boolean): Promise<void> {
    const unused = [...entries.values()].filter(({ awake, users }) => awake && users === 0 && !hasRun(awake.owner));
    await Promise.all(unused.map((entry) => putToSleep((entry.awake as RunningComputer).owner, entry)));
  }

  async function sleepIdle(): Promise<void> {
    const idle = [...entries.values()].filter(isIdle);
    await Promise.all(
      idle.map(async (entry) => {
        const awake = entry.awake as RunningComputer;
        // A computer that cannot be saved stays awake. Asleep, it would wake elsewhere without its last changes.
        const isSaved = await (homes?.save(awake) ?? Promise.resolve()).then(
          () => true,
          () => false,
        );
        if (isSaved && isIdle(entry)) await putToSleep(awake.owner, entry);
      }),
    );
  }

  function isIdle({ awake, users, idleSince, keepUntil, isFrozen }: Entry): boolean {
    const now = Date.now();
    return awake !== null && users === 0 && (isFrozen || (now > idleSince + idleMs && now > keepUntil));
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
      const entry = entries.get(computerKey(owner));
      return entry && !isLost(entry) ? entry.awake : null;
    },
    countAwake: () => entries.size,
    keepUntil(owner, until) {
      const entry = entries.get(computerKey(owner));
      if (entry) entry.keepUntil = Math.max(entry.keepUntil, until.getTime());
    },
    beforeSleep: (endPart) => void enders.push(endPart),
    async sleep(owner) {
      const entry = entries.get(computerKey(owner));
      if (entry) await putToSleep(owner, entry);
    },
    async erase(owner) {
      const deadline = Date.now() + handOverMs;
      const found = await findComputer(db, owner);
      for (;;) {
        const entry = entries.get(computerKey(owner));
        if (entry) await putToSleep(owner, entry);
        const answer = await seizeComputer(db, owner, { holder: `${self} erasing`, leaseMs });
        if (answer === 'none') return;
        if (answer === 'seized') break;
        if (Date.now() > deadline) throw unavailable('This computer is in use on another process of the server.');
        processNews?.notify('computer', `${erasing}${computerKey(owner)}`);
        await pause(askAgainMs);
      }
      // The folder goes first: if the erasure crashes here, its retry still finds the row.
      if (found) await removeFolders?.(found.number);
      await homes?.remove(owner);
      await deleteComputer(db, owner);
      if (found) processNews?.notify('computer', `${erased}${found.number}`);
    },
    leave(hasRun) {
      leaving ??= setInterval(() => void sleepUnused(hasRun), askAgainMs);
      void sleepUnused(hasRun).then(heartbeat.beat);
    },
    async stop() {
      isStopped = true;
      clearInterval(leaving ?? undefined);
      await Promise.all(
        [...entries.values()].map(async (entry) => {
          const awake = await entry.ready.catch(() => null);
          if (awake) await putToSleep(awake.owner, entry);
        }),
      );
      clearInterval(checkingLost);
      void heartbeat.stop();
    },
  };
}

export const computerKey = ({ orgId, mode, userId }: Owner) => JSON.stringify([orgId, mode, userId]);

/** Prefix of a notification: end this computer at once, even if it is in use. */
const erasing = 'erase ';
/** Prefix of a notification: delete the folder of this computer. */
const erased = 'erased ';

const unavailable = (message: string) => fail('computer_unavailable', { message });
