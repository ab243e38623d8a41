import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, one, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, text } from '../../platform/db/table.ts';
import { hasJob } from '../../platform/jobs/queue.ts';
import { takeExpiredRuns } from '../../platform/jobs/run-lease.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { type ImprovementRow, improvements, type ReplayRow, replays, type TestRunRow, testRuns } from '../tables.ts';

/** The statements below use only columns that all of these tables have. */
export type PlayTable = typeof testRuns | typeof replays | typeof improvements;
export type PlayRow = TestRunRow | ReplayRow | ImprovementRow;

/** Neither a play nor one of its items leaves any other status. */
export const isOpen = sql`status IN ('queued', 'running')`;

export const isOpenStatus = (status: string): boolean => status === 'queued' || status === 'running';

const locks = { share: sql`FOR SHARE`, update: sql`FOR UPDATE` };

/**
 * Locks the row until the transaction ends. To avoid deadlocks, every writer takes this row first, then the ownership
 * of the run, then the items.
 */
export const lockPlay = (
  tx: Transaction,
  table: PlayTable,
  id: string,
  strength: keyof typeof locks,
): Promise<PlayRow | undefined> =>
  maybeOne(tx, table, sql`SELECT ${columnsOf(table)} FROM ${table} WHERE id = ${id} ${locks[strength]}`);

/** A row that was running before is resumed. */
export const beginPlay = (tx: Transaction, table: PlayTable, id: string): Promise<PlayRow> =>
  one(
    tx,
    table,
    sql`UPDATE ${table} SET status = 'running', started_at = coalesce(started_at, ${new Date()}),
          resumes = resumes + CASE WHEN status = 'running' THEN 1 ELSE 0 END
        WHERE id = ${id} RETURNING ${columnsOf(table)}`,
  );

export async function finishPlay(
  tx: Transaction,
  table: PlayTable,
  id: string,
  end: Pick<PlayRow, 'status' | 'error_code'>,
): Promise<void> {
  await update(tx, table as typeof replays, { ...(end as ReplayRow), finished_at: new Date() }, sql`id = ${id}`);
}

/** Ends a row that has not ended. Returns whether there was anything to end; the items are the caller's to cancel. */
export async function cancelPlay(tx: Transaction, table: PlayTable, owner: Sql, id: string): Promise<boolean> {
  const ended = await run(
    tx,
    sql`UPDATE ${table} SET status = 'cancelled', finished_at = now() WHERE ${owner} AND id = ${id} AND ${isOpen}`,
  );
  if (ended === 0) return false;
  // Without an owner, no process writes to the play after this commit.
  await run(tx, sql`DELETE FROM runs WHERE id = ${id}`);
  return true;
}

/** Open rows that no process plays and that have no job, oldest first. An improvement plays its own test runs and replays. */
const unplayed = (db: Executor, { table, job }: PlayQueue, limit: number): Promise<{ id: string; org_id: string }[]> =>
  rowsOf(
    db,
    { id: text(), org_id: text() },
    sql`SELECT id, org_id FROM ${table} played
        WHERE ${isOpen} ${'improvement_id' in table.columns ? sql`AND improvement_id IS NULL` : sql.empty}
          AND NOT EXISTS (SELECT FROM runs WHERE runs.id = played.id) AND NOT ${hasJob(job, sql`played.id`)}
        ORDER BY created_at LIMIT ${limit}`,
  );

/** Where plays of one kind are, and the job that plays them. */
export type PlayQueue = {
  name: 'test runs' | 'replays' | 'improvements';
  table: PlayTable;
  /** Ids of the rows begin with it. */
  prefix: 'trun_' | 'rpl_' | 'imp_';
  job: 'test_run.play' | 'replay.play' | 'improvement.run';
  sendJobs: (
    sweep: Parameters<SweepSource['find']>[0],
    rows: readonly { id: string; org_id: string }[],
  ) => Promise<unknown>;
};

export const testRunQueue: PlayQueue = {
  name: 'test runs',
  table: testRuns,
  prefix: 'trun_',
  job: 'test_run.play',
  sendJobs: ({ tx, jobs }, rows) =>
    jobs.sendMany(
      tx,
      'test_run.play',
      rows.map(({ id, org_id }) => ({ org_id, run_id: id })),
    ),
};

export const replayQueue: PlayQueue = {
  name: 'replays',
  table: replays,
  prefix: 'rpl_',
  job: 'replay.play',
  sendJobs: ({ tx, jobs }, rows) =>
    jobs.sendMany(
      tx,
      'replay.play',
      rows.map(({ id, org_id }) => ({ org_id, replay_id: id })),
    ),
};

export const improvementQueue: PlayQueue = {
  name: 'improvements',
  table: improvements,
  prefix: 'imp_',
  job: 'improvement.run',
  sendJobs: ({ tx, jobs }, rows) =>
    jobs.sendMany(
      tx,
      'improvement.run',
      rows.map(({ id, org_id }) => ({ org_id, improvement_id: id })),
    ),
};

/** Plays whose process died, and plays that have neither a process nor a job. */
export const unfinishedPlays = (queue: PlayQueue): SweepSource => ({
  name: queue.name,
  async find(sweep) {
    const { tx, limit } = sweep;
    const expired = await takeExpiredRuns(tx, { prefix: queue.prefix, limit });
    const left = await unplayed(tx, queue, limit);
    await queue.sendJobs(sweep, left);
    return Math.max(left.length, expired.length);
  },
});
