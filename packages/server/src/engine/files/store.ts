import type { Tenant } from '../../platform/caller.ts';
import type { Statement } from '../../platform/db/group.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, reading, rowsOf, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, float, text } from '../../platform/db/table.ts';
import { type FileRow, files, type NewFile, unusedContents } from './tables.ts';

const owned = (tenant: Tenant) => sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode}`;

export const insertFile = (tx: Executor, row: NewFile): Promise<FileRow> => insert(tx, files, row);

export const findFile = (db: Executor, tenant: Tenant, fileId: string): Promise<FileRow | undefined> =>
  maybeOne(db, files, sql`SELECT ${columnsOf(files)} FROM ${files} WHERE ${owned(tenant)} AND id = ${fileId}`);

/** Whoever holds a signed link needs no org to name it by. */
export const findLinkedFile = (db: Executor, fileId: string): Promise<FileRow | undefined> =>
  maybeOne(db, files, sql`SELECT ${columnsOf(files)} FROM ${files} WHERE id = ${fileId}`);

export type FileFilter = {
  userId?: string | undefined;
  taskId?: string | undefined;
  conversationId?: string | undefined;
  source: FileRow['source'];
};

export function listFiles(
  db: Executor,
  tenant: Tenant,
  { userId, taskId, conversationId, source }: FileFilter,
  page: { limit: number; after: readonly string[] | null },
): Promise<FileRow[]> {
  const listed = sql.and(
    owned(tenant),
    sql`source = ${source}`,
    userId && sql`user_id = ${userId}`,
    taskId && sql`task_id = ${taskId}`,
    conversationId && sql`conversation_id = ${conversationId}`,
    page.after && sql`id < ${page.after[0] as string}`,
  );
  return rowsOf(
    db,
    files,
    sql`SELECT ${columnsOf(files)} FROM ${files} WHERE ${listed} ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

export async function deleteFile(tx: Transaction, tenant: Tenant, fileId: string): Promise<FileRow | undefined> {
  const [row] = await deleteFiles(tx, sql`${owned(tenant)} AND id = ${fileId}`);
  return row;
}

export const deleteFilesOfUser = (tx: Transaction, tenant: Tenant, userId: string): Promise<FileRow[]> =>
  deleteFiles(tx, sql`${owned(tenant)} AND user_id = ${userId}`);

const mostOutputs = 100;

/** What work has made in a conversation, the newest first. */
export const outputsOf = (db: Executor, tenant: Tenant, conversationId: string): Promise<FileRow[]> =>
  rowsOf(
    db,
    files,
    sql`SELECT ${columnsOf(files)} FROM ${files}
      WHERE ${owned(tenant)} AND source = 'output' AND conversation_id = ${conversationId}
      ORDER BY id DESC LIMIT ${mostOutputs}`,
  );

/** What a task has made. */
export const deleteOutputsOf = (tx: Transaction, tenant: Tenant, taskId: string): Promise<FileRow[]> =>
  deleteFiles(tx, sql`${owned(tenant)} AND task_id = ${taskId}`);

/** What they held is noted: whoever asked may die before it is removed from the store. */
const deleteFiles = (tx: Transaction, which: Sql): Promise<FileRow[]> =>
  rowsOf(
    tx,
    files,
    sql`
      WITH gone AS (DELETE FROM ${files} WHERE ${which} RETURNING ${columnsOf(files)}),
      noted AS (
        INSERT INTO ${unusedContents} (org_id, name) SELECT DISTINCT org_id, sha256 FROM gone ORDER BY org_id, sha256
        ON CONFLICT (org_id, name) DO NOTHING)
      SELECT * FROM gone`,
  );

/** So many pages of the table are looked at: some ten thousand files. */
const mostPages = 500;

