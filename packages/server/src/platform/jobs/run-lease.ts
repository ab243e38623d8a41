import type { Executor, Transaction } from '../db/pool.ts';
import { one, rowsOf, rowsStatement, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { count, text } from '../db/table.ts';
import { leaseEnd } from './lease.ts';

/** The ownership of a run. The epoch increases with each takeover. */
export type RunLease = { runId: string; epoch: number };

/** Another process owns the run, so this transaction must write nothing. */
export class RunTakenOver extends Error {
  override readonly name = 'RunTakenOver';

  constructor({ runId, epoch }: RunLease) {
    super(`The run ${runId} is no longer owned by epoch ${epoch}: another process has taken it over.`);
  }
}

/**
 * Makes `owner` the owner of the run, even if it had another one. Waits for a step that the previous owner is committing.
 */
export async function takeRun(
  executor: Executor,
  { runId, owner, leaseMs }: { runId: string; owner: string; leaseMs: number },
): Promise<RunLease> {
  const { epoch } = await one(
    executor,
    { epoch: count() },
    sql`INSERT INTO runs (id, epoch, owner, lease_until)
      VALUES (${runId}, nextval('run_epochs'), ${owner}, ${leaseEnd(leaseMs)})
      ON CONFLICT (id) DO UPDATE
        SET epoch = excluded.epoch, owner = excluded.owner, lease_until = excluded.lease_until, started_at = now()
      RETURNING epoch`,
  );
  return { runId, epoch };
}

/** Takes new runs, in the pipeline that creates them. */
export const takeNewRunsStatement = (
  runIds: readonly string[],
  { owner, leaseMs }: { owner: string; leaseMs: number },
) =>
  rowsStatement(
    { id: text(), epoch: count() },
    sql`INSERT INTO runs (id, epoch, owner, lease_until)
      SELECT id, nextval('run_epochs'), ${owner}, ${leaseEnd(leaseMs)}
      FROM unnest(${runIds}::text[]) AS id RETURNING id, epoch`,
  );

/**
 * Must be called in the transaction of each step before it writes. Throws RunTakenOver if the run has another owner, and
 * blocks a takeover until the transaction ends.
 */
export async function holdRun(tx: Transaction, owned: RunLease): Promise<void> {
  const held = sql`SELECT FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch} FOR NO KEY UPDATE`;
  if ((await run(tx, held)) === 0) throw new RunTakenOver(owned);
}

/** Whether the run still has this owner. Only a hint: `holdRun` decides in the transaction that writes. */
export const isHeld = async (db: Executor, { runId, epoch }: RunLease): Promise<boolean> =>
  (await run(db, sql`SELECT FROM runs WHERE id = ${runId} AND epoch = ${epoch}`)) > 0;

/**
 * Renews the leases and returns the runs that the owner still has. A run that is locked by its own step gets a separate
 * statement, because one statement that waits for a lock would block the steps of all other runs.
 */
export async function renewLeases(
  db: Executor,
  { runIds, owner, leaseMs }: { runIds: readonly string[]; owner: string; leaseMs: number },
): Promise<{ id: string; epoch: number }[]> {
  const shape = { id: text(), epoch: count() };
  const renewed = sql`lease_until = ${leaseEnd(leaseMs)}`;
  const owned = await rowsOf(
    db,
    shape,
    sql`WITH unlocked AS (
        SELECT id FROM runs WHERE id = ANY(${runIds}) AND owner = ${owner} FOR NO KEY UPDATE SKIP LOCKED
      )
      UPDATE runs SET ${renewed} FROM unlocked WHERE runs.id = unlocked.id RETURNING runs.id, epoch`,
  );
  const seen = new Set(owned.map(({ id }) => id));
  for (const runId of runIds) {
    if (seen.has(runId)) continue;
    const alone = sql`UPDATE runs SET ${renewed} WHERE id = ${runId} AND owner = ${owner} RETURNING id, epoch`;
    owned.push(...(await rowsOf(db, shape, alone)));
  }
  return owned;
}

/** Ends the run, in the transaction of its last step. */
export async function releaseRun(executor: Executor, owned: RunLease): Promise<void> {
  const ended = await run(executor, sql`DELETE FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch}`);
  if (ended === 0) throw new RunTakenOver(owned);
}

/** True until the lease expires. If the owner has died, the sweep finds the run later. */
export async function isOwned(tx: Transaction, runId: string): Promise<boolean> {
  return (await run(tx, sql`SELECT FROM runs WHERE id = ${runId} AND lease_until > clock_timestamp()`)) > 0;
}

/**
 * Takes runs with an expired lease from their owners and returns their ids. The same transaction must send the jobs that
 * continue them, so that each run is found once and always has a job.
 */
export async function takeExpiredRuns(
  tx: Transaction,
  { prefix, limit }: { prefix: string; limit: number },
): Promise<string[]> {
  // Skip locked rows: their owner is alive and is writing a step.
  const rows = await rowsOf(
    tx,
    { id: text() },
    sql`DELETE FROM runs WHERE id IN (
      SELECT id FROM runs WHERE lease_until < clock_timestamp() AND starts_with(id, ${prefix})
      ORDER BY lease_until LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ) RETURNING id`,
  );
  return rows.map(({ id }) => id);
}
