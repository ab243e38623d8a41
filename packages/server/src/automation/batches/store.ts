import type { TurnRow } from '../../engine/conversations/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Statement } from '../../platform/db/pipeline.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import {
  insert,
  maybeOne,
  pipelined,
  rowsOf,
  rowsStatement,
  run,
  runStatement,
  updateOne,
} from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, count, integer, json, micros, type NewRowOf, text } from '../../platform/db/table.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { EraseConversations, EraseStep } from '../../platform/registration.ts';
import { type BatchCounts, type BatchItemRow, type BatchRow, batches, batchItems } from './tables.ts';

type Page = { limit: number; after: readonly string[] | null };

export type BatchReference = { orgId: string; mode: BatchRow['mode']; batchId: string };

const columns = columnsOf(batches);
const owned = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;
const named = ({ batchId, ...tenant }: BatchReference) => sql`${owned(tenant)} AND id = ${batchId}`;

type NewItem = {
  user_id: string | null;
  message: string;
  context: Record<string, unknown> | null;
  success_criteria: string | null;
  metadata: Record<string, string>;
};

export const insertBatch = (tx: Transaction, row: NewRowOf<typeof batches>): Promise<BatchRow> =>
  insert(tx, batches, row);

const itemsAtOnce = 1000;

/** As JSON, so that the statement text does not depend on the number of items and stays prepared. */
export async function insertItems(tx: Transaction, batch: BatchRow, items: readonly NewItem[]): Promise<void> {
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    const rows = items.slice(from, from + itemsAtOnce).map((item, at) => ({ item_index: from + at, ...item }));
    await run(
      tx,
      sql`INSERT INTO batch_items (batch_id, org_id, mode, item_index, user_id, message, context, success_criteria, metadata)
      SELECT ${batch.id}, ${batch.org_id}, ${batch.mode}, item_index, user_id, message, context, success_criteria, metadata
      FROM json_to_recordset(${sql.json(rows)})
        AS i(item_index integer, user_id text, message text, context json, success_criteria text, metadata json)`,
    );
  }
}

export const findBatch = (db: Executor, reference: BatchReference): Promise<BatchRow | undefined> =>
  maybeOne(db, batches, sql`SELECT ${columns} FROM batches WHERE ${named(reference)}`);

/** An unfinished batch, for notifications between processes, which name it by its id alone. */
export async function findReference(db: Executor, batchId: string): Promise<BatchReference | null> {
  const { org_id, mode } = batches.columns;
  const [found] = await rowsOf(
    db,
    { org_id, mode },
    sql`SELECT org_id, mode FROM batches WHERE completed_at IS NULL AND id = ${batchId}`,
  );
  return found ? { orgId: found.org_id, mode: found.mode, batchId } : null;
}

/** Locks the row until the transaction ends. One process at a time gives out slots or completes the batch. */
export const lockBatchStatement = (reference: BatchReference) =>
  rowsStatement(batches, sql`SELECT ${columns} FROM batches WHERE ${named(reference)} FOR NO KEY UPDATE`);

export async function lockBatch(tx: Transaction, reference: BatchReference): Promise<BatchRow | undefined> {
  const [[batch]] = await pipelined(tx, [lockBatchStatement(reference)]);
  return batch;
}

export async function updateBatch(
  tx: Transaction,
  { org_id: orgId, mode, id: batchId }: BatchRow,
  changes: Partial<BatchRow>,
): Promise<BatchRow> {
  return updateOne(tx, batches, changes, named({ orgId, mode, batchId }));
}

export const removeBatch = (tx: Transaction, reference: BatchReference) =>
  pipelined(tx, [
    runStatement(sql`DELETE FROM batch_items WHERE ${owned(reference)} AND batch_id = ${reference.batchId}`),
    runStatement(sql`DELETE FROM batches WHERE ${named(reference)}`),
  ]);

/** Newest first. */
export const listBatches = (db: Executor, tenant: Tenant, { limit, after }: Page): Promise<BatchRow[]> =>
  rowsOf(
    db,
    batches,
    sql`SELECT ${columns} FROM batches
      WHERE ${sql.and(owned(tenant), after && sql`id < ${after[0] as string}`)} ORDER BY id DESC LIMIT ${limit + 1}`,
  );

/** Other batches of the org that have waiting items of its own agent, oldest first. */
export async function batchesWaitingForOwnAgent(
  db: Executor,
  { batchId, ...tenant }: BatchReference,
): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`SELECT id FROM batches WHERE ${owned(tenant)} AND completed_at IS NULL AND id <> ${batchId}
      AND EXISTS (SELECT FROM batch_items i WHERE i.batch_id = batches.id AND i.user_id IS NULL
        AND (i.status = 'queued' OR (i.status = 'running' AND i.slot = 'wanted')))
      ORDER BY id`,
  );
  return rows.map(({ id }) => id);
}

