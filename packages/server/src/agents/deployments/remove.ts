import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { requireDeployment } from './find.ts';
import { deleteDeployment, lockById } from './store.ts';

/** Deletes a deployment of which no version is live, with its versions; where it was the org's default, there is none. */
export async function removeDeployment(tx: Transaction, origin: Origin, reference: string): Promise<string> {
  const { id } = await requireDeployment(tx, origin.orgId, reference);
  const deployment = await lockById(tx, id, 'update');
  if (!deployment) throw fail('deployment_not_found');
  if (deployment.live_version !== null) {
    throw fail('deployment_live', {
      message: `Version ${deployment.live_version} of this deployment is live. Archive it to put it away.`,
    });
  }
  await deleteDeployment(tx, id);
  await recordAudit(tx, origin, {
    action: 'deployment.deleted',
    target: { type: 'deployment', id },
    details: { slug: deployment.slug, versions: deployment.last_version },
  });
  return id;
}
