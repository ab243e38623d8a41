import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { BodyOf } from '@vestra/contract/route';
import { findSettings, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, holdDeployment } from '../../agents/deployments/index.ts';
import { defaultDeployment } from '../../engine/conversations/index.ts';
import { admit, assertPayable, type Engine } from '../../engine/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { insertBatch, insertItems } from './store.ts';
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
