import { fixedContents, isContentFixed } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { requestedRows } from '../../platform/db/batch-concurrent-calls.ts';
import type { Statement } from '../../platform/db/pipeline.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, rowsOf, rowsPlannedFor, rowsStatement, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, float, text } from '../../platform/db/table.ts';
import { type FileRow, files, type NewFile, unusedContents } from './tables.ts';

const owned = (tenant: Tenant) => sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode}`;

export const insertFile = (tx: Executor, row: NewFile): Promise<FileRow> => insert(tx, files, row);

export const findFile = (db: Executor, tenant: Tenant, fileId: string): Promise<FileRow | undefined> =>
  maybeOne(db, files, sql`SELECT ${columnsOf(files)} FROM ${files} WHERE ${owned(tenant)} AND id = ${fileId}`);

/** A signed link names no org. */
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
  return rowsPlannedFor(
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

const maxOutputs = 100;

/** The outputs of tasks and the files that tool servers returned in each conversation, newest first. */
export async function outputsOf(
  db: Executor,
  wanted: readonly (Tenant & { conversationId: string })[],
): Promise<FileRow[][]> {
  const each = wanted.map(({ orgId, mode, conversationId }) => ({
    org_id: orgId,
    mode,
    conversation_id: conversationId,
  }));
  const rows = await rowsOf(
    db,
    files,
    sql`SELECT found.* FROM ${requestedRows(each, ['org_id', 'mode', 'conversation_id'])}
      CROSS JOIN LATERAL (
        SELECT ${columnsOf(files)} FROM ${files}
        WHERE org_id = wanted.org_id AND mode = wanted.mode AND source IN ('output', 'tool')
          AND conversation_id = wanted.conversation_id AND (source = 'output' OR filename NOT LIKE 'tool.%')
        ORDER BY id DESC LIMIT ${maxOutputs}) AS found
      ORDER BY found.id DESC`,
  );
  return wanted.map(({ conversationId }) => rows.filter(({ conversation_id }) => conversation_id === conversationId));
}

/** Deletes the outputs of a task. */
export const deleteOutputsOf = (tx: Transaction, tenant: Tenant, taskId: string): Promise<FileRow[]> =>
  deleteFiles(tx, sql`${owned(tenant)} AND task_id = ${taskId}`);

export const deleteFilesOfConversations = (
  tx: Transaction,
  tenant: Tenant,
  conversationIds: readonly string[],
): Promise<FileRow[]> => deleteFiles(tx, sql`${owned(tenant)} AND conversation_id = ANY(${conversationIds})`);

/** Marks their contents as unused in the same statement, because the process may die before it removes them. */
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

/** About ten thousand files. */
const maxSampledPages = 500;

/** The total size of all files: exact for small tables, and sampled for large ones. */
export const storedBytesStatement = (): Statement<{ bytes: number }[]> =>
  rowsStatement(
    { bytes: float() },
    sql`WITH share AS (
        SELECT least(1, ${maxSampledPages}::float8 / greatest(1, relpages)) AS of_all FROM pg_class
        WHERE oid = '${sql.raw(files.name)}'::regclass
      )
      SELECT coalesce(sum(size_bytes), 0)::float8 / (SELECT of_all FROM share) AS bytes
      FROM ${files} TABLESAMPLE SYSTEM ((SELECT (100 * of_all)::real FROM share)) REPEATABLE (1)`,
  );

/** Deletes the oldest files of tool results. Skips rows that another process is deleting. */
export const deleteOldToolFiles = (tx: Transaction, before: Date, limit: number): Promise<FileRow[]> =>
  deleteFiles(
    tx,
    sql`id IN (SELECT id FROM ${files} WHERE source = 'tool' AND created_at < ${before}
      ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)`,
  );

export async function findFiles(db: Executor, tenant: Tenant, ids: readonly string[]): Promise<FileRow[]> {
  if (ids.length === 0) return [];
  return rowsOf(db, files, sql`SELECT ${columnsOf(files)} FROM ${files} WHERE ${owned(tenant)} AND id = ANY(${ids})`);
}

/**
 * The hashes of the files that a version saved by this key may copy. A test key must not read files of live users; a
 * live key decides what both modes get. With `hold`, these files cannot be deleted before the commit.
 */
export async function copyableFiles(
  tx: Transaction,
  { orgId, mode }: Tenant,
  ids: readonly string[],
  { hold }: { hold: boolean },
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const reach = mode === 'live' ? sql`org_id = ${orgId}` : owned({ orgId, mode });
  const found = await rowsOf(
    tx,
    { id: text(), sha256: text() },
    sql`SELECT id, sha256 FROM ${files} WHERE ${reach} AND id = ANY(${ids}) ${hold ? sql`FOR KEY SHARE` : sql.empty}`,
  );
  return new Map(found.map(({ id, sha256 }) => [id, sha256]));
}

/** Locks a content until the commit, so that no other transaction removes bytes that this one is about to use. */
export async function lockContent(tx: Transaction, orgId: string, sha256: string): Promise<void> {
  await run(tx, sql`SELECT pg_advisory_xact_lock(hashtextextended(${`file ${orgId} ${sha256}`}, 0))`);
}

export async function isContentUsed(tx: Executor, orgId: string, sha256: string): Promise<boolean> {
  const found = await run(tx, sql`SELECT FROM ${files} WHERE org_id = ${orgId} AND sha256 = ${sha256} LIMIT 1`);
  // A version keeps the content of its files after the upload was deleted.
  return found > 0 || isContentFixed(tx, orgId, sha256);
}

/** `name` is the name in the file store: the hash of a file's content. */
export async function markContentUnused(db: Executor, orgId: string, name: string): Promise<void> {
  await run(
    db,
    sql`INSERT INTO ${unusedContents} (org_id, name) VALUES (${orgId}, ${name})
      ON CONFLICT (org_id, name) DO UPDATE SET since = now()`,
  );
}

export async function unmarkContent(tx: Transaction, orgId: string, name: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${unusedContents} WHERE org_id = ${orgId} AND name = ${name}`);
}

