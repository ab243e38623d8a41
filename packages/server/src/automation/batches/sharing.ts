import type { BatchReference } from './store.ts';

/** Divides the slots of a batch among the processes that run tasks. */
export type BatchSharing = {
  /** The number of processes that run tasks, this one included. */
  workers: () => number;
  /** This process has its share and leaves free slots to the others. */
  leave: (batch: BatchReference) => void;
  stop: () => void;
};

/** Time for the other processes to take their shares. Then this process takes the rest, because they may be gone or full. */
const graceMs = 2_000;

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
      }, graceMs);
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
