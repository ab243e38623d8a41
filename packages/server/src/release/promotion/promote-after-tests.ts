import { findDeployment, getVersion, lockDeployment, lockVersions } from '../../agents/deployments/index.ts';
import type { TestRun } from '../../evaluation/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ApplyDependencies } from '../dependencies.ts';
import { missingForLive } from './going-live.ts';
import { promoteNow } from './promotion.ts';
import { takePending } from './store.ts';

/** Why a run that passed promoted nothing: a later apply, promotion or rollback of its mode went before it, and so on. */
export type Outcome = { promoted: true } | { promoted: false; reason: Hindrance };

type Hindrance =
  | 'superseded'
  | 'deployment_archived'
  | 'deployment_not_found'
  | 'invalid_manifest'
  | 'secret_missing'
  | 'memory_endpoint_required'
  | 'version_incomplete';

/**
 * A run that was to promote has passed. Call it before the run's own row is written: it locks the deployment, and an
 * apply that holds that lock may read the row.
 */
export async function promoteAfterTests(
  tx: Transaction,
  dependencies: ApplyDependencies,
  { orgId, run }: { orgId: string; run: Pick<TestRun, 'id' | 'deployment_id' | 'version' | 'mode'> },
): Promise<Outcome> {
  const { mode } = run;
  await lockVersions(tx, orgId);
  if (!(await findDeployment(tx, orgId, run.deployment_id))) return { promoted: false, reason: 'deployment_not_found' };
  const deployment = await lockDeployment(tx, orgId, run.deployment_id);
  if (!(await takePending(tx, deployment.id, mode, run.id))) return { promoted: false, reason: 'superseded' };
  if (deployment.status === 'archived') return { promoted: false, reason: 'deployment_archived' };
  const version = await getVersion(tx, deployment, run.version);
  if (version.missing.length > 0) return { promoted: false, reason: 'version_incomplete' };
  const tenant = { orgId, mode };
  const missing =
    mode === 'live' ? await missingForLive(tx, dependencies, { tenant, manifest: version.manifest }) : null;
  if (missing) return { promoted: false, reason: missing };
  const origin: Origin = { ...tenant, actor: tester, requestId: null, ip: null };
  await promoteNow(tx, dependencies, { origin, deployment, version, isNew: false });
  return { promoted: true };
}

const tester = { type: 'system', id: 'system', name: 'Test run' } as const;
