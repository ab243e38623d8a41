import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../../platform/db/away.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { type Run, RunTakenOver, renewLeases as renewLeasesOf, takeRun } from '../../platform/jobs/run-owner.ts';

/** Why a run was ended from outside: it is no failure, and whoever ended it has written what came of it. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** The process leaves while the run waits: nothing of it is under way, and another process goes on with it. */
export class RunLeft extends Error {
  override readonly name = 'RunLeft';
}

/** The runs that this process works on. */
export type Runner = {
  /** Whether it may take one more of theirs where nobody waits in a queue. */
  hasRoom: (of: RunOwner) => boolean;
  isLeaving: () => boolean;
  /** From now on nothing new is taken, and what runs gives itself back at its next step. */
  leave: () => void;
  /** With what this process takes one more; null where it has no room. */
  lease: (of: RunOwner) => Lease | null;
  /** The same with a place that is nobody else's, until a run is performed in it or it is given back. */
  reserve: (of: RunOwner) => Place | null;
  /** Makes this process the owner, in the transaction that says there is work. */
  take: (tx: Transaction, runId: string) => Promise<Run>;
  /** Works on a run that was taken, and resolves when it has ended one way or another or has been set aside. */
  perform: (run: Run, of: RunOwner, work: (signal: AbortSignal) => Promise<void>, place?: Place) => Promise<void>;
  /**
   * A run that waits for long takes no room: it is set aside, and nobody waits for its end. It stays owned, and should
   * the process die it is found by its lease. It goes on when there is room for it again. `begins` is to be called where
   * it has to wait: what is only slow to answer keeps its room. From then on it throws `RunLeft` as soon as the process is
   * to end.
   */
  whileWaiting: <T>(
    run: Run,
    signal: AbortSignal,
    wait: (signal: AbortSignal, begins: () => void) => Promise<T>,
  ) => Promise<T>;
  /** Renews what this process works on, and ends what is no longer its own: by itself this happens every few seconds. */
  renew: () => Promise<void>;
  /** How many it works on, and how many beside those it has set aside. */
  counts: () => { running: number; setAside: number };
  /** Ends a run at once if this process works on it. */
  end: (runId: string) => void;
  /** Takes nothing new, lets what runs come to its next step, and cuts what is left. */
  stop: (options: { graceMs: number }) => Promise<void>;
};

type Lease = { owner: string; leaseMs: number };
export type Place = Lease & { giveBack: () => void };

/** For whom a run is: a turn, a task or a conversation. */
export type RunOwner = { org_id: string; mode: string; user_id: string | null };

type Settings = {
  /** Runs at once. */
  capacity: number;
  /** Of the capacity one org's and one user's at most: what goes beyond waits in the queue, and others have room. */
  ofOrg: number;
  ofUser: number;
  /** A run whose owner has not renewed it for this long goes on in another process. */
  leaseMs: number;
  renewEveryMs: number;
};

const setAsideAfterMs = 1_000;
const mostSetAside = 1_000;

/** Has what it waited for, and goes on as soon as there is room. */
type Returning = { of: RunOwner; goOn: () => void };

type Running = { run: Run; of: RunOwner; controller: AbortController; done: Promise<void>; setAside: () => void };

