import { maxHoldsTogether } from '../../billing/index.ts';
import {
  announce,
  type Committed,
  changeConversation,
  type Engine,
  goOnWithTask,
  ignoreErased,
  type Place,
} from '../../engine/index.ts';
import { findTask } from '../../engine/tasks/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { completeBatch } from './complete.ts';
import { holdBatch, itemsWantingSlots, nextItems, takeSlot } from './slots.ts';
import { ItemsRefused, startItems } from './start-items.ts';
import { type BatchReference, failQueued, lockBatch, waitingForOwnAgent } from './store.ts';

/** So many items begin in one transaction: few enough that nobody waits long for the batch's row. */
const groupSize = maxHoldsTogether;

/** Gives the free slots of a batch to items that wait for one, and ends the batch when nothing is left. */
export async function advanceBatch(engine: Engine, batch: BatchReference): Promise<void> {
  await letAnsweredGoOn(engine, batch);
  while (await beginGroup(engine, batch));
}

/** After an item of the org's own agent has made room: for whichever batch has waited longest. */
export async function advanceOwnAgent(engine: Engine, { orgId, mode, batchId }: BatchReference): Promise<void> {
  const reference = { orgId, mode, batchId };
  for (const id of await waitingForOwnAgent(engine.db, reference)) {
    await advanceBatch(engine, { orgId, mode, batchId: id });
  }
}

/** True where more may begin. */
async function beginGroup(engine: Engine, reference: BatchReference): Promise<boolean> {
  const places: Place[] = [];
  const giveBack = () => {
    for (const place of places.splice(0)) place.giveBack();
  };
  try {
    const { begun, isMoreToCome } = await transaction(engine.db, (tx) => {
      // It may be tried again.
      giveBack();
      return beginInside(engine, tx, reference, places);
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

async function beginInside(
  engine: Engine,
  tx: Transaction,
  reference: BatchReference,
  places: Place[],
): Promise<{ begun: Committed[]; isMoreToCome: boolean }> {
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

/** Items that have their answer come before those that have not begun. The conversation is held before the batch. */
async function letAnsweredGoOn(engine: Engine, { orgId, mode, batchId }: BatchReference): Promise<void> {
  const tenant: Tenant = { orgId, mode };
  const rows = await itemsWantingSlots(engine.db, batchId, 100);
  for (const item of rows) {
    const hasSlot = await changeConversation(engine, item.conversation_id, null, async (change) => {
      const task = await findTask(change.tx, tenant, item.task_id);
      if (task?.status !== 'waiting') return true;
      const owner = { ...tenant, batchId, index: item.item_index, userId: item.user_id };
      if (!(await takeSlot(change.tx, owner))) return false;
      await goOnWithTask(change, task);
      return true;
    }).catch(ignoreErased);
    if (hasSlot === false) return;
  }
}
