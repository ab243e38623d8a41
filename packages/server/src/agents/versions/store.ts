import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../../platform/caller.ts';
import { MissingRow } from '../../platform/db/missing-row.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import {
  insert,
  maybeOne,
  pipelined,
  plannedPerExecution,
  rowsOf,
  rowsStatement,
  run,
} from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, integer, text } from '../../platform/db/table.ts';
import { type DeploymentRow, deployments } from '../deployments/tables.ts';
import { type FileObjects, type FixedContent, fixedBytes, type Manifest, usesOf } from './manifest.ts';
import { deploymentVersions, livePromotions, type VersionRow } from './tables.ts';

/** Session tokens cannot save versions. */
export type VersionAuthor = { type: 'key' | 'member' | 'mcp_grant' | 'system'; id: string; name: string };

export type VersionContent = {
  manifest: Manifest;
  fileObjects: FileObjects;
  content: FixedContent;
  changed: readonly string[];
  note: string | null;
  createdBy: VersionAuthor;
};

const columns = columnsOf(deploymentVersions);

/** Inserts the version whose number is the deployment's `last_version`. */
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

export function listVersions(
  db: Executor,
  deploymentId: string,
  { limit, below }: { limit: number; below: number | null },
): Promise<VersionRow[]> {
  const further = below !== null && sql`version < ${below}`;
  return rowsOf(
    db,
    deploymentVersions,
    sql`SELECT ${columns} FROM ${deploymentVersions}
        WHERE ${sql.and(sql`deployment_id = ${deploymentId}`, further)} ORDER BY version DESC LIMIT ${limit + 1}`,
  );
}

type VersionReader = (db: Executor, deployment: Pick<DeploymentRow, 'id'>, version: number) => Promise<VersionRow>;

const readVersion =
  (missing: () => Error): VersionReader =>
  async (db, deployment, version) => {
    const row = await maybeOne(
      db,
      deploymentVersions,
      sql`SELECT ${columns} FROM ${deploymentVersions}
          WHERE deployment_id = ${deployment.id} AND version = ${version}`,
    );
    if (!row) throw missing();
    return row;
  };

/** A version that a request names. */
export const getVersion = readVersion(() => fail('version_not_found', { param: 'version' }));

/** A version that another row names. Throws `MissingRow` if the deployment was deleted meanwhile. */
export const versionOfRow = readVersion(() => new MissingRow(deployments.name));

export const newestVersion = (db: Executor, deployment: DeploymentRow): Promise<VersionRow> =>
  versionOfRow(db, deployment, deployment.newest_version);

/** Returns the top promotion of the stack and the one below it. */
export const topPromotions = (tx: Transaction, deploymentId: string): Promise<{ height: number; version: number }[]> =>
  rowsOf(
    tx,
    { height: integer(), version: integer() },
    sql`SELECT height, version FROM ${livePromotions} WHERE deployment_id = ${deploymentId}
        ORDER BY height DESC LIMIT 2`,
  );

export async function insertPromotion(
  tx: Transaction,
  deployment: DeploymentRow,
  { height, version }: { height: number; version: number },
): Promise<void> {
  await insert(tx, livePromotions, { deployment_id: deployment.id, org_id: deployment.org_id, height, version });
  await run(
    tx,
    sql`UPDATE ${deploymentVersions} SET live_at = now()
        WHERE deployment_id = ${deployment.id} AND version = ${version} AND live_at IS NULL`,
  );
}

/** Whether the version is live, or was before a rollback or a later promotion. */
export async function hasBeenLive(db: Executor, deploymentId: string, version: number): Promise<boolean> {
  const found = await maybeOne(
    db,
    { version: integer() },
    sql`SELECT version FROM ${deploymentVersions}
        WHERE deployment_id = ${deploymentId} AND version = ${version} AND live_at IS NOT NULL`,
  );
  return found !== undefined;
}

export async function deletePromotion(tx: Transaction, deploymentId: string, height: number): Promise<void> {
  await run(tx, sql`DELETE FROM ${livePromotions} WHERE deployment_id = ${deploymentId} AND height = ${height}`);
}

/**
 * Until the transaction ends, no other transaction of the org saves, promotes or rolls back a version. None changes a
 * resource of live versions either. Take this lock before any row lock, to avoid deadlocks.
 */