export type BatchTotals = { counts: BatchCounts; spentMicros: bigint };

/** Item counts and cost so far, running items included. */
export async function totalsOf(db: Executor, batchIds: readonly string[]): Promise<Map<string, BatchTotals>> {
  if (batchIds.length === 0) return new Map();
  const rows = await rowsOf(
    db,
    { ...countColumns, batch_id: text(), micros: micros() },
    sql`SELECT i.batch_id, ${countedByStatus}, (COALESCE(sum(i.cost_micros), 0) + COALESCE((
        SELECT sum(l.amount_micros) FROM batch_items r
        JOIN ledger_entries l ON l.task_id = r.task_id AND l.account = 'spend'
        WHERE r.batch_id = i.batch_id AND r.status = 'running'), 0))::bigint AS micros
      FROM batch_items i WHERE i.batch_id = ANY(${batchIds}) GROUP BY i.batch_id`,
  );
  return new Map(rows.map(({ batch_id, micros: spentMicros, ...counts }) => [batch_id, { counts, spentMicros }]));
}

const statuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] satisfies (keyof BatchCounts)[];
const countColumns = { queued: count(), running: count(), succeeded: count(), failed: count(), cancelled: count() };
const countedByStatus = sql.raw(
  statuses.map((status) => `count(*) FILTER (WHERE i.status = '${status}') AS ${status}`).join(', '),
);

export type ShownItem = BatchItemRow & {
  reply: string | null;
  text: string | null;
  data: unknown;
  outcome_met: boolean | null;
  outcome_reason: string | null;
  outcome_rounds: number | null;
};

const shownShape = {
  ...batchItems.columns,
  reply: text().nullable(),
  text: text().nullable(),
  data: json().nullable(),
  outcome_met: boolean().nullable(),
  outcome_reason: text().nullable(),
  outcome_rounds: integer().nullable(),
};
const itemColumns = columnsOf(batchItems, 'i');

/** In the order sent, each with its result. */
export const listItems = (db: Executor, batchId: string, { limit, after }: Page): Promise<ShownItem[]> =>
  rowsOf(
    db,
    shownShape,
    sql`SELECT ${itemColumns}, u.acknowledgement AS reply, u.reply_text AS text, u.reply_data AS data,
        t.outcome_met, t.outcome_reason, t.outcome_rounds
      FROM batch_items i LEFT JOIN turns u ON u.id = i.turn_id
      LEFT JOIN tasks t ON t.org_id = i.org_id AND t.mode = i.mode AND t.id = i.task_id
      WHERE ${sql.and(sql`i.batch_id = ${batchId}`, after && sql`i.item_index > ${Number(after[0])}`)}
      ORDER BY i.item_index LIMIT ${limit + 1}`,
  );

/** Fails queued items: those with these indices, or all. */
export async function failQueued(
  tx: Transaction,
  batchId: string,
  error: { code: string; message: string },
  indices: readonly number[] | null,
): Promise<void> {
  const isMeant = sql.and(
    sql`batch_id = ${batchId} AND status = 'queued'`,
    indices && sql`item_index = ANY(${indices}::int[])`,
  );
  await run(
    tx,
    sql`UPDATE batch_items SET status = 'failed', error_code = ${error.code}, error_message = ${error.message},
        message = NULL, context = NULL, success_criteria = NULL, finished_at = now()
      WHERE ${isMeant}`,
  );
}

export async function cancelQueued(tx: Transaction, batchId: string): Promise<void> {
  await run(
    tx,
    sql`UPDATE batch_items SET status = 'cancelled', message = NULL, context = NULL, success_criteria = NULL, finished_at = now()
      WHERE batch_id = ${batchId} AND status = 'queued'`,
  );
}

export type StartedItem = { item_index: number; conversation_id: string; turn_id: string; task_id: string | null };

/** The row of the batch must be locked. */
export async function markStarted(tx: Transaction, batch: BatchRow, started: readonly StartedItem[]): Promise<void> {
  const { org_id: orgId, mode, id: batchId } = batch;
  await pipelined(tx, [
    runStatement(sql`UPDATE batches SET advanced_at = ${sharedDate()} WHERE ${named({ orgId, mode, batchId })}`),
    ...(started.length === 0 ? [] : [markStartedStatement(batchId, started)]),
  ]);
}

// The indices are given twice because PostgreSQL cannot estimate the JSON and would read the whole batch.
const markStartedStatement = (batchId: string, started: readonly StartedItem[]) =>
  runStatement(sql`UPDATE batch_items SET status = 'running', slot = 'held', message = NULL, context = NULL, success_criteria = NULL,
      conversation_id = s.conversation_id, turn_id = s.turn_id, task_id = s.task_id
    FROM json_to_recordset(${sql.json(started)})
      AS s(item_index integer, conversation_id text, turn_id text, task_id text)
    WHERE batch_id = ${batchId} AND batch_items.item_index = s.item_index
      AND batch_items.item_index = ANY(${started.map(({ item_index }) => item_index)}::int[])`);

