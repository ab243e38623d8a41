import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor, Transaction } from '../db/pool.ts';
import { runPrepared } from '../db/prepared.ts';

/** A run as its owner knows it. */
export type Run = { runId: string; epoch: number };

/** The run belongs to somebody else: nothing of this transaction may be written. */
export class FencedOff extends Error {
  override readonly name = 'FencedOff';

  constructor({ runId, epoch }: Run) {
    super(`The run ${runId} is no longer owned by epoch ${epoch}: another process has taken it over.`);
  }
}

const take = {
  name: 'take_run',
  text: `INSERT INTO runs (id, epoch, owner, lease_until)
    VALUES ($1, nextval('run_epochs'), $2, clock_timestamp() + $3 * interval '1 millisecond')
    ON CONFLICT (id) DO UPDATE
      SET epoch = excluded.epoch, owner = excluded.owner, lease_until = excluded.lease_until, started_at = now()
    RETURNING epoch`,
};
const hold = { name: 'hold_run', text: 'SELECT epoch FROM runs WHERE id = $1 AND epoch = $2 FOR NO KEY UPDATE' };
const giveUp = { name: 'give_up_run', text: 'DELETE FROM runs WHERE id = $1 AND epoch = $2 RETURNING id' };

/**
 * Makes `owner` the owner, whoever owned the run before, and returns the run as it is to be held from now on. Waits for
 * a step that the owner before is just committing.
 */
export async function takeRun(
  executor: Executor,
  { runId, owner, leaseMs }: { runId: string; owner: string; leaseMs: number },
): Promise<Run> {
  const [row] = await runPrepared<{ epoch: string }>(executor, take, [runId, owner, leaseMs]);
  if (!row) throw new Error(`The run ${runId} was not taken.`);
  return { runId, epoch: Number(row.epoch) };
}

/**
 * To be called in the transaction of each step, before it writes: throws FencedOff where the run has another owner, and
 * lets none take it until the transaction ends.
 */
export async function holdRun(tx: Transaction, run: Run): Promise<void> {
  const rows = await runPrepared(tx, hold, [run.runId, run.epoch]);
  if (rows.length === 0) throw new FencedOff(run);
}

/** Ends the run, in the transaction of its last step. */
export async function releaseRun(executor: Executor, run: Run): Promise<void> {
  const rows = await runPrepared(executor, giveUp, [run.runId, run.epoch]);
  if (rows.length === 0) throw new FencedOff(run);
}

/**
 * Fences off the owners of runs whose lease has run out and returns the runs' ids. The transaction that calls it sends
 * the jobs that go on with them: a run is found once, and never without a job.
 */
export async function takeExpiredRuns(
  tx: Transaction,
  { prefix, limit }: { prefix: string; limit: number },
): Promise<string[]> {
  // A run whose row is locked has an owner that is alive and just writing a step.
  const { rows } = await tx.execute(sql`
    DELETE FROM runs WHERE id IN (
      SELECT id FROM runs WHERE lease_until < clock_timestamp() AND starts_with(id, ${prefix})
      ORDER BY lease_until LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) RETURNING id`);
  return z
    .array(z.object({ id: z.string() }))
    .parse(rows)
    .map(({ id }) => id);
}