export async function lockVersions(tx: Transaction, orgId: string): Promise<void> {
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${`vestra versions ${orgId}`}, 0))`);
}

/** A live version with the slug and status of its deployment. */
type LiveVersion = VersionRow & Pick<DeploymentRow, 'slug' | 'status'>;

/** Lists the live versions that use the resource, oldest deployment first, those of archived deployments included. */
export async function liveVersionsUsing(db: Executor, orgId: string, resourceId: string): Promise<LiveVersion[]> {
  const { slug, status } = deployments.columns;
  const using = rowsStatement(
    { ...deploymentVersions.columns, slug, status },
    sql`SELECT ${columnsOf(deploymentVersions, 'v')}, d.slug, d.status
        FROM ${deployments} d JOIN ${deploymentVersions} v ON v.deployment_id = d.id AND v.version = d.live_version
        WHERE d.org_id = ${orgId} AND ${usesResource(resourceId)} ORDER BY d.id`,
  );
  const [found] = await pipelined(db, [plannedPerExecution(using)]);
  return found;
}

/** Lists slugs of deployments whose version that runs in the mode leaves memory to the customer. */
export async function deploymentsOfCustomerMemory(db: Executor, { orgId, mode }: Tenant): Promise<string[]> {
  const running = mode === 'live' ? sql`d.live_version` : sql`d.draft_version`;
  const found = await rowsOf(
    db,
    { slug: text() },
    sql`SELECT d.slug FROM ${deployments} d JOIN ${deploymentVersions} v ON v.deployment_id = d.id AND v.version = ${running}
        WHERE d.org_id = ${orgId} AND d.status <> 'archived' AND v.manifest ->> 'memory' = 'customer'
        ORDER BY d.slug LIMIT 20`,
  );
  return found.map(({ slug }) => slug);
}

const maxModelsInUse = 200;

/** Lists the models of live versions in all orgs, with an org and a deployment for each. For the operator. */
export const modelsInUse = (db: Executor): Promise<{ model: string; org_id: string; slug: string }[]> =>
  rowsOf(
    db,
    { model: text(), org_id: text(), slug: text() },
    sql`SELECT DISTINCT ON (model, d.org_id) coalesce(v.manifest->>'model', 'default') AS model, d.org_id, d.slug
        FROM ${deployments} d JOIN ${deploymentVersions} v ON v.deployment_id = d.id AND v.version = d.live_version
        WHERE d.status = 'active' ORDER BY model, d.org_id, d.slug LIMIT ${maxModelsInUse}`,
  );

/** Lists the slugs of deployments with the resource in the live version or in a version on the rollback stack. */
export async function deploymentsRelyingOn(db: Executor, orgId: string, resourceId: string): Promise<string[]> {
  const relying = rowsStatement(
    { slug: text() },
    sql`SELECT DISTINCT d.slug
        FROM ${livePromotions} p
        JOIN ${deploymentVersions} v ON v.deployment_id = p.deployment_id AND v.version = p.version
        JOIN ${deployments} d ON d.id = p.deployment_id
        WHERE p.org_id = ${orgId} AND ${usesResource(resourceId)}`,
  );
  const [found] = await pipelined(db, [plannedPerExecution(relying)]);
  // Sorted here, because the order of the database depends on its locale.
  return found.map(({ slug }) => slug).sort();
}

/** URLs of the webhooks that the newest version, the live version or one on the rollback stack declares. */
export async function recoverableWebhooks(
  db: Executor,
  { id, newest_version }: Pick<DeploymentRow, 'id' | 'newest_version'>,
): Promise<Set<string>> {
  const rows = await rowsOf(
    db,
    { url: text() },
    sql`SELECT DISTINCT webhook ->> 'url' AS url
        FROM ${deploymentVersions} v CROSS JOIN json_array_elements(v.file_objects -> 'webhooks') AS webhook
        WHERE v.deployment_id = ${id} AND (v.version = ${newest_version}
          OR v.version IN (SELECT version FROM ${livePromotions} WHERE deployment_id = ${id}))`,
  );
  return new Set(rows.map(({ url }) => url));
}

/** Lists the revisions of a notebook that any version fixes. */
export async function fixedRevisions(db: Executor, orgId: string, notebookId: string): Promise<number[]> {
  const rows = await rowsOf(
    db,
    { revision: integer() },
    sql`SELECT DISTINCT (v.content -> 'notebooks' ->> ${notebookId})::int AS revision
        FROM ${deploymentVersions} v WHERE v.org_id = ${orgId} AND ${usesResource(notebookId)}`,
  );
  return rows.map(({ revision }) => revision);
}

/** Whether a version of the org fixes a file with this content. */
export async function isContentFixed(db: Executor, orgId: string, sha256: string): Promise<boolean> {
  const found = await run(
    db,
    sql`SELECT FROM ${deploymentVersions} v WHERE v.org_id = ${orgId} AND ${usesResource(fixedBytes(sha256))} LIMIT 1`,
  );
  return found > 0;
}

/** The contents of files that versions fix, each once: those of all orgs, or of one deployment. */
export const fixedContents = (
  db: Executor,
  deploymentId: string | null,
): Promise<{ org_id: string; sha256: string }[]> =>
  rowsOf(
    db,
    { org_id: text(), sha256: text() },
    sql`SELECT DISTINCT v.org_id, substr(used, 8) AS sha256 FROM ${deploymentVersions} v CROSS JOIN unnest(v.uses) AS used
        WHERE ${sql.and(deploymentId && sql`v.deployment_id = ${deploymentId}`, sql`used LIKE 'sha256:%'`)}
        ORDER BY v.org_id, sha256`,
  );

/** Marks the resource as missing in every version that uses it. */
export async function markMissing(tx: Transaction, orgId: string, resourceId: string): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${deploymentVersions} v SET missing = array_append(v.missing, ${resourceId})
        WHERE v.org_id = ${orgId} AND ${usesResource(resourceId)}`,
  );
}

