import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { isDatabaseUnreachable } from '../../platform/db/unreachable.ts';
import { startHeartbeat } from '../../platform/jobs/lease.ts';
import { type RunLease, RunTakenOver, renewLeases as renewLeasesOf, takeRun } from '../../platform/jobs/run-lease.ts';
import { isErased } from '../records/change.ts';
import { createTurnstile, type Turnstile, type TurnstileSettings } from './turnstile.ts';

/** Aborts a run that was ended from outside. It is not a failure, and its outcome is already written. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** Aborts a waiting run when the process shuts down. No call is in progress, and another process resumes the run. */
export class RunLeft extends Error {
  override readonly name = 'RunLeft';
}

/** The runs that this process executes. */
export type Runner = {
  /** Identifies this process in the leases of its runs. */
  owner: string;
  /** Whether this process may run one more of this owner's runs. */
  hasRoom: (of: RunOwner) => boolean;
  /** Waits before a message is accepted, if the process is busy and the org has its share of runs. */
  enter: Turnstile['enter'];
  isLeaving: () => boolean;
  /** Takes no new runs. Running ones stop at their next step, and another process resumes them. */
  leave: () => void;
  /** The lease for one more run; null if there is no room. */
  lease: (of: RunOwner) => Lease | null;
  /** Reserves a slot until a run uses it or it is released. */
  reserve: (of: RunOwner) => RunSlot | null;
  /** Makes this process the owner, in the transaction that starts the run. */
  take: (tx: Transaction, runId: string) => Promise<RunLease>;
  /** Executes an owned run. Resolves when the run has ended or was set aside. */
  perform: (run: RunLease, of: RunOwner, work: (signal: AbortSignal) => Promise<void>, slot?: RunSlot) => Promise<void>;
  /**
   * A run that waits for long is set aside and takes no room. It stays owned, so its lease expires if the process dies.
   * It resumes when there is room again. Call `begins` when the run really has to wait: a slow answer keeps its room.
   * After that, it throws `RunLeft` as soon as the process shuts down.
   */
  whileWaiting: <T>(
    run: RunLease,
    signal: AbortSignal,
    wait: (signal: AbortSignal, begins: () => void) => Promise<T>,
  ) => Promise<T>;
  /** Renews the leases and aborts runs that another process took. A timer calls it every few seconds. */
  renew: () => Promise<void>;
  /** Whether this process executes a run of this user that is not set aside. */
  hasRunOf: (of: RunOwner) => boolean;
  /** The number of running runs, and of runs that are set aside. */
  counts: () => { running: number; setAside: number };
  /** The number of messages that wait in `enter`. */
  waitingMessages: Turnstile['waiting'];
  /** Aborts a run if this process executes it. */
  end: (runId: string) => void;
  /** Takes no new runs, lets running ones reach their next step, and aborts the rest after the grace period. */
  stop: (options: { graceMs: number }) => Promise<void>;
};

type Lease = { owner: string; leaseMs: number };
export type RunSlot = Lease & { release: () => void };

/** The owner of a run: taken from a turn, a task or a conversation. */
export type RunOwner = { org_id: string; mode: string; user_id: string | null };

type Settings = {
  /** Maximum of concurrent runs. */
  capacity: number;
  /** The share of one org and of one user. Runs beyond it wait in the queue, so that others have room. */
  ofOrg: number;
  ofUser: number;
  /** Another process resumes a run whose lease has not been renewed for this long. */
  leaseMs: number;
  renewEveryMs: number;
  turnstile?: TurnstileSettings;
};

const setAsideAfterMs = 1_000;
const maxSetAside = 1_000;

/** A run that was set aside, may continue, and waits for room. */
type Returning = { of: RunOwner; resume: () => void };

