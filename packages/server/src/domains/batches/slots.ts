import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { type BatchReference, lockBatch } from './store.ts';
import type { BatchItemRow, BatchRow } from './tables.ts';

/** How many items the org's own agent works on at a time, over all batches of an org and mode. */
export const mostOfOwnAgent = 5;

const running = {
  name: 'batch_slots',
  text: `SELECT count(*)::int AS running, count(*) FILTER (WHERE slot = 'held')::int AS held
    FROM batch_items WHERE batch_id = $1 AND status = 'running'`,
};

/** Of a batch whose row is held. What ends meanwhile only makes room. */
export async function slotsOf(
  tx: Transaction,
  { id, concurrency }: BatchRow,
): Promise<{ running: number; free: number }> {
  const [found] = await runPrepared<{ running: number; held: number }>(tx, running, [id]);
  const { running: all, held } = found as { running: number; held: number };
  return { running: all, free: Math.max(0, concurrency - held) };
}

const lockOwnAgent = {
  name: 'lock_own_agent_of_batches',
  text: `SELECT pg_advisory_xact_lock(hashtextextended('vestra batch items of the own agent ' || $1 || ' ' || $2, 0))`,
};
const ofOwnAgent = {
  name: 'own_agent_of_batches',
  text: `SELECT count(*)::int AS held FROM batch_items
    WHERE org_id = $1 AND mode = $2 AND slot = 'held' AND user_id IS NULL`,
};

/** What the org's own agent has free. Whoever asks gives out alone until the transaction ends, after their batch's row. */
async function freeOfOwnAgent(tx: Transaction, { orgId, mode }: Tenant): Promise<number> {
  await runPrepared(tx, lockOwnAgent, [orgId, mode]);
  const [found] = await runPrepared<{ held: number }>(tx, ofOwnAgent, [orgId, mode]);
  return Math.max(0, mostOfOwnAgent - (found?.held ?? 0));
}

const queued = {
  name: 'queued_batch_items',
  text: `(SELECT item_index, user_id, message, context, metadata FROM batch_items
      WHERE batch_id = $1 AND status = 'queued' AND user_id IS NOT NULL ORDER BY item_index LIMIT $2)
    UNION ALL (SELECT item_index, user_id, message, context, metadata FROM batch_items
      WHERE batch_id = $1 AND status = 'queued' AND user_id IS NULL ORDER BY item_index LIMIT $3)
    ORDER BY item_index LIMIT $2`,
};
const hasQueued = {
  name: 'has_queued_batch_items',
  text: `SELECT EXISTS (SELECT FROM batch_items WHERE batch_id = $1 AND status = 'queued' AND user_id IS NULL) AS of_org,
    EXISTS (SELECT FROM batch_items WHERE batch_id = $1 AND status = 'queued' AND user_id IS NOT NULL) AS of_users`,
};

export type QueuedItem = Pick<BatchItemRow, 'item_index' | 'user_id' | 'context' | 'metadata'> & { message: string };

/** What may begin now, in the order sent, of a batch whose row is held. `isAllBegun`: nothing is left that could later. */
export async function nextItems(
  tx: Transaction,
  batch: BatchRow,
  most: number,
): Promise<{ items: QueuedItem[]; isAllBegun: boolean }> {
  const [left] = await runPrepared<{ of_org: boolean; of_users: boolean }>(tx, hasQueued, [batch.id]);
  const isAllBegun = !left?.of_org && !left?.of_users;
  if (isAllBegun || most === 0) return { items: [], isAllBegun };
  const ofOrg = left?.of_org ? await freeOfOwnAgent(tx, { orgId: batch.org_id, mode: batch.mode }) : 0;
  return { items: await runPrepared<QueuedItem>(tx, queued, [batch.id, most, ofOrg]), isAllBegun };
}

const takeOne = {
  name: 'set_batch_item_slot',
  text: `UPDATE batch_items SET slot = $3 WHERE batch_id = $1 AND item_index = $2 AND status = 'running'`,
};

export type SlotOwner = BatchReference & { index: number; userId: string | null };

/** A slot for an item that has its answer; where none is free it is noted that it wants one. */
export async function takeSlot(tx: Transaction, { index, userId, ...reference }: SlotOwner): Promise<boolean> {
  const batch = await lockBatch(tx, reference);
  const isFree =
    !batch || ((await slotsOf(tx, batch)).free > 0 && (userId !== null || (await freeOfOwnAgent(tx, reference)) > 0));
  await runPrepared(tx, takeOne, [reference.batchId, index, isFree ? 'held' : 'wanted']);
  return isFree;
}