type DeploymentUse = Pick<DeploymentRow, 'id' | 'slug' | 'name' | 'status'> & {
  isLive: boolean;
  isDraft: boolean;
  isNewest: boolean;
};

/**
 * Lists the deployments whose live, draft or newest version uses the resource, oldest first, and which of the three do.
 * Planned for each call: few uses favour the index by use, thousands favour the index of versions.
 */
export async function deploymentsUsing(db: Executor, orgId: string, resourceId: string): Promise<DeploymentUse[]> {
  const { id, slug, name, status } = deployments.columns;
  const using = rowsStatement(
    { id, slug, name, status, isLive: boolean(), isDraft: boolean(), isNewest: boolean() },
    sql`SELECT d.id, d.slug, d.name, d.status,
          coalesce(bool_or(v.version = d.live_version), false) AS "isLive",
          coalesce(bool_or(v.version = d.draft_version), false) AS "isDraft",
          coalesce(bool_or(v.version = d.newest_version), false) AS "isNewest"
        FROM ${deployments} d JOIN ${deploymentVersions} v ON v.deployment_id = d.id
          AND v.version = ANY (ARRAY[d.live_version, d.draft_version, d.newest_version])
        WHERE d.org_id = ${orgId} AND ${usesResource(resourceId)} GROUP BY d.id ORDER BY d.id`,
  );
  const [found] = await pipelined(db, [plannedPerExecution(using)]);
  return found;
}

/** True if the version `v` uses the resource. */
const usesResource = (resourceId: string): Sql => sql`v.uses @> ARRAY[${resourceId}::text]`;

type CachedVersion = { manifest: Manifest; content: FixedContent };

const maxCachedVersions = 500;
const cachedVersions = new Map<string, CachedVersion>();

/** Cached without expiry: a saved version never changes. */
export async function versionOf(db: Executor, deploymentId: string, version: number): Promise<CachedVersion> {
  const name = `${deploymentId}@${version}`;
  const found = cachedVersions.get(name);
  if (found) return found;
  const { manifest, content } = await getVersion(db, { id: deploymentId }, version);
  if (cachedVersions.size >= maxCachedVersions) cachedVersions.clear();
  cachedVersions.set(name, { manifest, content });
  return { manifest, content };
}

export async function manifestOf(db: Executor, deploymentId: string, version: number): Promise<Manifest> {
  return (await versionOf(db, deploymentId, version)).manifest;
}
