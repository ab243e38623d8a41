import type { Logger } from 'pino';
import type { BatchReference } from './store.ts';

/** Lets batches go on in this process as soon as one of their items has made room. */
export type Advancer = {
  /** `isOfOwnAgent`: room for the org's own agent, which other batches may be waiting for. */
  poke: (batch: BatchReference & { isOfOwnAgent: boolean }) => void;
  /** Starts nothing more, and resolves when nothing is under way. */
  stop: () => Promise<void>;
};

type Poked = Parameters<Advancer['poke']>[0];

/**
 * Of pokes that come while a batch is being looked through, one more look answers all. A poke that is lost with its
 * process is made good by the sweep.
 */
export function createAdvancer(dependencies: {
  advance: (batch: BatchReference) => Promise<void>;
  advanceOwnAgent: (batch: BatchReference) => Promise<void>;
  /** Another process goes on. */
  handOver: (batch: BatchReference) => Promise<void>;
  log: Logger;
}): Advancer {
  const { advance, advanceOwnAgent, handOver, log } = dependencies;
  const wanted = new Map<string, Poked>();
  const working = new Map<string, Promise<void>>();
  let isStopping = false;

  function poke(batch: Poked): void {
    const before = wanted.get(batch.batchId);
    wanted.set(batch.batchId, { ...batch, isOfOwnAgent: batch.isOfOwnAgent || (before?.isOfOwnAgent ?? false) });
    if (working.has(batch.batchId)) return;
    working.set(
      batch.batchId,
      work(batch.batchId).finally(() => working.delete(batch.batchId)),
    );
  }

  async function work(batchId: string): Promise<void> {
    for (let next = take(batchId); next; next = take(batchId)) {
      const { isOfOwnAgent, ...batch } = next;
      try {
        if (isStopping) await handOver(batch);
        else {
          await advance(batch);
          if (isOfOwnAgent) await advanceOwnAgent(batch);
        }
      } catch (error) {
        log.error({ err: error, batch_id: batchId }, 'a batch could not go on; it is looked at again later');
      }
    }
  }

  function take(batchId: string): Poked | undefined {
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
