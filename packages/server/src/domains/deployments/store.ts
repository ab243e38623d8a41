import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { and, arrayContains, asc, desc, eq, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { Executor, Transaction } from '../../db/pool.ts';
import { selectRows } from '../../db/rows.ts';
import type { FixedContent } from './content.ts';
import { type FileObjects, type Manifest, usesOf } from './manifest.ts';
import { type DeploymentRow, deployments, deploymentVersions, livePromotions, type VersionRow } from './tables.ts';
import { firstPointers, type Pointers } from './version-pointers.ts';

/** Who saved a version; a session token saves none. */
export type Author = { type: 'key' | 'member' | 'system'; id: string; name: string };

export type VersionContent = {
  manifest: Manifest;
  fileObjects: FileObjects;
  content: FixedContent;
  changed: readonly string[];
  note: string | null;
  createdBy: Author;
};

/** Deployments are shared by both modes of their org. */
export function listDeployments(
  db: Executor,
  orgId: string,
  page: { limit: number; after: readonly string[] | null },
): Promise<DeploymentRow[]> {
  return db
    .select()
    .from(deployments)
    .where(and(eq(deployments.org_id, orgId), page.after ? lt(deployments.id, page.after[0] as string) : undefined))
    .orderBy(desc(deployments.id))
    .limit(page.limit + 1);
}

export async function findById(db: Executor, orgId: string, id: string): Promise<DeploymentRow | undefined> {
  const [row] = await selectRows(db, deployments, { id, org_id: orgId });
  return row;
}

/** For what is shown without a key: an id is one deployment's, whichever org's that is. */
export async function findDeploymentOfAnyOrg(db: Executor, id: string): Promise<DeploymentRow | undefined> {
  const [row] = await selectRows(db, deployments, { id });
  return row;
}

export const findBySlug = (db: Executor, orgId: string, slug: string) => findOne(db, orgId, eq(deployments.slug, slug));

/** Names may be used twice: the oldest deployment keeps hers. */
export const findByName = (db: Executor, orgId: string, name: string) => findOne(db, orgId, eq(deployments.name, name));

async function findOne(db: Executor, orgId: string, which: SQL): Promise<DeploymentRow | undefined> {
  const [row] = await db
    .select()
    .from(deployments)
    .where(and(eq(deployments.org_id, orgId), which))
    .orderBy(asc(deployments.id))
    .limit(1);
  return row;
}

/**
 * How firmly the row is held until the transaction ends: `key share` keeps it from being deleted, `no key update` also
 * from being changed by anybody else, `update` also from being pointed at by a new row elsewhere.
 */
type Hold = 'key share' | 'no key update' | 'update';

export async function lockById(tx: Transaction, id: string, hold: Hold): Promise<DeploymentRow | undefined> {
  const [row] = await tx.select().from(deployments).where(eq(deployments.id, id)).for(hold);
  return row;
}

export async function takenSlugs(tx: Transaction, orgId: string, slugs: readonly string[]): Promise<Set<string>> {
  const rows = await tx
    .select({ slug: deployments.slug })
    .from(deployments)
    .where(and(eq(deployments.org_id, orgId), inArray(deployments.slug, [...slugs])));
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
  const [deployment] = await tx
    .insert(deployments)
    .values({ id: newId('dep'), org_id: orgId, name, slug, description, ...firstPointers })
    .onConflictDoNothing({ target: [deployments.org_id, deployments.slug] })
    .returning();
  if (!deployment) return undefined;
  return { deployment, version: await insertVersion(tx, deployment, content) };
}

/** The version that the deployment's `last_version` announces. */
export async function insertVersion(
  tx: Transaction,
  deployment: DeploymentRow,
  { manifest, fileObjects, content, changed, note, createdBy }: VersionContent,
): Promise<VersionRow> {
  const [row] = await tx
    .insert(deploymentVersions)
    .values({
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
    })
    .returning();
  return row as VersionRow;
}

export async function updateDeployment(
  tx: Transaction,
  id: string,
  changes: Partial<Pointers & Pick<DeploymentRow, 'status' | 'name' | 'description'>>,
): Promise<DeploymentRow> {
  const [row] = await tx
    .update(deployments)
    .set({ ...changes, updated_at: sql`now()` })
    .where(eq(deployments.id, id))
    .returning();
  return row as DeploymentRow;
}

/** Its versions go with it. */
export async function deleteDeployment(tx: Transaction, id: string): Promise<void> {
  await tx.delete(deployments).where(eq(deployments.id, id));
}

export function listVersions(
  db: Executor,
  deploymentId: string,
  page: { limit: number; below: number | null },
): Promise<VersionRow[]> {
  return db
    .select()
    .from(deploymentVersions)
    .where(
      and(
        eq(deploymentVersions.deployment_id, deploymentId),
        page.below === null ? undefined : lt(deploymentVersions.version, page.below),
      ),
    )
    .orderBy(desc(deploymentVersions.version))
    .limit(page.limit + 1);
}

export async function getVersion(
  db: Executor,
  deployment: Pick<DeploymentRow, 'id'>,
  version: number,
): Promise<VersionRow> {
  const [row] = await db
    .select()
    .from(deploymentVersions)
    .where(and(eq(deploymentVersions.deployment_id, deployment.id), eq(deploymentVersions.version, version)));
  if (!row) throw fail('version_not_found', { param: 'version' });
  return row;
}

export const newestVersion = (db: Executor, deployment: DeploymentRow): Promise<VersionRow> =>
  getVersion(db, deployment, deployment.newest_version);

/** The promotion on top of the stack, then the one below it. */
export function topPromotions(tx: Transaction, deploymentId: string): Promise<{ height: number; version: number }[]> {
  return tx
    .select({ height: livePromotions.height, version: livePromotions.version })
    .from(livePromotions)
    .where(eq(livePromotions.deployment_id, deploymentId))
    .orderBy(desc(livePromotions.height))
    .limit(2);
}

export async function putPromotion(
  tx: Transaction,
  deployment: DeploymentRow,
  { height, version }: { height: number; version: number },
): Promise<void> {
  await tx.insert(livePromotions).values({ deployment_id: deployment.id, org_id: deployment.org_id, height, version });
}

export async function takePromotion(tx: Transaction, deploymentId: string, height: number): Promise<void> {
  await tx
    .delete(livePromotions)
    .where(and(eq(livePromotions.deployment_id, deploymentId), eq(livePromotions.height, height)));
}

/**
 * Until the transaction ends nobody else of the org saves or promotes a version, rolls back, or changes and deletes what
 * versions that are live use. Taken before any row is locked, so that none of these wait for each other in a circle.
 */
export async function lockVersions(tx: Transaction, orgId: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`vestra versions ${orgId}`}, 0))`);
}

/** The live versions that name a notebook or a skill, oldest deployment first; archived deployments keep theirs. */
export function liveVersionsUsing(
  db: Executor,
  orgId: string,
  resourceId: string,
): Promise<{ deployment: DeploymentRow; version: VersionRow }[]> {
  return db
    .select({ deployment: deployments, version: deploymentVersions })
    .from(deployments)
    .innerJoin(
      deploymentVersions,
      and(
        eq(deploymentVersions.deployment_id, deployments.id),
        eq(deploymentVersions.version, deployments.live_version),
      ),
    )
    .where(and(eq(deployments.org_id, orgId), arrayContains(deploymentVersions.uses, [resourceId])))
    .orderBy(asc(deployments.id));
}

/** The slugs of deployments that run it live, or would after rolling back. */
export async function deploymentsRelyingOn(db: Executor, orgId: string, resourceId: string): Promise<string[]> {
  const rows = await db
    .selectDistinct({ slug: deployments.slug })
    .from(livePromotions)
    .innerJoin(
      deploymentVersions,
      and(
        eq(deploymentVersions.deployment_id, livePromotions.deployment_id),
        eq(deploymentVersions.version, livePromotions.version),
      ),
    )
    .innerJoin(deployments, eq(deployments.id, livePromotions.deployment_id))
    .where(and(eq(livePromotions.org_id, orgId), arrayContains(deploymentVersions.uses, [resourceId])))
    .orderBy(deployments.slug);
  return rows.map(({ slug }) => slug);
}

/** The revisions of a notebook that any version fixes. */
export async function fixedRevisions(db: Executor, orgId: string, notebookId: string): Promise<number[]> {
  const rows = await db
    .selectDistinct({ revision: sql<number>`(${deploymentVersions.content} -> 'notebooks' ->> ${notebookId})::int` })
    .from(deploymentVersions)
    .where(and(eq(deploymentVersions.org_id, orgId), arrayContains(deploymentVersions.uses, [notebookId])));
  return rows.map(({ revision }) => revision);
}

/** What names it says from now on that it is gone. */
export async function markMissing(tx: Transaction, orgId: string, resourceId: string): Promise<void> {
  await tx
    .update(deploymentVersions)
    .set({ missing: sql`array_append(${deploymentVersions.missing}, ${resourceId})` })
    .where(and(eq(deploymentVersions.org_id, orgId), arrayContains(deploymentVersions.uses, [resourceId])));
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
export function deploymentsUsing(db: Executor, orgId: string, resourceId: string): Promise<Use[]> {
  const names = (pointer: AnyPgColumn) =>
    sql<boolean>`coalesce(bool_or(${deploymentVersions.version} = ${pointer}), false)`;
  const { id, slug, name, status, live_version, draft_version, newest_version } = deployments;
  return db
    .select({
      id,
      slug,
      name,
      status,
      isLive: names(live_version),
      isDraft: names(draft_version),
      isNewest: names(newest_version),
    })
    .from(deployments)
    .innerJoin(
      deploymentVersions,
      and(
        eq(deploymentVersions.deployment_id, id),
        sql`${deploymentVersions.version} = ANY (ARRAY[${live_version}, ${draft_version}, ${newest_version}])`,
      ),
    )
    .where(and(eq(deployments.org_id, orgId), arrayContains(deploymentVersions.uses, [resourceId])))
    .groupBy(id)
    .orderBy(asc(id));
}
