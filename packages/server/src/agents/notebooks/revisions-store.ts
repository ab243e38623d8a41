import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { integer, text } from '../../platform/db/table.ts';
import { documents, type NotebookRow, notebooks } from './tables.ts';

/**
 * A change of a notebook that is locked. It goes into the newest content and, apart from that, into a copy of each of the
 * revisions that live traffic reads: what a test key has changed meanwhile is in the newest and not in these copies.
 */
export type RevisionChange = {
  /** The first that has the change; every later one has it too. */
  first: number;
  /** The copy of each revision. */
  copies: ReadonlyMap<number, number>;
};

/** In the newest content of its notebook. */
export const isInNewest = sql`upper_inf(revisions)`;

/** Every revision from this one on. */
export const from = (revision: number): string => `{[${revision},)}`;

/** Only documents in which the two differ are written: those of the newest are in every later revision by themselves. */
export async function copyRevision(
  tx: Transaction,
  notebookId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const copy = sql`${`{[${to},${to + 1})}`}::int4multirange`;
  const isIn = sql`revisions @> ${from}::int`;
  await run(
    tx,
    sql`UPDATE ${documents} SET revisions = CASE WHEN ${isIn} THEN revisions + ${copy} ELSE revisions - ${copy} END
        WHERE notebook_id = ${notebookId} AND (${isIn}) <> ${isInNewest}`,
  );
}

export async function setRevision(tx: Transaction, notebookId: string, revision: number): Promise<void> {
  await run(tx, sql`UPDATE ${notebooks} SET revision = ${revision} WHERE id = ${notebookId}`);
}

/** Of these revisions of its notebook, those that have the document. */
export async function revisionsWith(
  db: Executor,
  documentId: string,
  revisions: readonly number[],
): Promise<ReadonlySet<number>> {
  if (revisions.length === 0) return new Set();
  const rows = await rowsOf(
    db,
    { revision: integer() },
    sql`SELECT given.revision FROM ${documents}, unnest(${revisions}::int[]) AS given (revision)
        WHERE id = ${documentId} AND revisions @> given.revision`,
  );
  return new Set(rows.map(({ revision }) => revision));
}

/** The revision of each notebook's newest content. They cannot change until the transaction ends. */
export async function holdRevisions(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<Record<string, number>> {
  if (ids.length === 0) return {};
  const rows = await rowsOf(
    tx,
    { id: text(), revision: integer() },
    sql`SELECT id, revision FROM ${notebooks} WHERE org_id = ${orgId} AND id = ANY(${ids}) ORDER BY id FOR SHARE`,
  );
  return Object.fromEntries(rows.map(({ id, revision }) => [id, revision]));
}

/** Whether any of these notebooks has other documents now than in the revision that was fixed of it. */
export async function isAnyChanged(
  db: Executor,
  orgId: string,
  fixed: Readonly<Record<string, number>>,
): Promise<boolean> {
  const ids = Object.keys(fixed);
  if (ids.length === 0) return false;
  const changed = await maybeOne(
    db,
    { id: text() },
    sql`SELECT n.id FROM unnest(${ids}::text[], ${Object.values(fixed)}::int[]) AS fixed (id, revision)
        JOIN ${notebooks} n ON n.id = fixed.id AND n.org_id = ${orgId} AND n.revision <> fixed.revision
        JOIN ${documents} d ON d.notebook_id = n.id AND (d.revisions @> fixed.revision) <> upper_inf(d.revisions)
        LIMIT 1`,
  );
  return changed !== undefined;
}

/** Removes the documents that are neither in the newest content nor in a revision that is kept. */
export const deleteDocumentsExcept = (tx: Transaction, notebookId: string, kept: readonly number[]): Promise<number> =>
  run(
    tx,
    sql`DELETE FROM ${documents} WHERE notebook_id = ${notebookId} AND NOT ${isInNewest} AND NOT EXISTS (
          SELECT FROM unnest(${kept}::int[]) AS kept (revision) WHERE revisions @> kept.revision)`,
  );

/** Notebooks of all orgs with documents that are not in their newest content, in the order of their ids. */
export const notebooksKeepingMore = (
  db: Executor,
  { after, limit }: { after: string; limit: number },
): Promise<Pick<NotebookRow, 'id' | 'org_id'>[]> =>
  rowsOf(
    db,
    { id: text(), org_id: text() },
    sql`SELECT DISTINCT notebook_id AS id, org_id FROM ${documents}
        WHERE NOT ${isInNewest} AND notebook_id > ${after} ORDER BY notebook_id LIMIT ${limit}`,
  );