export const oldestUnused = (db: Executor, before: Date, limit: number) =>
  rowsOf(
    db,
    unusedContents,
    sql`SELECT ${columnsOf(unusedContents)} FROM ${unusedContents} WHERE since < ${before} ORDER BY since LIMIT ${limit}`,
  );

const contentsPerPage = 1_000;

/** The contents that the rows of all orgs, or of one, need, each once. */
export async function* usedContents(
  db: Executor,
  ofOrg: string | null = null,
): AsyncGenerator<{ orgId: string; sha256: string }> {
  let after = { org_id: '', sha256: '' };
  for (;;) {
    const rows = await rowsOf(
      db,
      { org_id: text(), sha256: text() },
      sql`SELECT DISTINCT org_id, sha256 FROM ${files} WHERE ${sql.and(
        ofOrg && sql`org_id = ${ofOrg}`,
        sql`(org_id, sha256) > (${after.org_id}, ${after.sha256})`,
      )}
        ORDER BY org_id, sha256 LIMIT ${contentsPerPage}`,
    );
    for (const { org_id, sha256 } of rows) yield { orgId: org_id, sha256 };
    if (rows.length < contentsPerPage) break;
    after = rows.at(-1) as typeof after;
  }
  for (const { org_id: orgId, sha256 } of await fixedContents(db, null)) {
    if (ofOrg !== null && orgId !== ofOrg) continue;
    const isFile = await run(db, sql`SELECT FROM ${files} WHERE org_id = ${orgId} AND sha256 = ${sha256} LIMIT 1`);
    if (isFile === 0) yield { orgId, sha256 };
  }
}

export const presentFile = (row: FileRow) => ({
  object: 'file' as const,
  id: row.id,
  user_id: row.user_id,
  filename: row.filename,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  source: row.source,
  task_id: row.task_id,
  conversation_id: row.conversation_id,
  created_at: row.created_at.toISOString(),
});
