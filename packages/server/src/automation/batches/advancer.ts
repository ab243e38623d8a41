import type { Logger } from 'pino';
import type { Engine } from '../../engine/index.ts';
import { sql } from '../../platform/db/sql.ts';
import { takeSlot } from './slots.ts';
import { type BatchReference, endItem, endItemStatement, findItem, type ItemReference, releaseSlot } from './store.ts';

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
