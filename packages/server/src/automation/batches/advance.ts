import type { Logger } from 'pino';
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
import { hasJob } from '../../platform/jobs/queue.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { completeBatch } from './batches.ts';
import {
  type BatchSharing,
  countItemsRunBy,
  holdBatch,
  itemsWantingSlots,
  maxOfOwnAgent,
  nextItems,
  shareLeft,
  takeSlot,
} from './slots.ts';
import { ItemsRefused, startItems } from './start-items.ts';
import {
  type BatchReference,
  batchesWaitingForOwnAgent,
  endItem,
  endItemStatement,
  failQueued,
  findItem,
  type ItemReference,
  lockBatch,
  releaseSlot,
} from './store.ts';
import { type BatchRow, batches } from './tables.ts';

/** Items that start in one transaction: few enough that no other writer waits long for the row of the batch. */
const groupSize = maxHoldsTogether;

/**
 * Gives the free slots of a batch to its waiting items, and completes the batch when no item is left. With `sharing`,
 * this process starts at most its share of the items. Null: it starts as many as there are slots.
 */
export async function advanceBatch(engine: Engine, batch: BatchReference, sharing: BatchSharing | null): Promise<void> {
  await resumeAnsweredItems(engine, batch);
  for (;;) {
    const { isMoreToCome, isLeftToOthers } = await startGroup(engine, batch, sharing);
    if (isLeftToOthers) sharing?.leave(batch);
    if (!isMoreToCome) return;
  }
}

/** An item of the org's own agent freed a slot that all batches of the org share: the oldest waiting batch takes it. */
export async function advanceOwnAgent(
  engine: Engine,
  { orgId, mode, batchId }: BatchReference,
  sharing: BatchSharing | null,
): Promise<void> {
  const reference = { orgId, mode, batchId };
  for (const id of await batchesWaitingForOwnAgent(engine.db, reference)) {
    await advanceBatch(engine, { orgId, mode, batchId: id }, sharing);
  }
}

/** `isMoreToCome`: more items may be able to start here. `isLeftToOthers`: slots are free beyond this process's share. */
type StartedGroup = { isMoreToCome: boolean; isLeftToOthers: boolean };

async function startGroup(
  engine: Engine,
  reference: BatchReference,
  sharing: BatchSharing | null,
): Promise<StartedGroup> {
  const places: RunSlot[] = [];
  const giveBack = () => {
    for (const place of places.splice(0)) place.release();
  };
  try {
    const { begun, ...group } = await transaction(engine.db, (tx) => {
      // `transaction` may run this function again, and then places of the first attempt would leak.
      giveBack();
      return startInTransaction(engine, tx, reference, { places, sharing });
    });
    for (const each of begun) announce(engine.announcer, each);
    return group;
  } catch (error) {
    if (!(error instanceof ItemsRefused)) throw error;
    const { failure, indices } = error;
    await transaction(engine.db, async (tx) => {
      await lockBatch(tx, reference);
      await failQueued(tx, reference.batchId, failure, indices);
    });
    return { isMoreToCome: true, isLeftToOthers: false };
  } finally {
    giveBack();
  }
}

async function startInTransaction(
  engine: Engine,
  tx: Transaction,
  reference: BatchReference,
  { places, sharing }: { places: RunSlot[]; sharing: BatchSharing | null },
): Promise<StartedGroup & { begun: CommittedChange[] }> {
  const nothing = { begun: [], isMoreToCome: false, isLeftToOthers: false };
  const held = await holdBatch(tx, reference);
  if (!held || held.batch.completed_at) return nothing;
  const { batch, slots, left } = held;
  const free = batch.status === 'running' ? slots.free : 0;
  const share = free > 0 ? await shareOf(engine, tx, batch, sharing) : free;
  const most = Math.min(free, share, groupSize);
  const items = await nextItems(tx, batch, left, most);
  if (!left.of_org && !left.of_users && slots.running === 0) await completeBatch(tx, batch);
  const isLeftToOthers = share < free && (left.of_org || left.of_users);
  if (items.length === 0) return { ...nothing, isLeftToOthers };
  const begun = await startItems(engine, tx, batch, items, places);
  return { begun, isMoreToCome: items.length === most || begun.length < items.length, isLeftToOthers: false };
}

