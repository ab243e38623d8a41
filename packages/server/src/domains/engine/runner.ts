import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { isDatabaseAway } from '../../db/away.ts';
import type { Database, Transaction } from '../../db/pool.ts';
import { FencedOff, type Run, takeRun } from '../../jobs/fence.ts';

/** Why a run was ended from outside: it is no failure, and whoever ended it has written what came of it. */
export class RunEnded extends Error {
  override readonly name = 'RunEnded';
}

/** The runs that this process works on. */
export type Runner = {
  /** Whether it may take one more of theirs where nobody waits in a queue. */
  hasRoom: (of: RunOwner) => boolean;
  isLeaving: () => boolean;
  /** From now on nothing new is taken, and what runs gives itself back at its next step. */
  leave: () => void;
  /** With what this process takes one more; null where it has no room. */
  lease: (of: RunOwner) => { owner: string; leaseMs: number } | null;
  /** Makes this process the owner, in the transaction that says there is work. */
  take: (tx: Transaction, runId: string) => Promise<Run>;
  /** Works on a run that was taken, and resolves when it has ended one way or another. */
  perform: (run: Run, of: RunOwner, work: (signal: AbortSignal) => Promise<void>) => Promise<void>;
  /** Ends a run at once if this process works on it. */
  end: (runId: string) => void;
  /** Takes nothing new, lets what runs come to its next step, and cuts what is left. */
  stop: (options: { graceMs: number }) => Promise<void>;
};

/** For whom a run is: a turn, a task or a conversation. */
export type RunOwner = { org_id: string; mode: string; user_id: string | null };

type Settings = {
  capacity: number;
  /** Of the capacity one org's and one user's at most: what goes beyond waits in the queue, and others have room. */
  ofOrg: number;
  ofUser: number;
  leaseMs: number;
  renewEveryMs: number;
};

// A dead process's run is found within 15 s and the 5 s in which the sweep looks.
const defaults: Settings = { capacity: 256, ofOrg: 192, ofUser: 64, leaseMs: 15_000, renewEveryMs: 4_000 };

export function createRunner(options: { db: Database; log: Logger; settings?: Partial<Settings> }): Runner {
  const { db, log } = options;
  const { capacity, ofOrg, ofUser, leaseMs, renewEveryMs } = { ...defaults, ...options.settings };
  const owner = randomUUID();
  const running = new Map<string, { run: Run; controller: AbortController; done: Promise<void> }>();
  const counts = new Map<string, number>();
  let isLeaving = false;
  const renewing = setInterval(() => void renew(), renewEveryMs);
  renewing.unref();

  const userOf = ({ org_id, mode, user_id }: RunOwner) => JSON.stringify([org_id, mode, user_id]);
  const countOf = (key: string) => counts.get(key) ?? 0;
  const hasRoom = (of: RunOwner) =>
    !isLeaving && running.size < capacity && countOf(of.org_id) < ofOrg && countOf(userOf(of)) < ofUser;

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
      const { rows } = await db.execute<{ id: string; epoch: string }>(sql`
        UPDATE runs SET lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        WHERE id = ANY(${sql.param(asked.map(({ run }) => run.runId))}::text[]) AND owner = ${owner} RETURNING id, epoch`);
      const owned = new Map(rows.map(({ id, epoch }) => [id, Number(epoch)]));
      for (const { run, controller } of asked) {
        if (owned.get(run.runId) !== run.epoch) controller.abort(new FencedOff(run));
      }
    } catch (error) {
      log.warn({ err: error }, 'the leases of running work could not be renewed; trying again');
    }
  }

  async function perform(run: Run, of: RunOwner, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    count(of, 1);
    running.get(run.runId)?.controller.abort(new FencedOff(run));
    const done = work(controller.signal).catch((error: unknown) => {
      if (error instanceof FencedOff || error instanceof RunEnded) return;
      const reason = isDatabaseAway(error) ? 'the database is away' : 'it broke';
      log.error({ err: error, run_id: run.runId }, `a run could not go on: ${reason}; it is taken up again`);
    });
    const entry = { run, controller, done };
    running.set(run.runId, entry);
    await done;
    count(of, -1);
    if (running.get(run.runId) === entry) running.delete(run.runId);
  }

  return {
    hasRoom,
    isLeaving: () => isLeaving,
    leave: () => {
      isLeaving = true;
    },
    lease: (of) => (hasRoom(of) ? { owner, leaseMs } : null),
    take: (tx, runId) => takeRun(tx, { runId, owner, leaseMs }),
    perform,
    end: (runId) => running.get(runId)?.controller.abort(new RunEnded('The run was stopped.')),
    async stop({ graceMs }) {
      isLeaving = true;
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