type Running = { run: RunLease; of: RunOwner; controller: AbortController; done: Promise<void>; setAside: () => void };

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
  /** Runs that are set aside, including those that wait for room. */
  let setAside = 0;
  let reserved = 0;
  const heartbeat = startHeartbeat<Running>({
    everyMs: renewEveryMs,
    held: () => [...running.values()],
    async renew(entries) {
      const runIds = entries.map(({ run }) => run.runId);
      const rows = await renewLeases(db, { runIds, owner, leaseMs });
      const epochs = new Map(rows.map(({ id, epoch }) => [id, epoch]));
      return ({ run }) => epochs.get(run.runId) === run.epoch;
    },
    onLost: ({ run, controller }) => controller.abort(new RunTakenOver(run)),
    onError: (error) => log.warn({ err: error }, 'could not renew the leases of running runs; retrying'),
  });

  const turnstile = createTurnstile({ most: ofOrg, runsOf: (orgId) => counts.get(orgId) ?? 0, ...settings.turnstile });
  const leave = () => {
    leaving.abort(new RunLeft('The process ends.'));
    turnstile.open();
  };
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
    if (change === -1) turnstile.advance(of.org_id);
  }

  function reserve(of: RunOwner): RunSlot | null {
    if (!hasRoom(of)) return null;
    let isReserved = true;
    reserved += 1;
    count(of, 1);
    const release = () => {
      if (!isReserved) return;
      isReserved = false;
      reserved -= 1;
      count(of, -1);
      letReturn();
    };
    return { owner, leaseMs, release };
  }

  async function perform(
    run: RunLease,
    of: RunOwner,
    work: (signal: AbortSignal) => Promise<void>,
    slot?: RunSlot,
  ): Promise<void> {
    const controller = new AbortController();
    count(of, 1);
    running.get(run.runId)?.controller.abort(new RunTakenOver(run));
    const done = work(controller.signal).catch((error: unknown) => {
      if (error instanceof RunTakenOver || error instanceof RunEnded || isErased(error)) return;
      const reason = isDatabaseUnreachable(error) ? 'the database is unreachable' : 'unexpected error';
      log.error({ err: error, run_id: run.runId }, `a run was interrupted: ${reason}; it will be resumed`);
    });
    const aside = Promise.withResolvers<void>();
    const entry: Running = { run, of, controller, done, setAside: aside.resolve };
    running.set(run.runId, entry);
    // Released only after the run counts as running, so that nobody sees the slot as free.
    slot?.release();
    const ended = done.then(() => {
      count(of, -1);
      if (running.get(run.runId) === entry) running.delete(run.runId);
      letReturn();
    });
    await Promise.race([ended, aside.promise]);
  }

  function restoreRoom(of: RunOwner): void {
    setAside -= 1;
    count(of, 1);
  }

  function letReturn(): void {
    for (const each of returning) {
      if (!isWithinShares(each.of)) continue;
      returning.delete(each);
      restoreRoom(each.of);
      each.resume();
    }
  }

  async function returnWithinShares(of: RunOwner, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const entry: Returning = { of, resume: resolve };
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
    { runId, epoch }: RunLease,
    signal: AbortSignal,
    wait: (signal: AbortSignal, begins: () => void) => Promise<T>,
  ): Promise<T> {
    let asideOwner: RunOwner | null = null;
    let timer: NodeJS.Timeout | undefined;
    const setItAside = () => {
      const entry = running.get(runId);
      if (entry?.run.epoch !== epoch) return;
      // Each run that is set aside keeps its conversation in memory. Beyond the limit, waiting runs keep their room,
      // and new runs queue. A returning run may hold the money that the others wait for, so the limit does not apply
      // while one needs room.
      if (setAside >= maxSetAside && returning.size === 0) return;
      clearInterval(timer);
      asideOwner = entry.of;
      setAside += 1;
      count(asideOwner, -1);
      entry.setAside();
      letReturn();
    };
    const left = new AbortController();
    const leaveIt = () => left.abort(leaving.signal.reason);
    const begins = () => {
      timer ??= setInterval(setItAside, setAsideAfterMs);
      // A reply that did not have to wait continues, because somebody may follow it to its end.
      leaving.signal.addEventListener('abort', leaveIt, { once: true });
      if (leaving.signal.aborted) leaveIt();
    };
    const orLeft = AbortSignal.any([signal, left.signal]);
    try {
      const result = await wait(orLeft, begins);
      clearInterval(timer);
      if (asideOwner !== null) {
        await returnWithinShares(asideOwner, orLeft);
        asideOwner = null;
      }
      return result;
    } finally {
      clearInterval(timer);
      leaving.signal.removeEventListener('abort', leaveIt);
      if (asideOwner !== null) restoreRoom(asideOwner);
    }
  }

  return {
    owner,
    hasRoom,
    enter: turnstile.enter,
    isLeaving: () => leaving.signal.aborted,
    leave,
    lease: (of) => (hasRoom(of) ? { owner, leaseMs } : null),
    reserve,
    take: (tx, runId) => takeRun(tx, { runId, owner, leaseMs }),
    perform,
    whileWaiting,
    renew: heartbeat.beat,
    hasRunOf: (of) => countOf(userOf(of)) > 0,
    counts: () => ({ running: running.size - setAside, setAside }),
    waitingMessages: turnstile.waiting,
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
      void heartbeat.stop();
    },
  };
}
