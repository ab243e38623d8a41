import { maxHoldsTogether } from '../../billing/index.ts';
import {
  announce,
  type CommittedChange,
  changeConversation,
  type Engine,
  ignoreErased,
  type RunSlot,
  resumeTask,
} from '../../engine/index.ts';
import { findTask } from '../../engine/tasks/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { completeBatch } from './batches.ts';
import { holdBatch, itemsWantingSlots, maxOfOwnAgent, nextItems, takeSlot } from './slots.ts';
import { ItemsRefused, startItems } from './start-items.ts';
import { type BatchReference, batchesWaitingForOwnAgent, failQueued, lockBatch } from './store.ts';
import { batches } from './tables.ts';

/** Items that start in one transaction: few enough that no other writer waits long for the row of the batch. */
const groupSize = maxHoldsTogether;

/** Gives the free slots of a batch to its waiting items, and completes the batch when no item is left. */
export async function advanceBatch(engine: Engine, batch: BatchReference): Promise<void> {
  await resumeAnsweredItems(engine, batch);
  while (await startGroup(engine, batch));
}

/** An item of the org's own agent freed a slot that all batches of the org share: the oldest waiting batch takes it. */
export async function advanceOwnAgent(engine: Engine, { orgId, mode, batchId }: BatchReference): Promise<void> {
  const reference = { orgId, mode, batchId };
  for (const id of await batchesWaitingForOwnAgent(engine.db, reference)) {
    await advanceBatch(engine, { orgId, mode, batchId: id });
  }
}

/** Returns whether more items may be able to start. */
async function startGroup(engine: Engine, reference: BatchReference): Promise<boolean> {
  const places: RunSlot[] = [];
  const giveBack = () => {
    for (const place of places.splice(0)) place.release();
  };
  try {
    const { begun, isMoreToCome } = await transaction(engine.db, (tx) => {
      // `transaction` may run this function again, and then places of the first attempt would leak.
      giveBack();
      return startInTransaction(engine, tx, reference, places);
    });
    for (const each of begun) announce(engine.announcer, each);
    return isMoreToCome;
  } catch (error) {
    if (!(error instanceof ItemsRefused)) throw error;
    const { failure, indices } = error;
    await transaction(engine.db, async (tx) => {
      await lockBatch(tx, reference);
      await failQueued(tx, reference.batchId, failure, indices);
    });
    return true;
  } finally {
    giveBack();
  }
}

async function startInTransaction(
  engine: Engine,
  tx: Transaction,
  reference: BatchReference,
  places: RunSlot[],
): Promise<{ begun: CommittedChange[]; isMoreToCome: boolean }> {
  const nothing = { begun: [], isMoreToCome: false };
  const held = await holdBatch(tx, reference);
  if (!held || held.batch.completed_at) return nothing;
  const { batch, slots, left } = held;
  const most = batch.status === 'running' ? Math.min(slots.free, groupSize) : 0;
  const items = await nextItems(tx, batch, left, most);
  if (!left.of_org && !left.of_users && slots.running === 0) await completeBatch(tx, batch);
  if (items.length === 0) return nothing;
  const begun = await startItems(engine, tx, batch, items, places);
  return { begun, isMoreToCome: items.length === most || begun.length < items.length };
}

/** Answered items resume before queued items start. The conversation is locked before the batch, as everywhere else. */
async function resumeAnsweredItems(engine: Engine, { orgId, mode, batchId }: BatchReference): Promise<void> {
  const tenant: Tenant = { orgId, mode };
  const rows = await itemsWantingSlots(engine.db, batchId, 100);
  for (const item of rows) {
    const hasSlot = await changeConversation(engine, item.conversation_id, null, async (change) => {
      const task = await findTask(change.tx, tenant, item.task_id);
      if (task?.status !== 'waiting') return true;
      const owner = { ...tenant, batchId, index: item.item_index, userId: item.user_id };
      if (!(await takeSlot(change.tx, owner))) return false;
      await resumeTask(change, task);
      return true;
    }).catch(ignoreErased);
    if (hasSlot === false) return;
  }
}

const batchKey = { org_id: batches.columns.org_id, mode: batches.columns.mode, id: batches.columns.id };

/** Batches that could advance and did not for five seconds: the process that should have advanced them died. */
export const unfinishedBatches: SweepSource = {
  name: 'batches',
  async find({ tx, jobs, limit }) {
    const rows = await rowsOf(
      tx,
      batchKey,
      sql`SELECT b.org_id, b.mode, b.id FROM batches b
      CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE slot = 'held') AS held, count(*) FILTER (WHERE slot = 'wanted') AS wanted,
          count(*) AS running
        FROM batch_items i WHERE i.batch_id = b.id AND i.status = 'running') s
      CROSS JOIN LATERAL (
        SELECT EXISTS (SELECT FROM batch_items i WHERE i.batch_id = b.id AND i.status = 'queued' AND i.user_id IS NOT NULL) AS of_users,
          EXISTS (SELECT FROM batch_items i WHERE i.batch_id = b.id AND i.status = 'queued' AND i.user_id IS NULL) AS of_org) q
      CROSS JOIN LATERAL (
        SELECT count(*) < ${maxOfOwnAgent} AS has_room FROM batch_items i
        WHERE i.org_id = b.org_id AND i.mode = b.mode AND i.slot = 'held' AND i.user_id IS NULL) own
      WHERE b.completed_at IS NULL AND b.advanced_at < now() - interval '5 seconds' AND (
        (s.held < b.concurrency AND (s.wanted > 0 OR q.of_users OR (q.of_org AND own.has_room)))
        OR (s.running = 0 AND NOT q.of_users AND NOT q.of_org))
      LIMIT ${limit}`,
    );
    const withJob = await jobs.keysWithJob(
      tx,
      'batch.advance',
      rows.map(({ id }) => id),
    );
    const forgotten = rows.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'batch.advance',
      forgotten.map(({ id, ...rest }) => ({ ...rest, batch_id: id })),
    );
    return forgotten.length;
  },
};
