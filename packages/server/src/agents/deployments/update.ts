import type { Api } from '@vestra/contract/api';
import type { BodyOf } from '@vestra/contract/route';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assertMayChangeLive } from '../versions/version-pointers.ts';
import { lockDeployment } from './find.ts';
import { presentDeployment } from './present.ts';
import { updateDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';

/** Fields left out stay. What is already so is no change and is not written down. */
export async function changeDeployment(
  tx: Transaction,
  origin: Origin,
  reference: string,
  { name, description }: BodyOf<Api['deployments']['update']>,
) {
  const before = await lockDeployment(tx, origin.orgId, reference);
  const changes = {
    ...(name !== undefined && name !== before.name && { name }),
    ...(description !== undefined && description !== before.description && { description }),
  };
  const changed = Object.keys(changes);
  if (changed.length === 0) return presentDeployment(before);
  assertMayChangeLive(before, origin.mode, 'change its name and description');
  const after = await updateDeployment(tx, before.id, changes);
  await recordAudit(tx, origin, {
    action: 'deployment.updated',
    target: { type: 'deployment', id: after.id },
    details: { slug: after.slug, changed },
  });
  return presentDeployment(after);
}

/** Puts a deployment away, or brings it back; its pointers stay. One that is in that state already stays as it is. */
export async function changeStatus(
  tx: Transaction,
  origin: Origin,
  { reference, status }: { reference: string; status: DeploymentRow['status'] },
) {
  const before = await lockDeployment(tx, origin.orgId, reference);
  if (before.status === status) return presentDeployment(before);
  assertMayChangeLive(before, origin.mode, 'archive it, or bring it back,');
  const after = await updateDeployment(tx, before.id, { status });
  await recordAudit(tx, origin, {
    action: status === 'archived' ? 'deployment.archived' : 'deployment.unarchived',
    target: { type: 'deployment', id: after.id },
    details: { slug: after.slug },
  });
  return presentDeployment(after);
}
