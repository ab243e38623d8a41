import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insertMany, maybeOne, rowsOf, run, updateOne } from '../../platform/db/query.ts';
import type { CachedRow, RowCache } from '../../platform/db/row-cache.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, integer, text } from '../../platform/db/table.ts';
import { insertVersion, type VersionContent } from '../versions/store.ts';
import type { VersionRow } from '../versions/tables.ts';
import { firstPointers, type VersionPointers } from '../versions/version-pointers.ts';
import { type DeploymentRow, deployments } from './tables.ts';

const columns = columnsOf(deployments);

/** Deployments are shared by both modes of their org. */
export function listDeployments(
  db: Executor,
  orgId: string,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<DeploymentRow[]> {
  const further = after && sql`id < ${after[0] as string}`;
  return rowsOf(
    db,
    deployments,
    sql`SELECT ${columns} FROM ${deployments} WHERE ${sql.and(sql`org_id = ${orgId}`, further)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export const findById = (db: Executor, orgId: string, id: string): Promise<DeploymentRow | undefined> =>
  maybeOne(db, deployments, sql`SELECT ${columns} FROM ${deployments} WHERE id = ${id} AND org_id = ${orgId}`);

/** For suggestions after a typing error: older names beyond these are not searched. */
const mostSuggested = 500;

export async function newestSlugs(db: Executor, orgId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { slug: text() },
    sql`SELECT slug FROM ${deployments} WHERE org_id = ${orgId} ORDER BY id DESC LIMIT ${mostSuggested}`,
  );
  return rows.map(({ slug }) => slug);
}

/** Names by id. A deployment that was deleted has none. */
export async function deploymentNames(
  db: Executor,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsOf(
    db,
    { id: text(), name: text() },
    sql`SELECT id, name FROM ${deployments} WHERE org_id = ${orgId} AND id = ANY(${ids}::text[])`,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** For public pages, which have no key: finds the deployment in any org. */
export const findDeploymentOfAnyOrg = (db: Executor, id: string): Promise<DeploymentRow | undefined> =>
  maybeOne(db, deployments, sql`SELECT ${columns} FROM ${deployments} WHERE id = ${id}`);

export const findBySlug = (db: Executor, orgId: string, slug: string): Promise<DeploymentRow | undefined> =>
  maybeOne(db, deployments, sql`SELECT ${columns} FROM ${deployments} WHERE org_id = ${orgId} AND slug = ${slug}`);

/** Names are not unique: finds the oldest deployment with the name. */
export const findByName = (db: Executor, orgId: string, name: string): Promise<DeploymentRow | undefined> =>
  maybeOne(
    db,
    deployments,
    sql`SELECT ${columns} FROM ${deployments} WHERE org_id = ${orgId} AND name = ${name} ORDER BY id LIMIT 1`,
  );

/**
 * Row locks until the transaction ends. `key share` prevents deletion, `no key update` also other changes, `update`
 * also new foreign keys to the row.
 */
const holds = {
  'key share': sql`FOR KEY SHARE`,
  'no key update': sql`FOR NO KEY UPDATE`,
  update: sql`FOR UPDATE`,
};

export const lockById = (tx: Transaction, id: string, hold: keyof typeof holds): Promise<DeploymentRow | undefined> =>
  maybeOne(tx, deployments, sql`SELECT ${columns} FROM ${deployments} WHERE id = ${id} ${holds[hold]}`);

export async function takenSlugs(tx: Transaction, orgId: string, slugs: readonly string[]): Promise<Set<string>> {
  const rows = await rowsOf(
    tx,
    { slug: text() },
    sql`SELECT slug FROM ${deployments} WHERE org_id = ${orgId} AND slug = ANY(${slugs})`,
  );
  return new Set(rows.map(({ slug }) => slug));
}

/**
 * Inserts a deployment and its first version. Returns undefined if the slug is taken; a concurrent insert of the same
 * slug waits until the first one commits or rolls back.
 */
export async function insertDeployment(
  tx: Transaction,
  { orgId, name, slug, description }: { orgId: string; name: string; slug: string; description: string },
  content: VersionContent,
): Promise<{ deployment: DeploymentRow; version: VersionRow } | undefined> {
  const row = { id: newId('dep'), org_id: orgId, name, slug, description, ...firstPointers };
  const [deployment] = await insertMany(tx, deployments, [row], { onConflict: sql`(org_id, slug) DO NOTHING` });
  if (!deployment) return undefined;
  return { deployment, version: await insertVersion(tx, deployment, content) };
}

export async function updateDeployment(
  tx: Transaction,
  id: string,
  changes: Partial<VersionPointers & Pick<DeploymentRow, 'status' | 'name' | 'description'>>,
): Promise<DeploymentRow> {
  return updateOne(tx, deployments, { ...changes, updated_at: sql`now()` }, sql`id = ${id}`);
}

/** Also deletes its versions. */
export async function deleteDeployment(tx: Transaction, id: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${deployments} WHERE id = ${id}`);
}

/** Makes the deployment the default in those of the modes in which the org has none, and returns these modes. */
export async function setMissingDefault(
  tx: Transaction,
  { id, org_id }: Pick<DeploymentRow, 'id' | 'org_id'>,
  modes: readonly Mode[],
): Promise<Mode[]> {
  const filled = await rowsOf(
    tx,
    { mode: text<Mode>() },
    sql`UPDATE org_settings SET default_deployment = ${id}
        WHERE org_id = ${org_id} AND mode = ANY(${modes}) AND default_deployment IS NULL RETURNING mode`,
  );
  return filled.map(({ mode }) => mode);
}

/** The columns that decide which version of a deployment runs. */
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
 * Returns the deployment with this id or slug from the cache, or reads it. The row may be stale, so the write that
 * relies on it must check `deploymentIsStill`, which also guards the slug.
 */
export async function seeDeployment(
  { db, seen }: { db: Database; seen: RowCache<RunnableDeployment> },
  orgId: string,
  named: string,
): Promise<CachedRow<RunnableDeployment> | undefined> {
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

/** True if the deployment has not changed since it was cached. */
export const deploymentIsStill = ({ row, version }: CachedRow<RunnableDeployment>) =>
  sql`EXISTS (SELECT FROM deployments WHERE id = ${row.id} AND org_id = ${row.org_id} AND xmin = ${version}::xid)`;

/** The status of a deployment, or null if it does not exist, for queries of other modules. */
export const statusOfDeployment = (id: Sql): Sql =>
  sql`(SELECT used.status FROM ${deployments} AS used WHERE used.id = ${id})`;
