import type { ClosedPage } from '../../adapters/browser/rules.ts';
import type { Origin, Tenant } from '../../caller.ts';
import type { Database, Executor } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { deploymentFor } from '../conversations/api.ts';
import { manifestOf, versionToRun } from '../deployments/api.ts';
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

/** That a page was met which is closed. Written down without the query, which may hold what nobody else is to read. */
export async function recordBlocked(
  db: Executor,
  origin: Origin,
  userId: string | null,
  { host, path }: ClosedPage,
): Promise<void> {
  await recordAudit(db, origin, {
    action: 'browser.page_blocked',
    ...(userId !== null && { target: { type: 'user', id: userId } }),
    details: { host, path },
  });
}
