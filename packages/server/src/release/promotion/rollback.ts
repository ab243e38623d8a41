import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import type { ResponseOf } from '@vestra/contract/route';
import { emit, recordAudit } from '../../account/index.ts';
import { getVersion, lockDeployment, lockVersions, presentDeployment } from '../../agents/deployments/index.ts';
import { popLive } from '../../agents/versions/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { bringAlive } from './bring-alive.ts';
import { assertFitForLive } from './going-live.ts';
import { assertComplete } from './promotion.ts';
import { dropPending } from './store.ts';

/** The version that was live before is live again; a run that was to promote another no longer does. */
export async function rollBack(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { origin, reference }: { origin: Origin; reference: string },
): Promise<ResponseOf<Api['deployments']['rollback']>> {
  const { orgId, mode } = origin;
  if (mode !== 'live') throw fail('live_key_required');
  await lockVersions(tx, orgId);
  const before = await lockDeployment(tx, orgId, reference);
  const { deployment, from } = await popLive(tx, { deployment: before, mode });
  const version = await getVersion(tx, deployment, deployment.live_version as number);
  assertComplete(version);
  await assertFitForLive(tx, dependencies, { tenant: origin, manifest: version.manifest });
  await dropPending(tx, deployment.id, mode);
  const made = await bringAlive(tx, dependencies, { deployment, mode, version });
  const told = { version: version.version, previous_version: from };
  await recordAudit(tx, origin, {
    action: 'deployment.rolled_back',
    target: { type: 'deployment', id: deployment.id },
    details: { slug: deployment.slug, ...told },
  });
  const shown = presentDeployment(deployment);
  await emit(tx, {
    orgId,
    mode,
    type: 'deployment.rolled_back',
    deploymentId: deployment.id,
    data: { ...shown, ...told },
  });
  return { ...shown, webhook_secrets: made };
}