export type ItemReference = Pick<BatchItemRow, 'batch_id' | 'item_index' | 'org_id' | 'mode' | 'user_id'>;

const { batch_id, item_index, org_id, mode, user_id, slot } = batchItems.columns;
const itemShape = { batch_id, item_index, org_id, mode, user_id };
const itemNames = sql.raw('batch_id, item_index, org_id, mode, user_id');

export const findItem = (tx: Executor, turnId: string) =>
  maybeOne(tx, { ...itemShape, slot }, sql`SELECT ${itemNames}, slot FROM batch_items WHERE turn_id = ${turnId}`);

export const releaseSlot = (tx: Executor, turnId: string): Promise<ItemReference | undefined> =>
  maybeOne(
    tx,
    itemShape,
    sql`UPDATE batch_items SET slot = 'given_up' WHERE turn_id = ${turnId} AND status = 'running' RETURNING ${itemNames}`,
  );

/** Read from the ledger in the transaction of the last charge, so it includes that charge. */
const costOfItem = sql`(SELECT COALESCE(sum(amount_micros), 0) FROM ledger_entries
  WHERE account = 'spend' AND task_id = batch_items.task_id)`;

export async function endItem(tx: Executor, turn: TurnRow): Promise<ItemReference | undefined> {
  const [[item]] = await pipelined(tx, [endItemStatement(turn, costOfItem)]);
  return item;
}

export function endItemStatement(turn: TurnRow, costMicros: Sql): Statement<ItemReference[]> {
  const isDone = turn.state === 'settled';
  const error = isDone ? null : (turn.error_code ?? 'stopped');
  const message = isDone ? null : (turn.error_message ?? 'The work was stopped.');
  return rowsStatement(
    itemShape,
    sql`UPDATE batch_items SET status = ${isDone ? 'succeeded' : 'failed'}, slot = NULL, error_code = ${error},
        error_message = ${message}, finished_at = now(), cost_micros = ${costMicros}
      WHERE turn_id = ${turn.id} AND status = 'running' RETURNING ${itemNames}`,
  );
}

/** Empties the items that ran in these conversations. Their status and cost stay. */
export const eraseItemsOf: EraseConversations = async (tx, { orgId, mode }, conversationIds) => {
  await run(
    tx,
    sql`UPDATE batch_items SET message = NULL, context = NULL, success_criteria = NULL, metadata = '{}', conversation_id = NULL, turn_id = NULL,
        cost_micros = COALESCE(cost_micros, (SELECT sum(amount_micros) FROM ledger_entries l
          WHERE l.account = 'spend' AND l.task_id = batch_items.task_id)),
        task_id = NULL, error_message = CASE WHEN error_code IS NOT NULL THEN 'The conversation was deleted.' END
      WHERE org_id = ${orgId} AND mode = ${mode} AND conversation_id = ANY(${conversationIds})`,
  );
};

/**
 * Erases everything of a user's items but their index. Open items fail. It must run before the conversations are
 * erased, while items can still be found by their turn.
 */
export function itemEraser(jobs: JobSender): EraseStep {
  return async (tx, { orgId, mode }, userId) => {
    // Reads `before` only, which has the locked rows: those of the UPDATE may be older, and its constraints are checked
    // before that is noticed.
    const rows = await rowsOf(
      tx,
      { batch_id: text(), was_open: boolean() },
      sql`UPDATE batch_items SET user_id = NULL, message = NULL, context = NULL, success_criteria = NULL, metadata = '{}', conversation_id = NULL,
        turn_id = NULL, slot = NULL,
        cost_micros = COALESCE(before.cost_micros, (SELECT sum(amount_micros) FROM ledger_entries l
          WHERE l.account = 'spend' AND l.task_id = before.task_id)),
        task_id = NULL,
        status = CASE WHEN before.is_open THEN 'failed' ELSE before.status END,
        error_code = CASE WHEN before.is_open THEN 'user_disabled' ELSE before.error_code END,
        error_message = CASE WHEN before.error_code IS NOT NULL OR before.is_open THEN 'The user was erased.' END,
        finished_at = COALESCE(before.finished_at, now())
      FROM (SELECT *, status IN ('queued', 'running') AS is_open FROM batch_items
        WHERE org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId} FOR UPDATE) AS before
      WHERE batch_items.batch_id = before.batch_id AND batch_items.item_index = before.item_index
      RETURNING batch_items.batch_id, before.is_open AS was_open`,
    );
    const open = new Set(rows.filter(({ was_open }) => was_open).map(({ batch_id }) => batch_id));
    await jobs.sendMany(
      tx,
      'batch.advance',
      [...open].map((batch_id) => ({ org_id: orgId, mode, batch_id })),
    );
  };
}
