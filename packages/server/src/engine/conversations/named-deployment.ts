import { fail } from '@vestra/contract/errors';
import { findSettings } from '../../account/index.ts';
import { type DeploymentRow, findDeployment, resolveDeployment } from '../../agents/deployments/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { UserRow } from '../../users/index.ts';

/** The deployment that a new conversation runs: the one that is named, else the user's, else the org's. */
export async function deploymentFor(
  db: Executor,
  tenant: Tenant,
  named: string | undefined,
  user: UserRow | null,
): Promise<{ deployment: DeploymentRow; pinned: number | null }> {
  if (named !== undefined) {
    const { deployment, version } = await resolveDeployment(db, tenant.orgId, named, 'deployment');
    return { deployment, pinned: version };
  }
  const deployment = await defaultDeployment(db, tenant, user);
  if (!deployment) {
    throw fail('deployment_required', {
      param: 'deployment',
      message: 'Name a `deployment`: neither the user nor the org has a default.',
    });
  }
  return { deployment, pinned: null };
}

/** The user's, else the org's; null where neither has one. */
export async function defaultDeployment(
  db: Executor,
  tenant: Tenant,
  user: UserRow | null,
): Promise<DeploymentRow | null> {
  const byDefault = user?.default_deployment ?? (await findSettings(db, tenant)).default_deployment;
  const found = byDefault === null ? undefined : await findDeployment(db, tenant.orgId, byDefault);
  return found?.deployment ?? null;
}
