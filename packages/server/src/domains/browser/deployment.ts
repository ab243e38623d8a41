import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { deploymentFor } from '../conversations/api.ts';
import { versionToRun } from '../deployments/api.ts';
import { manifestOf } from '../engine/api.ts';
import { enterUser, type UserRow } from '../users/api.ts';
import type { SiteSettings } from './site-rules.ts';

/** Whose browser a request is about, and under which deployment: the one that is named, else the user's, else the org's. */
export function enterBrowser(
  db: Database,
  tenant: Tenant,
  userId: string,
  named: string | undefined,
): Promise<{ user: UserRow; deploymentId: string; settings: SiteSettings }> {
  return transaction(db, async (tx) => {
    const user = await enterUser(tx, tenant, userId);
    const { deployment, pinned } = await deploymentFor(tx, tenant, named, user);
    const version = versionToRun(deployment, tenant.mode, pinned);
    const { browser } = await manifestOf(tx, deployment.id, version);
    return { user, deploymentId: deployment.id, settings: browser };
  });
}
