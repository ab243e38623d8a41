import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { microsToUsd } from '@vestra/contract/money';
import type { BodyOf } from '@vestra/contract/route';
import { emit, findSettings, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, holdDeployment } from '../../agents/deployments/index.ts';
import { defaultDeployment } from '../../engine/conversations/index.ts';
import { admit, assertPayable, type Engine } from '../../engine/index.ts';
import { presentOutcome } from '../../engine/tasks/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { slotsOf } from './slots.ts';
import {
  type BatchTotals,
  cancelQueued,
  insertBatch,
  insertItems,
  lockBatch,
  removeBatch,
  type ShownItem,
  totalsOf,
  updateBatch,
} from './store.ts';
import type { BatchRow } from './tables.ts';

type Body = BodyOf<Api['batches']['create']>;

/** Stores the items. A job starts them. */
export async function createBatch(engine: Engine, tx: Transaction, origin: Origin, body: Body): Promise<BatchRow> {
  const { orgId, mode } = origin;
  await assertUsers(tx, origin, body.items);
  const deployment = await deploymentOf(tx, origin, body.deployment);
  await admit(engine, tx, { mode, pinned_version: null, deployment_version: null }, deployment);
  // Refuse the batch if no item could start. The cap of a single user fails only the items of that user.
  await assertPayable(tx, { orgId, mode });
  const batch = await insertBatch(tx, {
    org_id: orgId,
    mode,
    id: newId('bat'),
    deployment_id: deployment.id,
    concurrency: body.concurrency,
    item_count: body.items.length,
    metadata: body.metadata ?? {},
  });
  const items = body.items.map(({ user_id, message, context, success_criteria, metadata }) => ({
    user_id: user_id ?? null,
    message,
    context: context ?? null,
    success_criteria: success_criteria ?? null,
    metadata: metadata ?? {},
  }));
  await insertItems(tx, batch, items);
  await engine.jobs.send(tx, 'batch.advance', { org_id: orgId, mode, batch_id: batch.id });
  await recordAudit(tx, origin, {
    action: 'batch.created',
    target: { type: 'batch', id: batch.id },
    details: { item_count: batch.item_count },
  });
  return batch;
}

async function assertUsers(tx: Transaction, tenant: Tenant, items: Body['items']): Promise<void> {
  const at = items.findIndex(({ user_id }) => user_id === undefined);
  if (at === -1 || !(await findSettings(tx, tenant)).require_user) return;
  throw fail('user_required', { param: `items.${at}.user_id` });
}

/** Batches pin no version: items may start long after a pinned version was replaced. */
async function deploymentOf(tx: Transaction, tenant: Tenant, named: string | undefined): Promise<DeploymentRow> {
  if (named !== undefined) return holdDeployment(tx, tenant.orgId, named, 'deployment');
  const deployment = await defaultDeployment(tx, tenant, null);
  if (deployment) return deployment;
  throw fail('deployment_required', {
    param: 'deployment',
    message: 'Name a `deployment`: the org has no default.',
  });
}

/** No further item starts. Running items finish, and the last one completes the batch. */
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

/** Deletes a batch that has ended, with its items. Their conversations stay. */
export async function deleteBatch(tx: Transaction, origin: Origin, batchId: string): Promise<void> {
  const reference = { orgId: origin.orgId, mode: origin.mode, batchId };
  const batch = await lockBatch(tx, reference);
  if (!batch) throw fail('batch_not_found');
  if (!batch.completed_at) throw fail('still_running', { message: 'Some items of this batch have not ended.' });
  await removeBatch(tx, reference);
  await recordAudit(tx, origin, { action: 'batch.deleted', target: { type: 'batch', id: batchId } });
}

/** Completes a locked batch that has no queued and no running item, and emits the event once. */
export async function completeBatch(tx: Transaction, batch: BatchRow): Promise<BatchRow> {
  const { counts, spentMicros } = (await totalsOf(tx, [batch.id])).get(batch.id) as BatchTotals;
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

export const presentBatch = (row: BatchRow, { counts, spentMicros }: BatchTotals) => ({
  object: 'batch' as const,
  id: row.id,
  status: row.status,
  deployment_id: row.deployment_id,
  concurrency: row.concurrency,
  item_count: row.item_count,
  counts,
  spend_usd: microsToUsd(spentMicros),
  metadata: row.metadata,
  created_at: row.created_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
});

export const presentItem = (row: ShownItem, { created_at }: BatchRow) => ({
  object: 'batch.item' as const,
  index: row.item_index,
  user_id: row.user_id,
  status: row.status,
  conversation_id: row.conversation_id,
  task_id: row.task_id,
  result: resultOf(row),
  error: row.status === 'failed' ? { code: row.error_code as string, message: row.error_message as string } : null,
  metadata: row.metadata,
  created_at: created_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
});

/** Erasing the user also removed the result. */
function resultOf(row: ShownItem) {
  const { status, reply, text, data } = row;
  if (status !== 'succeeded' || reply === null) return null;
  return { reply, text, data: data ?? null, outcome: presentOutcome(row) };
}

/** Completed batches have stored totals. Those of open batches are counted. */
export async function showBatches(
  db: Executor,
  rows: readonly BatchRow[],
): Promise<(row: BatchRow) => ReturnType<typeof presentBatch>> {
  const counted = await totalsOf(
    db,
    rows.filter(({ completed_at }) => completed_at === null).map(({ id }) => id),
  );
  return (row) => {
    const { final_counts: counts, final_micros: spentMicros } = row;
    const isFinal = counts !== null && spentMicros !== null;
    return presentBatch(row, isFinal ? { counts, spentMicros } : (counted.get(row.id) as BatchTotals));
  };
}
