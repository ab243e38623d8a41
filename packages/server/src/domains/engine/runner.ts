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
  /** Whether it may take one more where nobody waits in a queue. */
  hasRoom: () => boolean;
  isLeaving: () => boolean;
  /** From now on nothing new is taken, and what runs gives itself back at its next step. */
  leave: () => void;
  /** With what this process takes one more; null where it has no room. */
  lease: () => { owner: string; leaseMs: number } | null;
  /** Makes this process the owner, in the transaction that says there is work. */
  take: (tx: Transaction, runId: string) => Promise<Run>;
  /** Works on a run that was taken, and resolves when it has ended one way or another. */
  perform: (run: Run, work: (signal: AbortSignal) => Promise<void>) => Promise<void>;
  /** Ends a run at once if this process works on it. */
  end: (runId: string) => void;
  /** Takes nothing new, lets what runs come to its next step, and cuts what is left. */
  stop: (options: { graceMs: number }) => Promise<void>;
};

type Settings = {
  /** Runs at once. */
  capacity: number;
  /** A run whose owner has not renewed it for this long goes on in another process. */
  leaseMs: number;
  renewEveryMs: number;
};

export function createRunner({ db, log, settings }: { db: Database; log: Logger; settings: Settings }): Runner {
  const { capacity, leaseMs, renewEveryMs } = settings;
  const owner = randomUUID();
  const running = new Map<string, { run: Run; controller: AbortController; done: Promise<void> }>();
  let isLeaving = false;
  const renewing = setInterval(() => void renew(), renewEveryMs);
  renewing.unref();

  const hasRoom = () => !isLeaving && running.size < capacity;

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

  async function perform(run: Run, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    running.get(run.runId)?.controller.abort(new FencedOff(run));
    const done = work(controller.signal).catch((error: unknown) => {
      if (error instanceof FencedOff || error instanceof RunEnded) return;
      const reason = isDatabaseAway(error) ? 'the database is away' : 'it broke';
      log.error({ err: error, run_id: run.runId }, `a run could not go on: ${reason}; it is taken up again`);
    });
    const entry = { run, controller, done };
    running.set(run.runId, entry);
    await done;
    if (running.get(run.runId) === entry) running.delete(run.runId);
  }

  return {
    hasRoom,
    isLeaving: () => isLeaving,
    leave: () => {
      isLeaving = true;
    },
    lease: () => (hasRoom() ? { owner, leaseMs } : null),
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
