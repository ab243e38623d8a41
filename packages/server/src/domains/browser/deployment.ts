import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import { deploymentFor } from '../conversations/api.ts';
import { versionToRun } from '../deployments/api.ts';
import { manifestOf } from '../engine/api.ts';
import type { UserRow } from '../users/api.ts';
import type { SiteSettings } from './site-rules.ts';

/** Under which deployment a browser is used: the one that is named, else the user's, else the org's. */
export async function deploymentOfBrowser(
  db: Database,
  tenant: Tenant,
  user: UserRow | null,
  named: string | undefined,
): Promise<{ deploymentId: string; settings: SiteSettings }> {
  const { deployment, pinned } = await deploymentFor(db, tenant, named, user);
  const version = versionToRun(deployment, tenant.mode, pinned);
  const { browser } = await manifestOf(db, deployment.id, version);
  return { deploymentId: deployment.id, settings: browser };
}