/** A process that is alone counts nothing. */
async function shareOf(
  { runner }: Engine,
  tx: Transaction,
  { id, concurrency }: BatchRow,
  sharing: BatchSharing | null,
): Promise<number> {
  const workers = sharing?.workers() ?? 1;
  if (workers <= 1) return Number.POSITIVE_INFINITY;
  return shareLeft({ concurrency, workers, own: await countItemsRunBy(tx, id, runner.owner) });
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
    const forgotten = await rowsOf(
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
        AND NOT ${hasJob('batch.advance', sql`b.id`)}
      LIMIT ${limit}`,
    );
    await jobs.sendMany(
      tx,
      'batch.advance',
      forgotten.map(({ id, ...rest }) => ({ ...rest, batch_id: id })),
    );
    return forgotten.length;
  },
};

type PokedBatch = BatchReference & {
  isOfOwnAgent: boolean;
  /** The other processes left slots unused, so this one takes more than its share. */
  takesRest?: boolean;
};

/** Advances batches in this process as soon as one of their items frees a slot. */
type Advancer = {
  /** `isOfOwnAgent`: the slot belongs to the org's own agent, and other batches may wait for it. */
  poke: (batch: PokedBatch) => void;
  /** Starts nothing more. Resolves when no batch is being advanced. */
  stop: () => Promise<void>;
};

/**
 * Pokes that arrive while a batch is being advanced are answered by one more pass. The sweep repairs a poke that was
 * lost with its process.
 */
export function createAdvancer(dependencies: {
  advance: (batch: BatchReference, options: { takesRest: boolean }) => Promise<void>;
  advanceOwnAgent: (batch: BatchReference) => Promise<void>;
  /** Leaves the batch to another process. */
  handOver: (batch: BatchReference) => Promise<void>;
  log: Logger;
}): Advancer {
  const { advance, advanceOwnAgent, handOver, log } = dependencies;
  const wanted = new Map<string, PokedBatch>();
  const working = new Map<string, Promise<void>>();
  let isStopping = false;

  function poke(batch: PokedBatch): void {
    const before = wanted.get(batch.batchId);
    wanted.set(batch.batchId, {
      ...batch,
      isOfOwnAgent: batch.isOfOwnAgent || (before?.isOfOwnAgent ?? false),
      takesRest: batch.takesRest || (before?.takesRest ?? false),
    });
    if (working.has(batch.batchId)) return;
    working.set(
      batch.batchId,
      work(batch.batchId).finally(() => working.delete(batch.batchId)),
    );
  }

  async function work(batchId: string): Promise<void> {
    for (let next = take(batchId); next; next = take(batchId)) {
      const { isOfOwnAgent, takesRest = false, ...batch } = next;
      try {
        if (isStopping) await handOver(batch);
        else {
          await advance(batch, { takesRest });
          if (isOfOwnAgent) await advanceOwnAgent(batch);
        }
      } catch (error) {
        log.error({ err: error, batch_id: batchId }, 'failed to advance a batch; the sweep retries it');
      }
    }
  }

  function take(batchId: string): PokedBatch | undefined {
    const next = wanted.get(batchId);
    wanted.delete(batchId);
    return next;
  }

  return {
    poke,
    async stop() {
      isStopping = true;
      await Promise.all(working.values());
    },
  };
}

/** Callbacks of the engine for turns that are items of a batch. The batch advances after the commit. */
export function watchItems({ poke }: Pick<Advancer, 'poke'>): Engine['batchItems'] {
  return {
    async ended({ tx, afterwards }, turn) {
      const ended = await endItem(tx, turn);
      if (ended) afterwards(() => poke(placeOf(ended)));
    },
    endedStatement: (turn, costMicros) => ({
      statement: endItemStatement(turn, sql`${costMicros}`),
      committed: (result) => {
        const [ended] = result as ItemReference[];
        if (ended) poke(placeOf(ended));
      },
    }),
    async waits({ tx, afterwards }, turn) {
      const item = await releaseSlot(tx, turn.id);
      if (item) afterwards(() => poke(placeOf(item)));
    },
    async mayResume({ tx }, turn) {
      const item = await findItem(tx, turn.id);
      if (!item || item.slot === 'held') return true;
      const { batchId, ...place } = placeOf(item);
      return takeSlot(tx, { ...place, batchId, index: item.item_index, userId: item.user_id });
    },
  };
}

const placeOf = ({ org_id, mode, batch_id, user_id }: ItemReference) => ({
  orgId: org_id,
  mode,
  batchId: batch_id,
  isOfOwnAgent: user_id === null,
});
