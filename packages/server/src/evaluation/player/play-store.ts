import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, one, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, text } from '../../platform/db/table.ts';
import type { ImprovementRow, improvements, ReplayRow, replays, TestRunRow, testRuns } from '../tables.ts';

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

/** Open rows that no process plays, oldest first. An improvement plays its own test runs and replays. */
export const unplayed = (db: Executor, table: PlayTable, limit: number): Promise<{ id: string; org_id: string }[]> =>
  rowsOf(
    db,
    { id: text(), org_id: text() },
    sql`SELECT id, org_id FROM ${table} played
        WHERE ${isOpen} ${'improvement_id' in table.columns ? sql`AND improvement_id IS NULL` : sql.empty}
          AND NOT EXISTS (SELECT FROM runs WHERE runs.id = played.id)
        ORDER BY created_at LIMIT ${limit}`,
  );
