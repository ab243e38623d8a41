import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { microsToUsd } from '@vestra/contract/money';
import type { BodyOf } from '@vestra/contract/route';
import { emit, findSettings, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, holdDeployment } from '../../agents/deployments/index.ts';
import { defaultDeployment } from '../../engine/conversations/index.ts';
import { admit, assertPayable, type Engine } from '../../engine/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { slotsOf } from './slots.ts';
import {
  cancelQueued,
  insertBatch,
  insertItems,
  lockBatch,
  type ShownItem,
  type Standing,
  standingsOf,
  updateBatch,
} from './store.ts';
import type { BatchRow } from './tables.ts';

type Body = BodyOf<Api['batches']['create']>;

/** Keeps what is to be done; a job begins with it. */
export async function createBatch(engine: Engine, tx: Transaction, origin: Origin, body: Body): Promise<BatchRow> {
  const { orgId, mode } = origin;
  await assertUsers(tx, origin, body.items);
  const deployment = await deploymentOf(tx, origin, body.deployment);
  await admit(engine, tx, { mode, pinned_version: null, deployment_version: null }, deployment);
  // Where not one item could begin the batch is refused; a cap of one user is that user's items' affair.
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
  const items = body.items.map(({ user_id, message, context, metadata }) => ({
    user_id: user_id ?? null,
    message,
    context: context ?? null,
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

/** A version that is pinned would be run by items that begin long after it was left behind. */
async function deploymentOf(tx: Transaction, tenant: Tenant, named: string | undefined): Promise<DeploymentRow> {
  if (named !== undefined) return holdDeployment(tx, tenant.orgId, named, 'deployment');
  const deployment = await defaultDeployment(tx, tenant, null);
  if (deployment) return deployment;
  throw fail('deployment_required', {
    param: 'deployment',
    message: 'Name a `deployment`: the org has no default.',
  });
}

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

export const presentBatch = (row: BatchRow, { counts, spentMicros }: Standing) => ({
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

/** Nothing is left of it where the person was erased. */
function resultOf({ status, reply, text, data, outcome_met, outcome_reason }: ShownItem) {
  if (status !== 'succeeded' || reply === null) return null;
  const outcome = outcome_met === null ? null : { met: outcome_met, reason: outcome_reason ?? '' };
  return { reply, text, data: data ?? null, outcome };
}

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
