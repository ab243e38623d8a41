import type { Database } from '../../platform/db/pool.ts';
import { maybeOne } from '../../platform/db/query.ts';
import type { RowCache, SeenRow } from '../../platform/db/row-cache.ts';
import { sql } from '../../platform/db/sql.ts';
import { integer, text } from '../../platform/db/table.ts';
import type { DeploymentRow } from './tables.ts';

/** What decides which version of a deployment runs. */
export type RunnableDeployment = Pick<DeploymentRow, 'id' | 'org_id' | 'status' | 'draft_version' | 'live_version'>;

const shape = {
  id: text(),
  org_id: text(),
  status: text<DeploymentRow['status']>(),
  draft_version: integer(),
  live_version: integer().nullable(),
  version: text(),
};

/**
 * The deployment of this id or slug as it was seen last, or is now. Whoever decides by it lets the write check its
 * version (`deploymentIsStill`): so its slug is still its own too.
 */
export async function seeDeployment(
  { db, seen }: { db: Database; seen: RowCache<RunnableDeployment> },
  orgId: string,
  named: string,
): Promise<SeenRow<RunnableDeployment> | undefined> {
  const key = JSON.stringify([orgId, named]);
  const known = seen.get(key);
  if (known) return known;
  const found = await maybeOne(
    db,
    shape,
    sql`SELECT id, org_id, status, draft_version, live_version, xmin::text AS version FROM deployments
      WHERE org_id = ${orgId} AND (id = ${named} OR slug = ${named}) ORDER BY id = ${named} DESC LIMIT 1`,
  );
  if (!found) return undefined;
  const { version, ...row } = found;
  seen.set(key, { row, version });
  return { row, version };
}

export const forgetDeployment = (seen: RowCache<RunnableDeployment>, orgId: string, named: string) =>
  seen.forget(JSON.stringify([orgId, named]));

/** Whether nobody has changed the deployment since it was seen. */
export const deploymentIsStill = ({ row, version }: SeenRow<RunnableDeployment>) =>
  sql`EXISTS (SELECT FROM deployments WHERE id = ${row.id} AND org_id = ${row.org_id} AND xmin = ${version}::xid)`;
