/** Files of conversations that have a copy on a computer. A deletion marks the copies, and the computer removes them. */
import type { Tenant } from '../platform/caller.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { columnsOf, type RowOf, text } from '../platform/db/table.ts';
import type { JobSender } from '../platform/jobs/catalog.ts';
import type { EraseConversations, EraseFiles, EraseObject } from '../platform/registration.ts';
import { type Owner, ownedBy } from './store.ts';
import { computerPreparations } from './tables.ts';

export type PlacedFile = RowOf<typeof computerPreparations>;

const isFile = sql`kind IN ('file', 'upload', 'output')`;

/** The files, and the skills that were deleted. */
export const listPlacedFiles = (db: Executor, owner: Owner): Promise<PlacedFile[]> =>
  rowsOf(
    db,
    computerPreparations,
    sql`SELECT ${columnsOf(computerPreparations)} FROM ${computerPreparations}
      WHERE ${ownedBy(owner)} AND (${isFile} OR (kind = 'skill' AND is_deleted))`,
  );

export async function hasDeletedFiles(db: Executor, owner: Owner): Promise<boolean> {
  const marked = sql`SELECT FROM ${computerPreparations} WHERE ${ownedBy(owner)} AND is_deleted LIMIT 1`;
  return (await run(db, marked)) > 0;
}

/** Notes that a file on the computer was saved as an output, so that the deletion of the output removes it there too. */
export async function recordOutput(
  db: Executor,
  { orgId, mode, userId }: Owner,
  { path, sha256, fileId, conversationId }: { path: string; sha256: string; fileId: string; conversationId: string },
): Promise<void> {
  await run(
    db,
    sql`INSERT INTO ${computerPreparations}
        (org_id, mode, user_key, kind, key, fingerprint, file_id, conversation_id)
      SELECT org_id, mode, user_key, 'output', ${path}, ${sha256}, ${fileId}, ${conversationId} FROM computers
      WHERE org_id = ${orgId} AND mode = ${mode} AND user_key = ${userId ?? ''}
      ON CONFLICT (org_id, mode, user_key, kind, key) DO UPDATE SET fingerprint = excluded.fingerprint,
        file_id = excluded.file_id, conversation_id = excluded.conversation_id, is_deleted = false, prepared_at = now()`,
  );
}

/** Marks the copies of deleted files, and sends a job to each computer that has one. */
export const fileCopyEraser =
  (jobs: JobSender): EraseFiles =>
  (tx, tenant, files) =>
    markDeleted(tx, jobs, tenant, sql`${isFile} AND file_id = ANY(${files.map(({ id }) => id)})`);

/** The file of an upload may remain, because other conversations may use it. Its copy for this conversation goes. */
export const conversationCopyEraser =
  (jobs: JobSender): EraseConversations =>
  (tx, tenant, ids) =>
    markDeleted(tx, jobs, tenant, sql`${isFile} AND conversation_id = ANY(${ids})`);

/** Copies from before 0.3.0 do not name their skill. They are removed before the next task runs there. */
export const skillCopyEraser =
  (jobs: JobSender): EraseObject =>
  async (tx, tenant, { object, id }) => {
    if (object === 'skill') await markDeleted(tx, jobs, tenant, sql`kind = 'skill' AND file_id = ${id}`);
  };

async function markDeleted(tx: Transaction, jobs: JobSender, { orgId, mode }: Tenant, which: Sql): Promise<void> {
  const marked = await rowsOf(
    tx,
    { user_key: text(), kind: computerPreparations.columns.kind },
    sql`UPDATE ${computerPreparations} SET is_deleted = true
      WHERE org_id = ${orgId} AND mode = ${mode} AND ${which} RETURNING user_key, kind`,
  );
  // A file of the deployment may be on very many computers. Each removes it when it is next used.
  const owners = new Set(marked.filter(({ kind }) => kind !== 'file').map(({ user_key }) => user_key));
  await jobs.sendMany(
    tx,
    'computer.tidy',
    [...owners].map((key) => ({ org_id: orgId, mode, user_id: key === '' ? null : key })),
  );
}
