import type { Tenant } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { pipelined, rowsOf, rowsStatement, run, runStatement } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, count, text } from '../../platform/db/table.ts';
import { type BatchReference, lockBatch, lockBatchStatement } from './store.ts';
import { type BatchItemRow, type BatchRow, batchItems } from './tables.ts';

/** Concurrent items of the org's own agent, over all batches of an org and mode. */
export const maxOfOwnAgent = 5;

type Slots = { running: number; free: number };

/** Whether queued items are left: of the org's own agent, and of users. */
type Left = { of_org: boolean; of_users: boolean };

/** Locks the row of a batch and counts its slots. Items that end meanwhile only free slots. */
export async function holdBatch(
  tx: Transaction,
  reference: BatchReference,
): Promise<{ batch: BatchRow; slots: Slots; left: Left } | undefined> {
  const { batchId } = reference;
  const [[batch], [counted], [left]] = await pipelined(tx, [
    lockBatchStatement(reference),
    countSlotsStatement(batchId),
    findQueuedStatement(batchId),
  ]);
  if (!batch || !counted || !left) return undefined;
  return { batch, slots: slotsIn(batch, counted), left };
}

/** The row of the batch must be locked. */
export async function slotsOf(tx: Transaction, batch: BatchRow): Promise<Slots> {
  const [[counted]] = await pipelined(tx, [countSlotsStatement(batch.id)]);
  return slotsIn(batch, counted as Counted);
}

type Counted = { running: number; held: number };

const slotsIn = ({ concurrency }: BatchRow, { running: all, held }: Counted): Slots => ({
  running: all,
  free: Math.max(0, concurrency - held),
});

const countSlotsStatement = (batchId: string) =>
  rowsStatement(
    { running: count(), held: count() },
    sql`SELECT count(*) AS running, count(*) FILTER (WHERE slot = 'held') AS held
      FROM batch_items WHERE batch_id = ${batchId} AND status = 'running'`,
  );

/** Items that hold a slot and run in the process with this id. */
export async function countItemsRunBy(tx: Transaction, batchId: string, owner: string): Promise<number> {
  const [found] = await rowsOf(
    tx,
    { own: count() },
    sql`SELECT count(*) AS own FROM batch_items i JOIN runs r ON r.id = i.task_id
      WHERE i.batch_id = ${batchId} AND i.status = 'running' AND i.slot = 'held' AND r.owner = ${owner}`,
  );
  return found?.own ?? 0;
}

const findQueuedStatement = (batchId: string) =>
  rowsStatement(
    { of_org: boolean(), of_users: boolean() },
    sql`SELECT
      EXISTS (SELECT FROM batch_items WHERE batch_id = ${batchId} AND status = 'queued' AND user_id IS NULL) AS of_org,
      EXISTS (SELECT FROM batch_items WHERE batch_id = ${batchId} AND status = 'queued' AND user_id IS NOT NULL)
        AS of_users`,
  );

/**
 * Free slots of the org's own agent. The lock makes callers take them one at a time; lock the row of the batch first.
 */
async function freeOfOwnAgent(tx: Transaction, { orgId, mode }: Tenant): Promise<number> {
  const lock = `vestra batch items of the own agent ${orgId} ${mode}`;
  const [, [found]] = await pipelined(tx, [
    runStatement(sql`SELECT pg_advisory_xact_lock(hashtextextended(${lock}, 0))`),
    rowsStatement(
      { held: count() },
      sql`SELECT count(*) AS held FROM batch_items
        WHERE org_id = ${orgId} AND mode = ${mode} AND slot = 'held' AND user_id IS NULL`,
    ),
  ]);
  return Math.max(0, maxOfOwnAgent - (found?.held ?? 0));
}

const { item_index, user_id, context, success_criteria, metadata } = batchItems.columns;
const queuedShape = { item_index, user_id, message: text(), context, success_criteria, metadata };

export type QueuedItem = Pick<BatchItemRow, 'item_index' | 'user_id' | 'context' | 'success_criteria' | 'metadata'> & {
  message: string;
};

/** Items that may start now, in the order sent. The row of the batch must be locked. */
export async function nextItems(tx: Transaction, batch: BatchRow, left: Left, most: number): Promise<QueuedItem[]> {
  if (most === 0 || (!left.of_org && !left.of_users)) return [];
  const ofOrg = left.of_org ? await freeOfOwnAgent(tx, { orgId: batch.org_id, mode: batch.mode }) : 0;
  return rowsOf(
    tx,
    queuedShape,
    sql`(SELECT item_index, user_id, message, context, success_criteria, metadata FROM batch_items
        WHERE batch_id = ${batch.id} AND status = 'queued' AND user_id IS NOT NULL ORDER BY item_index LIMIT ${most})
      UNION ALL (SELECT item_index, user_id, message, context, success_criteria, metadata FROM batch_items
        WHERE batch_id = ${batch.id} AND status = 'queued' AND user_id IS NULL ORDER BY item_index LIMIT ${ofOrg})
      ORDER BY item_index LIMIT ${most}`,
  );
}

/** Answered items that wait for a slot to resume, in the order sent. */
export const itemsWantingSlots = (db: Database, batchId: string, limit: number) =>
  rowsOf(
    db,
    { item_index, user_id, conversation_id: text(), task_id: text() },
    sql`SELECT item_index, user_id, conversation_id, task_id FROM batch_items
      WHERE batch_id = ${batchId} AND status = 'running' AND slot = 'wanted' ORDER BY item_index LIMIT ${limit}`,
  );

export type SlotOwner = BatchReference & { index: number; userId: string | null };

/** Takes a slot for an answered item. If none is free, the item is marked as wanting one. */
export async function takeSlot(tx: Transaction, { index, userId, ...reference }: SlotOwner): Promise<boolean> {
  const batch = await lockBatch(tx, reference);
  const isFree =
    !batch || ((await slotsOf(tx, batch)).free > 0 && (userId !== null || (await freeOfOwnAgent(tx, reference)) > 0));
  const slot = isFree ? 'held' : 'wanted';
  await run(
    tx,
    sql`UPDATE batch_items SET slot = ${slot}
      WHERE batch_id = ${reference.batchId} AND item_index = ${index} AND status = 'running'`,
  );
  return isFree;
}

/** Divides the slots of a batch among the processes that run tasks. */
export type BatchSharing = {
  /** The number of processes that run tasks, this one included. */
  workers: () => number;
  /** This process has its share and leaves free slots to the others. */
  leave: (batch: BatchReference) => void;
  stop: () => void;
};

/** Time for the other processes to take their shares. Then this process takes the rest, because they may be gone or full. */
const shareGraceMs = 2_000;

export function createBatchSharing(dependencies: {
  workers: () => number;
  /** Notifies the other processes that the batch has free slots. */
  offer: (batchId: string) => void;
  takeRest: (batch: BatchReference) => void;
}): BatchSharing {
  const { workers, offer, takeRest } = dependencies;
  const timers = new Map<string, NodeJS.Timeout>();
  return {
    workers,
    leave(batch) {
      offer(batch.batchId);
      if (timers.has(batch.batchId)) return;
      const timer = setTimeout(() => {
        timers.delete(batch.batchId);
        takeRest(batch);
      }, shareGraceMs);
      timers.set(batch.batchId, timer.unref());
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** How many more items of a batch a process may start: its share, without those that it runs already. */
export const shareLeft = ({ concurrency, workers, own }: { concurrency: number; workers: number; own: number }) =>
  Math.max(0, Math.ceil(concurrency / workers) - own);
