import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import {
  insert,
  insertMany,
  maybeOne,
  pipelined,
  plannedAnew,
  reading,
  rowsOf,
  run,
  update,
} from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, integer, text } from '../../platform/db/table.ts';
import { type FileObjects, type FixedContent, type Manifest, usesOf } from '../versions/manifest.ts';
import { firstPointers, type Pointers } from '../versions/version-pointers.ts';
import { type DeploymentRow, deployments, deploymentVersions, livePromotions, type VersionRow } from './tables.ts';

/** Who saved a version; a session token saves none. */
export type Author = { type: 'key' | 'member' | 'mcp_grant' | 'system'; id: string; name: string };

export type VersionContent = {
  manifest: Manifest;
  fileObjects: FileObjects;
  content: FixedContent;
  changed: readonly string[];
  note: string | null;
  createdBy: Author;
};

const columns = columnsOf(deployments);
const versionColumns = columnsOf(deploymentVersions);

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

/** For what is shown without a key: an id is one deployment's, whichever org's that is. */
export const findDeploymentOfAnyOrg = (db: Executor, id: string): Promise<DeploymentRow | undefined> =>
  maybeOne(db, deployments, sql`SELECT ${columns} FROM ${deployments} WHERE id = ${id}`);

export const findBySlug = (db: Executor, orgId: string, slug: string): Promise<DeploymentRow | undefined> =>
  maybeOne(db, deployments, sql`SELECT ${columns} FROM ${deployments} WHERE org_id = ${orgId} AND slug = ${slug}`);

/** Names may be used twice: the oldest deployment keeps hers. */
export const findByName = (db: Executor, orgId: string, name: string): Promise<DeploymentRow | undefined> =>
  maybeOne(
    db,
    deployments,
    sql`SELECT ${columns} FROM ${deployments} WHERE org_id = ${orgId} AND name = ${name} ORDER BY id LIMIT 1`,
  );

/**
 * How firmly the row is held until the transaction ends: `key share` keeps it from being deleted, `no key update` also
 * from being changed by anybody else, `update` also from being pointed at by a new row elsewhere.
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
 * A deployment together with its first version, or nothing where the slug is taken. A second insert of one slug waits
 * until the first is committed or undone.
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

/** The version that the deployment's `last_version` announces. */
export const insertVersion = (
  tx: Transaction,
  deployment: DeploymentRow,
  { manifest, fileObjects, content, changed, note, createdBy }: VersionContent,
): Promise<VersionRow> =>
  insert(tx, deploymentVersions, {
    deployment_id: deployment.id,
    version: deployment.last_version,
    org_id: deployment.org_id,
    note,
    manifest,
    file_objects: fileObjects,
    content,
    changed: [...changed],
    uses: usesOf(manifest),
    created_by_type: createdBy.type,
    created_by_id: createdBy.id,
    created_by_name: createdBy.name,
  });

export async function updateDeployment(
  tx: Transaction,
  id: string,
  changes: Partial<Pointers & Pick<DeploymentRow, 'status' | 'name' | 'description'>>,
): Promise<DeploymentRow> {
  const [row] = await update(tx, deployments, { ...changes, updated_at: sql`now()` }, sql`id = ${id}`);
  return row as DeploymentRow;
}

/** Its versions go with it. */
export async function deleteDeployment(tx: Transaction, id: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${deployments} WHERE id = ${id}`);
}

/** In each of these modes in which the org has no default yet. The modes in which it became that. */
export async function fillDefault(
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

export function listVersions(
  db: Executor,
  deploymentId: string,
  { limit, below }: { limit: number; below: number | null },
): Promise<VersionRow[]> {
  const further = below !== null && sql`version < ${below}`;
  return rowsOf(
    db,
    deploymentVersions,
    sql`SELECT ${versionColumns} FROM ${deploymentVersions}
        WHERE ${sql.and(sql`deployment_id = ${deploymentId}`, further)} ORDER BY version DESC LIMIT ${limit + 1}`,
  );
}

export async function getVersion(
  db: Executor,
  deployment: Pick<DeploymentRow, 'id'>,
  version: number,
): Promise<VersionRow> {
  const row = await maybeOne(
    db,
    deploymentVersions,
    sql`SELECT ${versionColumns} FROM ${deploymentVersions}
        WHERE deployment_id = ${deployment.id} AND version = ${version}`,
  );
  if (!row) throw fail('version_not_found', { param: 'version' });
  return row;
}

export const newestVersion = (db: Executor, deployment: DeploymentRow): Promise<VersionRow> =>
  getVersion(db, deployment, deployment.newest_version);

/** The promotion on top of the stack, then the one below it. */
export const topPromotions = (tx: Transaction, deploymentId: string): Promise<{ height: number; version: number }[]> =>
  rowsOf(
    tx,
    { height: integer(), version: integer() },
    sql`SELECT height, version FROM ${livePromotions} WHERE deployment_id = ${deploymentId}
        ORDER BY height DESC LIMIT 2`,
  );

export async function putPromotion(
  tx: Transaction,
  deployment: DeploymentRow,
  { height, version }: { height: number; version: number },
): Promise<void> {
  await insert(tx, livePromotions, { deployment_id: deployment.id, org_id: deployment.org_id, height, version });
}

export async function takePromotion(tx: Transaction, deploymentId: string, height: number): Promise<void> {
  await run(tx, sql`DELETE FROM ${livePromotions} WHERE deployment_id = ${deploymentId} AND height = ${height}`);
}

/**
 * Until the transaction ends nobody else of the org saves or promotes a version, rolls back, or changes and deletes what
 * versions that are live use. Taken before any row is locked, so that none of these wait for each other in a circle.
 */
export async function lockVersions(tx: Transaction, orgId: string): Promise<void> {
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${`vestra versions ${orgId}`}, 0))`);
}

