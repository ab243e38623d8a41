import type { Executor, Transaction } from '../../../db/pool.ts';
import { insert, maybeOne, rowsOf, run, update } from '../../../db/query.ts';
import { sql } from '../../../db/sql.ts';
import { columnsOf, type NewRowOf, text } from '../../../db/table.ts';
import { type TurnRow, turns } from './tables.ts';

const columns = columnsOf(turns);

export const insertTurn = (tx: Transaction, row: NewRowOf<typeof turns>): Promise<TurnRow> => insert(tx, turns, row);

export const findTurn = (db: Executor, id: string): Promise<TurnRow | undefined> =>
  maybeOne(db, turns, sql`SELECT ${columns} FROM turns WHERE id = ${id}`);

export const turnsOf = (db: Executor, conversationId: string): Promise<TurnRow[]> =>
  rowsOf(db, turns, sql`SELECT ${columns} FROM turns WHERE conversation_id = ${conversationId} ORDER BY ordinal`);

export const latestTurn = (db: Executor, conversationId: string): Promise<TurnRow | undefined> =>
  maybeOne(
    db,
    turns,
    sql`SELECT ${columns} FROM turns WHERE conversation_id = ${conversationId} ORDER BY ordinal DESC LIMIT 1`,
  );

export async function updateTurn(tx: Transaction, id: string, changes: Partial<TurnRow>): Promise<TurnRow> {
  const [row] = await update(tx, turns, changes, sql`id = ${id}`);
  return row as TurnRow;
}

/** The turn that a conversation goes on with once no reply is being made. */
export const nextQueuedTurn = (tx: Transaction, conversationId: string): Promise<TurnRow | undefined> =>
  maybeOne(
    tx,
    turns,
    sql`SELECT ${columns} FROM turns WHERE conversation_id = ${conversationId} AND state = 'queued'
      ORDER BY ordinal LIMIT 1`,
  );

/** The ids of the turns that began after a moment. */
export async function turnsSince(db: Executor, conversationId: string, after: Date): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`SELECT id FROM turns WHERE conversation_id = ${conversationId} AND created_at > ${after}`,
  );
  return new Set(rows.map(({ id }) => id));
}

export const openTurns = (tx: Executor, conversationId: string): Promise<TurnRow[]> =>
  rowsOf(
    tx,
    turns,
    sql`SELECT ${columns} FROM turns
      WHERE conversation_id = ${conversationId} AND state IN ('queued', 'replying', 'waiting', 'working')
      ORDER BY ordinal`,
  );

/** Replies that no process works on; those that a job is about are among them. */
export const unownedReplies = (tx: Transaction, limit: number): Promise<TurnRow[]> =>
  rowsOf(
    tx,
    turns,
    sql`SELECT ${columns} FROM turns
      WHERE state = 'replying' AND NOT EXISTS (SELECT FROM runs WHERE runs.id = turns.id) LIMIT ${limit}`,
  );

/** Fences its owner off, whoever it is. */
export async function endRun(tx: Transaction, runId: string): Promise<void> {
  await run(tx, sql`DELETE FROM runs WHERE id = ${runId}`);
}
