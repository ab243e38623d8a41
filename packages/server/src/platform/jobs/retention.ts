import { setTimeout as sleep } from 'node:timers/promises';
import { sharedDate } from '../db/clock.ts';
import { dropExpired, extendPartitions, type PartitionGroup } from '../db/partitions.ts';
import type { Database } from '../db/pool.ts';

/** Deletes rows after a number of days. Each module has rules for its own tables. */
export type PruneRule = {
  days: number;
  /** Deletes about `limit` rows older than `before` in one short transaction. Returns false if none are left. */
  prune: (db: Database, before: Date, limit: number) => Promise<boolean>;
  /** The tables of these rows, if the operator may partition them. */
  partitions?: PartitionGroup;
};

type Options = { now?: Date; signal?: AbortSignal; batchRows?: number; maxBatches?: number };

const dayMs = 86_400_000;

/**
 * Deletes expired rows in small batches, so that no request waits behind it. The number of batches is limited, and the next
 * run continues.
 */
export async function pruneOld(
  db: Database,
  rules: readonly PruneRule[],
  { now = sharedDate(), signal, batchRows = 1000, maxBatches = 200 }: Options = {},
): Promise<void> {
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error));
  for (const { days, prune, partitions } of rules) {
    let before = new Date(now.getTime() - days * dayMs);
    if (partitions) {
      await attempt(extendPartitions(db, [partitions]));
      await attempt(
        dropExpired(db, partitions, before).then((longerMs) => {
          // Rows of a partition expire together. What is left after that is in a partition that could not be dropped.
          before = new Date(before.getTime() - longerMs);
        }),
      );
    }
    // Continue after a failure, so that one broken table does not let the others grow.
    await attempt(pruneInBatches((limit) => prune(db, before, limit)));
  }
  if (failures.length > 0) throw failures[0];

  async function pruneInBatches(prune: (limit: number) => Promise<boolean>): Promise<void> {
    for (let batch = 0; batch < maxBatches && !signal?.aborted; batch++) {
      const startedAt = performance.now();
      if (!(await prune(batchRows))) return;
      // Pause as long as the batch took, to use at most half of the time of one connection.
      await sleep(performance.now() - startedAt, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }
}