/** The bytes of all files: exact where there are few, and from some pages of the table where there are many. */
export const readingStoredBytes = (): Statement<{ bytes: number }[]> =>
  reading(
    { bytes: float() },
    sql`WITH share AS (
        SELECT least(1, ${mostPages}::float8 / greatest(1, relpages)) AS of_all FROM pg_class
        WHERE oid = '${sql.raw(files.name)}'::regclass
      )
      SELECT coalesce(sum(size_bytes), 0)::float8 / (SELECT of_all FROM share) AS bytes
      FROM ${files} TABLESAMPLE SYSTEM ((SELECT (100 * of_all)::real FROM share)) REPEATABLE (1)`,
  );

/** What tools answered with, older than that, the oldest first; nobody waits for one that another is removing. */
export const deleteOldOfTools = (tx: Transaction, before: Date, limit: number): Promise<FileRow[]> =>
  deleteFiles(
    tx,
    sql`id IN (SELECT id FROM ${files} WHERE source = 'tool' AND created_at < ${before}
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );

export async function findFiles(db: Executor, tenant: Tenant, ids: readonly string[]): Promise<FileRow[]> {
  if (ids.length === 0) return [];
  return rowsOf(db, files, sql`SELECT ${columnsOf(files)} FROM ${files} WHERE ${owned(tenant)} AND id = ANY(${ids})`);
}

/** Those of the ids that this mode of the org has; held ones cannot be deleted before the commit. */
export async function filesExist(
  tx: Transaction,
  tenant: Tenant,
  ids: readonly string[],
  { hold }: { hold: boolean },
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const found = await rowsOf(
    tx,
    { id: text() },
    sql`SELECT id FROM ${files} WHERE ${owned(tenant)} AND id = ANY(${ids}) ${hold ? sql`FOR KEY SHARE` : sql.empty}`,
  );
  return new Set(found.map(({ id }) => id));
}

/**
 * Held until the commit, so that bytes which one transaction is about to need are not removed by another that has just
 * seen nobody need them.
 */
export async function lockContent(tx: Transaction, orgId: string, sha256: string): Promise<void> {
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${`file ${orgId} ${sha256}`}, 0))`);
}

export async function isContentUsed(tx: Transaction, orgId: string, sha256: string): Promise<boolean> {
  const found = await run(tx, sql`SELECT FROM ${files} WHERE org_id = ${orgId} AND sha256 = ${sha256} LIMIT 1`);
  return found > 0;
}

/** `name`: in the file store; of the content of a file its hash. */
export async function noteUnused(db: Executor, orgId: string, name: string): Promise<void> {
  await run(
    db,
    sql`INSERT INTO ${unusedContents} (org_id, name) VALUES (${orgId}, ${name})
      ON CONFLICT (org_id, name) DO UPDATE SET since = now()`,
  );
}

export async function forgetUnused(tx: Transaction, orgId: string, name: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${unusedContents} WHERE org_id = ${orgId} AND name = ${name}`);
}

export const oldestUnused = (db: Executor, before: Date, limit: number) =>
  rowsOf(
    db,
    unusedContents,
    sql`SELECT ${columnsOf(unusedContents)} FROM ${unusedContents} WHERE since < ${before} ORDER BY since LIMIT ${limit}`,
  );

const mostContents = 1_000;

/** What bytes there must be for the rows of all orgs, each once, in order. */
export async function* usedContents(db: Executor): AsyncGenerator<{ orgId: string; sha256: string }> {
  let after = { org_id: '', sha256: '' };
  for (;;) {
    const rows = await rowsOf(
      db,
      { org_id: text(), sha256: text() },
      sql`SELECT DISTINCT org_id, sha256 FROM ${files} WHERE (org_id, sha256) > (${after.org_id}, ${after.sha256})
        ORDER BY org_id, sha256 LIMIT ${mostContents}`,
    );
    for (const { org_id, sha256 } of rows) yield { orgId: org_id, sha256 };
    if (rows.length < mostContents) return;
    after = rows.at(-1) as typeof after;
  }
}
