import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../db/pool.ts';
import { fixedRevisions } from '../deployments/api.ts';
import { documents, type NotebookRow, notebooks } from './tables.ts';

/** In the newest content of its notebook. */
export const isInNewest = sql`upper_inf(${documents.revisions})`;

const isIn = (revision: number) => sql`${documents.revisions} @> ${revision}::int`;

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

export async function beginChange(
  tx: Transaction,
  { id, revision }: NotebookRow,
  copied: readonly number[],
): Promise<RevisionChange> {
  const copies = new Map<number, number>();
  let last = revision;
  for (const from of new Set(copied)) {
    last += 1;
    copies.set(from, last);
    const copy = sql`int4multirange(int4range(${last}::int, ${last + 1}::int))`;
    // Only documents in which the two differ are written: those of the newest are in every later revision by themselves.
    await tx
      .update(documents)
      .set({
        revisions: sql`CASE WHEN ${isIn(from)} THEN ${documents.revisions} + ${copy} ELSE ${documents.revisions} - ${copy} END`,
      })
      .where(and(eq(documents.notebook_id, id), sql`(${isIn(from)}) <> ${isInNewest}`));
  }
  await tx
    .update(notebooks)
    .set({ revision: last + 1 })
    .where(eq(notebooks.id, id));
  return { first: revision + 1, copies };
}

/** Every revision from this one on. */
export const from = (revision: number) => sql`int4multirange(int4range(${revision}::int, NULL))`;

/** Of these revisions of its notebook, those that have the document. */
export async function revisionsWith(
  db: Executor,
  documentId: string,
  revisions: readonly number[],
): Promise<ReadonlySet<number>> {
  if (revisions.length === 0) return new Set();
  const { rows } = await db.execute<{ revision: number }>(sql`
    SELECT revision FROM documents, unnest(${sql.param([...revisions])}::int[]) AS given (revision)
    WHERE id = ${documentId} AND documents.revisions @> revision`);
  return new Set(rows.map(({ revision }) => revision));
}

/** The revision of each notebook's newest content. They cannot change until the transaction ends. */
export async function holdRevisions(
  tx: Transaction,
  orgId: string,
  ids: readonly string[],
): Promise<Record<string, number>> {
  if (ids.length === 0) return {};
  const rows = await tx
    .select({ id: notebooks.id, revision: notebooks.revision })
    .from(notebooks)
    .where(and(eq(notebooks.org_id, orgId), inArray(notebooks.id, [...ids])))
    .orderBy(notebooks.id)
    .for('share');
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
  const { rows } = await db.execute(sql`
    SELECT FROM unnest(${sql.param(ids)}::text[], ${sql.param(Object.values(fixed))}::int[]) AS fixed (id, revision)
    JOIN notebooks ON notebooks.id = fixed.id AND notebooks.org_id = ${orgId} AND notebooks.revision <> fixed.revision
    JOIN documents ON documents.notebook_id = notebooks.id
      AND (documents.revisions @> fixed.revision) <> upper_inf(documents.revisions)
    LIMIT 1`);
  return rows.length > 0;
}

/** Removes the documents that are neither in the newest content nor in what any version fixes. Only of a locked notebook. */
export async function removeUnused(
  tx: Transaction,
  { id, org_id }: Pick<NotebookRow, 'id' | 'org_id'>,
): Promise<number> {
  const fixed = await fixedRevisions(tx, org_id, id);
  const removed = await tx.execute(sql`
    DELETE FROM documents WHERE notebook_id = ${id} AND NOT upper_inf(revisions) AND NOT EXISTS (
      SELECT FROM unnest(${sql.param(fixed)}::int[]) AS fixed (revision) WHERE documents.revisions @> fixed.revision)`);
  return removed.rowCount ?? 0;
}
