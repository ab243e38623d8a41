import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { completeBatch } from './complete.ts';
import { slotsOf } from './slots.ts';
import { cancelQueued, lockBatch, updateBatch } from './store.ts';
import type { BatchRow } from './tables.ts';

/** Nothing more begins; what runs comes to its end, and with the last of it the batch does. */
export async function cancelBatch(tx: Transaction, origin: Origin, batchId: string): Promise<BatchRow> {
  const batch = await lockBatch(tx, { orgId: origin.orgId, mode: origin.mode, batchId });
  if (!batch) throw fail('batch_not_found');
  if (batch.completed_at) throw fail('batch_finished');
  if (batch.status === 'cancelled') return batch;
  await cancelQueued(tx, batchId);
  const cancelled = await updateBatch(tx, batch, { status: 'cancelled' });
  await recordAudit(tx, origin, { action: 'batch.cancelled', target: { type: 'batch', id: batchId } });
  const { running } = await slotsOf(tx, cancelled);
  return running === 0 ? completeBatch(tx, cancelled) : cancelled;
}
