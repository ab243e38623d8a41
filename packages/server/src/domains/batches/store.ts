import { and, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { tasks, turns } from '../engine/api.ts';
import { type BatchItemRow, type BatchRow, batches, batchItems, type Counts } from './tables.ts';

type Page = { limit: number; after: readonly string[] | null };

/** Where a batch lies. */
export type BatchReference = { orgId: string; mode: BatchRow['mode']; batchId: string };

const owned = ({ orgId, mode }: Tenant) => and(eq(batches.org_id, orgId), eq(batches.mode, mode));
const one = ({ batchId, ...tenant }: BatchReference) => and(owned(tenant), eq(batches.id, batchId));

export type NewItem = {
  user_id: string | null;
  message: string;
  context: Record<string, unknown> | null;
  metadata: Record<string, string>;
};

export async function insertBatch(tx: Transaction, row: typeof batches.$inferInsert): Promise<BatchRow> {
  const [inserted] = await tx.insert(batches).values(row).returning();
  return inserted as BatchRow;
}

const itemsAtOnce = 1000;

/** In a statement whose text does not depend on how many there are. */
export async function insertItems(tx: Transaction, batch: BatchRow, items: readonly NewItem[]): Promise<void> {
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    const rows = items.slice(from, from + itemsAtOnce).map((item, at) => ({ item_index: from + at, ...item }));
    await tx.execute(sql`
      INSERT INTO batch_items (batch_id, org_id, mode, item_index, user_id, message, context, metadata)
      SELECT ${batch.id}, ${batch.org_id}, ${batch.mode}, item_index, user_id, message, context, metadata
      FROM json_to_recordset(${JSON.stringify(rows)}::json)
        AS i(item_index integer, user_id text, message text, context json, metadata json)`);
  }
}

export async function findBatch(db: Executor, reference: BatchReference): Promise<BatchRow | undefined> {
  const [row] = await db.select().from(batches).where(one(reference));
  return row;
}

/** Held until the transaction ends: slots are given out and batches ended by one at a time. */
export async function lockBatch(tx: Transaction, reference: BatchReference): Promise<BatchRow | undefined> {
  const [row] = await tx.select().from(batches).where(one(reference)).for('no key update');
  return row;
}

export async function updateBatch(
  tx: Transaction,
  { org_id: orgId, mode, id: batchId }: BatchRow,
  changes: Partial<BatchRow>,
): Promise<BatchRow> {
  const [row] = await tx.update(batches).set(changes).where(one({ orgId, mode, batchId })).returning();
  return row as BatchRow;
}

/** Newest first. */
export function listBatches(db: Executor, tenant: Tenant, { limit, after }: Page): Promise<BatchRow[]> {
  return db
    .select()
    .from(batches)
    .where(and(owned(tenant), after ? lt(batches.id, after[0] as string) : undefined))
    .orderBy(desc(batches.id))
    .limit(limit + 1);
}

export type Standing = { counts: Counts; spentMicros: bigint };

/** How the items of batches stand and what they have cost so far, those that are under way included. */
export async function standingsOf(db: Executor, batchIds: readonly string[]): Promise<Map<string, Standing>> {
  if (batchIds.length === 0) return new Map();
  const { rows } = await db.execute<Record<keyof Counts, number> & { batch_id: string; micros: string }>(sql`
    SELECT i.batch_id, ${sql.join(
      (['queued', 'running', 'succeeded', 'failed', 'cancelled'] satisfies (keyof Counts)[]).map(
        (status) => sql`count(*) FILTER (WHERE i.status = ${status})::int AS ${sql.identifier(status)}`,
      ),
      sql`, `,
    )}, COALESCE(sum(i.cost_micros), 0) + COALESCE((
      SELECT sum(l.amount_micros) FROM batch_items r JOIN ledger_entries l ON l.task_id = r.task_id AND l.account = 'spend'
      WHERE r.batch_id = i.batch_id AND r.status = 'running'), 0) AS micros
    FROM batch_items i WHERE i.batch_id = ANY(${sql.param([...batchIds])}::text[]) GROUP BY i.batch_id`);
  return new Map(rows.map(({ batch_id, micros, ...counts }) => [batch_id, { counts, spentMicros: BigInt(micros) }]));
}

export type ShownItem = BatchItemRow & {
  reply: string | null;
  text: string | null;
  data: unknown;
  outcome_met: boolean | null;
  outcome_reason: string | null;
};

/** In the order in which they were sent, each with what came of it. */
export async function listItems(db: Executor, batchId: string, { limit, after }: Page): Promise<ShownItem[]> {
  const rows = await db
    .select({
      item: batchItems,
      reply: turns.acknowledgement,
      text: turns.reply_text,
      data: turns.reply_data,
      outcome_met: tasks.outcome_met,
      outcome_reason: tasks.outcome_reason,
    })
    .from(batchItems)
    .leftJoin(turns, eq(turns.id, batchItems.turn_id))
    .leftJoin(
      tasks,
      and(eq(tasks.org_id, batchItems.org_id), eq(tasks.mode, batchItems.mode), eq(tasks.id, batchItems.task_id)),
    )
    .where(and(eq(batchItems.batch_id, batchId), after ? gt(batchItems.item_index, Number(after[0])) : undefined))
    .orderBy(asc(batchItems.item_index))
    .limit(limit + 1);
  return rows.map(({ item, ...came }) => ({ ...item, ...came }));
}

/** Ends items that never began. Returns how many there were. */
export async function failQueued(
  tx: Transaction,
  batchId: string,
  error: { code: string; message: string },
  indices: readonly number[] | null,
): Promise<void> {
  await tx
    .update(batchItems)
    .set({
      status: 'failed',
      error_code: error.code,
      error_message: error.message,
      message: null,
      context: null,
      finished_at: sql`now()`,
    })
    .where(
      and(
        eq(batchItems.batch_id, batchId),
        eq(batchItems.status, 'queued'),
        indices ? inArray(batchItems.item_index, [...indices]) : undefined,
      ),
    );
}

export async function cancelQueued(tx: Transaction, batchId: string): Promise<void> {
  await tx
    .update(batchItems)
    .set({ status: 'cancelled', message: null, context: null, finished_at: sql`now()` })
    .where(and(eq(batchItems.batch_id, batchId), eq(batchItems.status, 'queued')));
}

export type StartedItem = { item_index: number; conversation_id: string; turn_id: string; task_id: string | null };

export async function markStarted(tx: Transaction, batchId: string, started: readonly StartedItem[]): Promise<void> {
  await tx.execute(sql`
    UPDATE batch_items SET status = 'running', slot = 'held', message = NULL, context = NULL,
      conversation_id = s.conversation_id, turn_id = s.turn_id, task_id = s.task_id
    FROM json_to_recordset(${JSON.stringify(started)}::json)
      AS s(item_index integer, conversation_id text, turn_id text, task_id text)
    WHERE batch_id = ${batchId} AND batch_items.item_index = s.item_index`);
}
