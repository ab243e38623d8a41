import { recordAudit } from '../../account/index.ts';
import { manifestOf, versionToRun } from '../../agents/versions/index.ts';
import { deploymentFor } from '../../engine/conversations/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import type { UserRow } from '../../users/index.ts';
import type { ClosedPage } from '../chromium/rules.ts';
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
