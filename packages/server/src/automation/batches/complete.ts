import { emit } from '../../account/index.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { presentBatch } from './present.ts';
import { type Standing, standingsOf, updateBatch } from './store.ts';
import type { BatchRow } from './tables.ts';

/** Ends a batch whose row is held and of which nothing is queued or runs. It is told of once. */
export async function completeBatch(tx: Transaction, batch: BatchRow): Promise<BatchRow> {
  const { counts, spentMicros } = (await standingsOf(tx, [batch.id])).get(batch.id) as Standing;
  const completed = await updateBatch(tx, batch, {
    status: batch.status === 'cancelled' ? 'cancelled' : 'completed',
    completed_at: sharedDate(),
    final_counts: counts,
    final_micros: spentMicros,
  });
  const { org_id: orgId, mode, deployment_id: deploymentId } = completed;
  const data = presentBatch(completed, { counts, spentMicros });
  await emit(tx, { orgId, mode, type: 'batch.completed', deploymentId, data });
  return completed;
}
