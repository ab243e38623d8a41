import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { type FileRow, files } from './tables.ts';

const owned = (tenant: Tenant) => and(eq(files.org_id, tenant.orgId), eq(files.mode, tenant.mode));

export async function insertFile(tx: Transaction, row: typeof files.$inferInsert): Promise<FileRow> {
  const [inserted] = await tx.insert(files).values(row).returning();
  return inserted as FileRow;
}

export async function findFile(db: Executor, tenant: Tenant, fileId: string): Promise<FileRow | undefined> {
  const [row] = await db
    .select()
    .from(files)
    .where(and(owned(tenant), eq(files.id, fileId)));
  return row;
}

/** Whoever holds a signed link needs no org to name it by. */
export async function findLinkedFile(db: Executor, fileId: string): Promise<FileRow | undefined> {
  const [row] = await db.select().from(files).where(eq(files.id, fileId));
  return row;
}

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
  return db
    .select()
    .from(files)
    .where(
      and(
        owned(tenant),
        eq(files.source, source),
        userId ? eq(files.user_id, userId) : undefined,
        taskId ? eq(files.task_id, taskId) : undefined,
        conversationId ? eq(files.conversation_id, conversationId) : undefined,
        page.after ? lt(files.id, page.after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(files.id))
    .limit(page.limit + 1);
}

export async function deleteFile(tx: Transaction, tenant: Tenant, fileId: string): Promise<FileRow | undefined> {
  const [row] = await tx
    .delete(files)
    .where(and(owned(tenant), eq(files.id, fileId)))
    .returning();
  return row;
}

export function deleteFilesOfUser(tx: Transaction, tenant: Tenant, userId: string): Promise<FileRow[]> {
  return tx
    .delete(files)
    .where(and(owned(tenant), eq(files.user_id, userId)))
    .returning();
}

/** What a task has made. */
export function deleteOutputsOf(tx: Transaction, tenant: Tenant, taskId: string): Promise<FileRow[]> {
  return tx
    .delete(files)
    .where(and(owned(tenant), eq(files.task_id, taskId)))
    .returning();
}

export function findFiles(db: Executor, tenant: Tenant, ids: readonly string[]): Promise<FileRow[]> {
  return db
    .select()
    .from(files)
    .where(and(owned(tenant), inArray(files.id, [...ids])));
}

/** Those of the ids that this mode of the org has; held ones cannot be deleted before the commit. */
export async function filesExist(
  tx: Transaction,
  tenant: Tenant,
  ids: readonly string[],
  { hold }: { hold: boolean },
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const found = tx
    .select({ id: files.id })
    .from(files)
    .where(and(owned(tenant), inArray(files.id, [...ids])));
  return new Set((await (hold ? found.for('key share') : found)).map(({ id }) => id));
}

/**
 * Held until the commit, so that bytes which one transaction is about to need are not removed by another that has just
 * seen nobody need them.
 */
export async function lockContent(tx: Transaction, orgId: string, sha256: string): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`file ${orgId} ${sha256}`}, 0))`);
}

export async function isContentUsed(tx: Transaction, orgId: string, sha256: string): Promise<boolean> {
  const [row] = await tx
    .select({ id: files.id })
    .from(files)
    .where(and(eq(files.org_id, orgId), eq(files.sha256, sha256)))
    .limit(1);
  return row !== undefined;
}
