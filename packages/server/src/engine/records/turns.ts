import type { Tenant } from '../../platform/caller.ts';
import { wantedRows } from '../../platform/db/joined.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type NewRowOf, text } from '../../platform/db/table.ts';
import { interactions, type TurnRow, turns } from './tables.ts';

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

/** A turn, or with `turnId` null all turns of a conversation. */
export type FollowedTurns = Tenant & { conversationId: string; turnId: string | null };

/**
 * For each of these, whether a turn is open that needs no person and no answer of the caller to continue. A call of the
 * company's own function is answered by its own program.
 */
export async function areRunning(db: Executor, wanted: readonly FollowedTurns[]): Promise<boolean[]> {
  const keyOf = (of: Pick<FollowedTurns, 'conversationId' | 'turnId'>) => `${of.conversationId} ${of.turnId ?? ''}`;
  const rows = await rowsOf(
    db,
    { key: text() },
    sql`SELECT DISTINCT wanted.key FROM ${wantedRows(
      wanted.map((each) => ({
        key: keyOf(each),
        org_id: each.orgId,
        mode: each.mode,
        conversation_id: each.conversationId,
        turn_id: each.turnId ?? '',
      })),
      ['key', 'org_id', 'mode', 'conversation_id', 'turn_id'],
    )}
      JOIN ${turns} AS turn ON turn.org_id = wanted.org_id AND turn.mode = wanted.mode
        AND turn.conversation_id = wanted.conversation_id AND (wanted.turn_id = '' OR turn.id = wanted.turn_id)
        AND turn.state IN ('queued', 'replying', 'waiting', 'working')
      WHERE NOT EXISTS (
        SELECT FROM ${interactions} AS asked
        WHERE asked.org_id = turn.org_id AND asked.mode = turn.mode AND asked.conversation_id = turn.conversation_id
          AND asked.status = 'pending' AND (asked.turn_id = turn.id OR turn.state = 'queued')
          AND (asked.type <> 'tool_call' OR asked.details ->> 'declared_by' IS NOT NULL))`,
  );
  const running = new Set(rows.map(({ key }) => key));
  return wanted.map((each) => running.has(keyOf(each)));
}

/** Replies that no process works on; those that a job is about are among them. */
export const unownedReplies = (tx: Transaction, limit: number): Promise<TurnRow[]> =>
  rowsOf(
    tx,
    turns,
    sql`SELECT ${columns} FROM turns
      WHERE state = 'replying' AND NOT EXISTS (SELECT FROM runs WHERE runs.id = turns.id) LIMIT ${limit}`,
  );

/** Ends the lease of whichever process owns the run. */
export async function deleteRun(tx: Transaction, runId: string): Promise<void> {
  await run(tx, sql`DELETE FROM runs WHERE id = ${runId}`);
}