/** A version that is live, and of its deployment what tells whom it serves. */
export type LiveVersion = VersionRow & Pick<DeploymentRow, 'slug' | 'status'>;

/** The live versions that name a notebook or a skill, oldest deployment first; archived deployments keep theirs. */
export async function liveVersionsUsing(db: Executor, orgId: string, resourceId: string): Promise<LiveVersion[]> {
  const { slug, status } = deployments.columns;
  const using = reading(
    { ...deploymentVersions.columns, slug, status },
    sql`SELECT ${columnsOf(deploymentVersions, 'v')}, d.slug, d.status
        FROM ${deployments} d JOIN ${deploymentVersions} v ON v.deployment_id = d.id AND v.version = d.live_version
        WHERE d.org_id = ${orgId} AND ${names(resourceId)} ORDER BY d.id`,
  );
  const [found] = await pipelined(db, [plannedAnew(using)]);
  return found;
}

const mostInUse = 200;

/** Which models live versions name, with an org and a deployment that does; of all orgs, for the operator. */
export const modelsInUse = (db: Executor): Promise<{ model: string; org_id: string; slug: string }[]> =>
  rowsOf(
    db,
    { model: text(), org_id: text(), slug: text() },
    sql`SELECT DISTINCT ON (model, d.org_id) coalesce(v.manifest->>'model', 'default') AS model, d.org_id, d.slug
        FROM ${deployments} d JOIN ${deploymentVersions} v ON v.deployment_id = d.id AND v.version = d.live_version
        WHERE d.status = 'active' ORDER BY model, d.org_id, d.slug LIMIT ${mostInUse}`,
  );

/** The slugs of deployments that run it live, or would after rolling back. */
export async function deploymentsRelyingOn(db: Executor, orgId: string, resourceId: string): Promise<string[]> {
  const relying = reading(
    { slug: text() },
    sql`SELECT DISTINCT d.slug
        FROM ${livePromotions} p
        JOIN ${deploymentVersions} v ON v.deployment_id = p.deployment_id AND v.version = p.version
        JOIN ${deployments} d ON d.id = p.deployment_id
        WHERE p.org_id = ${orgId} AND ${names(resourceId)}`,
  );
  const [found] = await pipelined(db, [plannedAnew(relying)]);
  // Not sorted by the database, whose order depends on its locale.
  return found.map(({ slug }) => slug).sort();
}

/** The revisions of a notebook that any version fixes. */
export async function fixedRevisions(db: Executor, orgId: string, notebookId: string): Promise<number[]> {
  const rows = await rowsOf(
    db,
    { revision: integer() },
    sql`SELECT DISTINCT (v.content -> 'notebooks' ->> ${notebookId})::int AS revision
        FROM ${deploymentVersions} v WHERE v.org_id = ${orgId} AND ${names(notebookId)}`,
  );
  return rows.map(({ revision }) => revision);
}

/** What names it says from now on that it is gone. */
export async function markMissing(tx: Transaction, orgId: string, resourceId: string): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${deploymentVersions} v SET missing = array_append(v.missing, ${resourceId})
        WHERE v.org_id = ${orgId} AND ${names(resourceId)}`,
  );
}

export type Use = Pick<DeploymentRow, 'id' | 'slug' | 'name' | 'status'> & {
  isLive: boolean;
  isDraft: boolean;
  isNewest: boolean;
};

/**
 * The deployments whose live, draft or newest version names an MCP server, a skill, a notebook or a file, oldest first,
 * with which of the three do. Either index may lead: the one by use where few versions name it, the versions' own where
 * thousands do.
 */
export async function deploymentsUsing(db: Executor, orgId: string, resourceId: string): Promise<Use[]> {
  const { id, slug, name, status } = deployments.columns;
  const using = reading(
    { id, slug, name, status, isLive: boolean(), isDraft: boolean(), isNewest: boolean() },
    sql`SELECT d.id, d.slug, d.name, d.status,
          coalesce(bool_or(v.version = d.live_version), false) AS "isLive",
          coalesce(bool_or(v.version = d.draft_version), false) AS "isDraft",
          coalesce(bool_or(v.version = d.newest_version), false) AS "isNewest"
        FROM ${deployments} d JOIN ${deploymentVersions} v ON v.deployment_id = d.id
          AND v.version = ANY (ARRAY[d.live_version, d.draft_version, d.newest_version])
        WHERE d.org_id = ${orgId} AND ${names(resourceId)} GROUP BY d.id ORDER BY d.id`,
  );
  const [found] = await pipelined(db, [plannedAnew(using)]);
  return found;
}

/** The version `v` names it. */
const names = (resourceId: string): Sql => sql`v.uses @> ARRAY[${resourceId}::text]`;