export function createRunner(options: {
  db: Database;
  log: Logger;
  settings: Settings;
  renewLeases?: typeof renewLeasesOf;
}): Runner {
  const { db, log, settings, renewLeases = renewLeasesOf } = options;
  const { capacity, ofOrg, ofUser, leaseMs, renewEveryMs } = settings;
  const owner = randomUUID();
  const running = new Map<string, Running>();
  const leaving = new AbortController();
  const counts = new Map<string, number>();
  const returning = new Set<Returning>();
  /** Those that return among them, until they go on. */
  let setAside = 0;
  let reserved = 0;
  const renewing = setInterval(() => void renew(), renewEveryMs);
  renewing.unref();

  const leave = () => leaving.abort(new RunLeft('The process ends.'));
  const userOf = ({ org_id, mode, user_id }: RunOwner) => JSON.stringify([org_id, mode, user_id]);
  const countOf = (key: string) => counts.get(key) ?? 0;
  const hasRoom = (of: RunOwner) => !leaving.signal.aborted && isWithinShares(of);
  const isWithinShares = (of: RunOwner) =>
    running.size - setAside + reserved < capacity && countOf(of.org_id) < ofOrg && countOf(userOf(of)) < ofUser;

  function count(of: RunOwner, change: 1 | -1): void {
    for (const key of [of.org_id, userOf(of)]) {
      const left = countOf(key) + change;
      if (left === 0) counts.delete(key);
      else counts.set(key, left);
    }
  }

  /** Whatever is no longer ours ends here: another process goes on with it. */
  async function renew(): Promise<void> {
    // A run that begins while the database is asked is none of those it was asked about.
    const asked = [...running.values()];
    if (asked.length === 0) return;
    try {
      const runIds = asked.map(({ run }) => run.runId);
      const rows = await renewLeases(db, { runIds, owner, leaseMs });
      const owned = new Map(rows.map(({ id, epoch }) => [id, epoch]));
      for (const { run, controller } of asked) {
        if (owned.get(run.runId) !== run.epoch) controller.abort(new RunTakenOver(run));
      }
    } catch (error) {
      log.warn({ err: error }, 'the leases of running work could not be renewed; trying again');
    }
  }

  function reserve(of: RunOwner): Place | null {
    if (!hasRoom(of)) return null;
    let isKept = true;
    reserved += 1;
    count(of, 1);
    const giveBack = () => {
      if (!isKept) return;
      isKept = false;
      reserved -= 1;
      count(of, -1);
      letReturn();
    };
    return { owner, leaseMs, giveBack };
  }

  async function perform(
    run: Run,
    of: RunOwner,
    work: (signal: AbortSignal) => Promise<void>,
    place?: Place,
  ): Promise<void> {
    const controller = new AbortController();
    count(of, 1);
    running.get(run.runId)?.controller.abort(new RunTakenOver(run));
    const done = work(controller.signal).catch((error: unknown) => {
      if (error instanceof RunTakenOver || error instanceof RunEnded) return;
      const reason = isDatabaseAway(error) ? 'the database is away' : 'it broke';
      log.error({ err: error, run_id: run.runId }, `a run could not go on: ${reason}; it is taken up again`);
    });
    const aside = Promise.withResolvers<void>();
    const entry: Running = { run, of, controller, done, setAside: aside.resolve };
    running.set(run.runId, entry);
    // Not before it counts as running: nobody is to see its place as free.
    place?.giveBack();
    const ended = done.then(() => {
      count(of, -1);
      if (running.get(run.runId) === entry) running.delete(run.runId);
      letReturn();
    });
    await Promise.race([ended, aside.promise]);
  }

  function comeBack(of: RunOwner): void {
    setAside -= 1;
    count(of, 1);
  }

  function letReturn(): void {
    for (const each of returning) {
      if (!isWithinShares(each.of)) continue;
      returning.delete(each);
      comeBack(each.of);
      each.goOn();
    }
  }

  async function comeBackWithinShares(of: RunOwner, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Returning = { of, goOn: resolve };
    const onAbort = () => {
      returning.delete(entry);
      reject(signal.reason);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    returning.add(entry);
    letReturn();
    await promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  async function whileWaiting<T>(
    { runId, epoch }: Run,
    signal: AbortSignal,
    wait: (signal: AbortSignal, begins: () => void) => Promise<T>,
  ): Promise<T> {
    let away: RunOwner | null = null;
    let looking: NodeJS.Timeout | undefined;
    const setItAside = () => {
      const entry = running.get(runId);
      if (entry?.run.epoch !== epoch) return;
      // Each of them keeps its conversation in memory: beyond that they take room, and new work waits in its queue. One
      // that could go on has what others wait for, and must not wait for their room.
      if (setAside >= mostSetAside && returning.size === 0) return;
      clearInterval(looking);
      away = entry.of;
      setAside += 1;
      count(away, -1);
      entry.setAside();
      letReturn();
    };
    const left = new AbortController();
    const leaveIt = () => left.abort(leaving.signal.reason);
    const begins = () => {
      looking ??= setInterval(setItAside, setAsideAfterMs);
      // A reply that gets what it wants without waiting goes on: somebody may follow it to its end.
      leaving.signal.addEventListener('abort', leaveIt, { once: true });
      if (leaving.signal.aborted) leaveIt();
    };
    const orLeft = AbortSignal.any([signal, left.signal]);
    try {
      const result = await wait(orLeft, begins);
      clearInterval(looking);
      if (away !== null) {
        await comeBackWithinShares(away, orLeft);
        away = null;
      }
      return result;
    } finally {
      clearInterval(looking);
      leaving.signal.removeEventListener('abort', leaveIt);
      if (away !== null) comeBack(away);
    }
  }

  return {
    hasRoom,
    isLeaving: () => leaving.signal.aborted,
    leave,
    lease: (of) => (hasRoom(of) ? { owner, leaseMs } : null),
    reserve,
    take: (tx, runId) => takeRun(tx, { runId, owner, leaseMs }),
    perform,
    whileWaiting,
    renew,
    counts: () => ({ running: running.size - setAside, setAside }),
    end: (runId) => running.get(runId)?.controller.abort(new RunEnded('The run was stopped.')),
    async stop({ graceMs }) {
      leave();
      const all = Promise.all([...running.values()].map(({ done }) => done));
      let timer: NodeJS.Timeout | undefined;
      const cut = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs);
      });
      await Promise.race([all, cut]);
      clearTimeout(timer);
      for (const { controller } of running.values()) controller.abort(new RunEnded('The process ends.'));
      await all;
      clearInterval(renewing);
    },
  };
}
