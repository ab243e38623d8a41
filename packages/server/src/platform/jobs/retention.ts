import { setTimeout as sleep } from 'node:timers/promises';
import { sharedDate } from '../db/clock.ts';
import type { Database } from '../db/pool.ts';

/** What goes after how many days, and how: by the domain whose table it is. */
export type PruneRule = {
  days: number;
  /** Removes about `limit` rows at most of those older than `before`, in one short transaction; false: none was left. */
  prune: (db: Database, before: Date, limit: number) => Promise<boolean>;
};

type Options = { now?: Date; signal?: AbortSignal; batchRows?: number; mostBatches?: number };

const dayMs = 86_400_000;

/**
 * Removes what has been kept for its days, a few rows at a time, so that no request waits behind it. A run is bounded:
 * what it leaves, the next one finds.
 */
export async function pruneOld(
  db: Database,
  rules: readonly PruneRule[],
  { now = sharedDate(), signal, batchRows = 1000, mostBatches = 200 }: Options = {},
): Promise<void> {
  const failures: unknown[] = [];
  for (const { days, prune } of rules) {
    const before = new Date(now.getTime() - days * dayMs);
    // One table that cannot be pruned must not let the others grow.
    await pruneInBatches((limit) => prune(db, before, limit)).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];

  async function pruneInBatches(prune: (limit: number) => Promise<boolean>): Promise<void> {
    for (let batch = 0; batch < mostBatches && !signal?.aborted; batch++) {
      const startedAt = performance.now();
      if (!(await prune(batchRows))) return;
      // As long as the batch took: at most half of the time of one connection is spent here.
      await sleep(performance.now() - startedAt, undefined, { ...(signal && { signal }) }).catch(() => {});
    }
  }
}
