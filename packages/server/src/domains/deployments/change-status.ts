import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { lockDeployment } from './find.ts';
import { presentDeployment } from './present.ts';
import { updateDeployment } from './store.ts';
import type { DeploymentRow } from './tables.ts';
import { assertMayChangeLive } from './version-pointers.ts';

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
