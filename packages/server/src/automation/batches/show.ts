import type { Executor } from '../../platform/db/pool.ts';
import { presentBatch } from './present.ts';
import { type Standing, standingsOf } from './store.ts';
import type { BatchRow } from './tables.ts';

/** Batches with how they stand: of those that have ended it is kept, of the others it is counted. */
export async function showBatches(
  db: Executor,
  rows: readonly BatchRow[],
): Promise<(row: BatchRow) => ReturnType<typeof presentBatch>> {
  const counted = await standingsOf(
    db,
    rows.filter(({ completed_at }) => completed_at === null).map(({ id }) => id),
  );
  return (row) => {
    const { final_counts: counts, final_micros: spentMicros } = row;
    const isFinal = counts !== null && spentMicros !== null;
    return presentBatch(row, isFinal ? { counts, spentMicros } : (counted.get(row.id) as Standing));
  };
}
