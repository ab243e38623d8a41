import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';
import { indexedText, indexedTitle } from './indexed-text.ts';
import type { PreparedDocument } from './notebook.ts';
import { headingsOf } from './passages.ts';
import { from, isInNewest, type RevisionChange } from './revisions.ts';
import {
  type DocumentRow,
  type DocumentVectors,
  documents,
  documentVectors,
  type NotebookRow,
  notebooks,
} from './tables.ts';

type Page = { limit: number; below: string | null };

const owned = (orgId: string, notebookId: string) => and(eq(notebooks.org_id, orgId), eq(notebooks.id, notebookId));

/** Nothing, where another notebook of the org has the slug. */
export async function insertNotebook(
  tx: Executor,
  row: typeof notebooks.$inferInsert,
): Promise<NotebookRow | undefined> {
  const [inserted] = await tx
    .insert(notebooks)
    .values(row)
    .onConflictDoNothing({ target: [notebooks.org_id, notebooks.slug] })
    .returning();
  return inserted;
}

export async function findNotebook(db: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> {
  const [row] = await db.select().from(notebooks).where(owned(orgId, notebookId));
  return row;
}

/** Locked until the end of the transaction, so that who adds or removes a document counts alone. */
export async function lockNotebook(tx: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> {
  const [row] = await tx.select().from(notebooks).where(owned(orgId, notebookId)).for('no key update');
  return row;
}

/**
 * Those of the ids that are notebooks of the org. With `hold` none of them can be changed or deleted until the transaction
 * ends; without it nothing is locked.
 */
export async function notebooksExist(
  db: Executor,
  orgId: string,
  ids: readonly string[],
  { hold }: { hold: boolean },
): Promise<ReadonlySet<string>> {
  const found = db
    .select({ id: notebooks.id })
    .from(notebooks)
    .where(and(eq(notebooks.org_id, orgId), inArray(notebooks.id, [...ids])))
    .orderBy(notebooks.id);
  return new Set((await (hold ? found.for('share') : found)).map(({ id }) => id));
}

export function listNotebooks(db: Executor, orgId: string, { limit, below }: Page): Promise<NotebookRow[]> {
  return db
    .select()
    .from(notebooks)
    .where(and(eq(notebooks.org_id, orgId), below ? lt(notebooks.id, below) : undefined))
    .orderBy(desc(notebooks.id))
    .limit(limit + 1);
}

export async function updateNotebook(
  tx: Executor,
  orgId: string,
  notebookId: string,
  changes: Partial<Pick<NotebookRow, 'name' | 'description' | 'reader_ids'>>,
): Promise<NotebookRow | undefined> {
  const [row] = await tx
    .update(notebooks)
    .set({ ...changes, updated_at: sql`now()` })
    .where(owned(orgId, notebookId))
    .returning();
  return row;
}

/** Its documents and their passages go with it, also those that versions fix. */
export async function deleteNotebook(
  tx: Executor,
  orgId: string,
  notebookId: string,
): Promise<NotebookRow | undefined> {
  const [row] = await tx.delete(notebooks).where(owned(orgId, notebookId)).returning();
  return row;
}

export async function addToSums(
  tx: Executor,
  notebookId: string,
  change: { documents: 1 | -1; bytes: number },
): Promise<void> {
  await tx
    .update(notebooks)
    .set({
      document_count: sql`${notebooks.document_count} + ${change.documents}`,
      bytes: sql`${notebooks.bytes} + ${change.bytes}`,
      updated_at: sql`now()`,
    })
    .where(eq(notebooks.id, notebookId));
}

export async function insertDocument(
  tx: Executor,
  ids: { id: string; orgId: string; notebookId: string },
  document: PreparedDocument,
  change: RevisionChange,
): Promise<DocumentRow> {
  const { title, contentType, language, bytes, sha256, passages } = document;
  const [row] = await tx
    .insert(documents)
    .values({
      id: ids.id,
      org_id: ids.orgId,
      notebook_id: ids.notebookId,
      title,
      content_type: contentType,
      language,
      bytes,
      sha256,
      revisions: from(change.first),
    })
    .returning();
  const around = headingsOf(passages).map((heading) => `${indexedTitle(title)} ${indexedText(heading)}`);
  // Title and heading stand for every passage below them: words found there weigh twice.
  await tx.execute(sql`
    INSERT INTO document_passages (document_id, position, notebook_id, language, text, search)
    SELECT ${ids.id}, position - 1, ${ids.notebookId}, ${language}, passage,
      setweight(to_tsvector(${language}::regconfig, around), 'C') || to_tsvector(${language}::regconfig, indexed)
    FROM unnest(${sql.param(passages)}::text[], ${sql.param(passages.map(indexedText))}::text[],
      ${sql.param(around)}::text[]) WITH ORDINALITY AS given (passage, indexed, around, position)`);
  return row as DocumentRow;
}

/**
 * A document that comes back as it was is the same one, with its passages and vectors: a version saved before fixes it
 * still. Not one that live traffic has kept beside the newest content: there it would be a second one.
 */
export async function bringBack(
  tx: Executor,
  notebookId: string,
  { title, contentType, sha256 }: PreparedDocument,
  { first, copies }: RevisionChange,
): Promise<DocumentRow | undefined> {
  const { id, notebook_id, revisions } = documents;
  const kept = tx
    .select({ id })
    .from(documents)
    .where(
      and(
        eq(notebook_id, notebookId),
        eq(documents.sha256, sha256),
        eq(documents.title, title),
        eq(documents.content_type, contentType),
        sql`NOT ${isInNewest}`,
        sql`NOT EXISTS (SELECT FROM unnest(${sql.param([...copies.values()])}::int[]) AS copy WHERE ${revisions} @> copy)`,
      ),
    )
    .limit(1);
  const [row] = await tx
    .update(documents)
    .set({ revisions: sql`${revisions} + ${from(first)}` })
    .where(inArray(id, kept))
    .returning();
  return row;
}

export function listDocuments(
  db: Executor,
  notebook: Pick<NotebookRow, 'id' | 'org_id'>,
  { limit, below }: Page,
): Promise<DocumentRow[]> {
  return db
    .select()
    .from(documents)
    .where(
      and(
        eq(documents.org_id, notebook.org_id),
        eq(documents.notebook_id, notebook.id),
        isInNewest,
        below ? lt(documents.id, below) : undefined,
      ),
    )
    .orderBy(desc(documents.id))
    .limit(limit + 1);
}

export async function findDocument(
  db: Executor,
  orgId: string,
  notebookId: string,
  documentId: string,
): Promise<(DocumentRow & { text: string }) | undefined> {
  const [found] = await db
    .select({ row: documents, text: wholeText })
    .from(documents)
    .where(ownedDocument(orgId, notebookId, documentId));
  return found && { ...found.row, text: found.text };
}

/** From this change on it is in no revision; those before keep it. */
export async function takeOut(tx: Executor, documentId: string, { first }: RevisionChange): Promise<void> {
  await tx
    .update(documents)
    .set({ revisions: sql`${documents.revisions} - ${from(first)}` })
    .where(eq(documents.id, documentId));
}

const ownedDocument = (orgId: string, notebookId: string, documentId: string) =>
  and(eq(documents.org_id, orgId), eq(documents.notebook_id, notebookId), eq(documents.id, documentId), isInNewest);

export const wholeText = sql<string>`(
  SELECT string_agg(text, '' ORDER BY position) FROM document_passages WHERE document_id = ${documents.id})`;

/** The text of a document in its passages; none where it is gone. */
export async function loadPassages(db: Executor, documentId: string): Promise<string[]> {
  const { rows } = await db.execute<{ text: string }>(sql`
    SELECT text FROM document_passages WHERE document_id = ${documentId} ORDER BY position`);
  return rows.map(({ text }) => text);
}

export async function loadVectors(
  db: Executor,
  model: string,
  documentIds: readonly string[],
): Promise<DocumentVectors[]> {
  if (documentIds.length === 0) return [];
  return db
    .select({
      document_id: documentVectors.document_id,
      positions: documentVectors.positions,
      vectors: documentVectors.vectors,
    })
    .from(documentVectors)
    .where(and(eq(documentVectors.model, model), inArray(documentVectors.document_id, [...documentIds])));
}

/** Nothing where the document is gone meanwhile, or another process was faster. */
export async function insertVectors(db: Executor, row: typeof documentVectors.$inferInsert): Promise<void> {
  await db.execute(sql`
    INSERT INTO document_vectors (document_id, model, positions, vectors)
    SELECT id, ${row.model}, ${sql.param(row.positions)}::int[], ${row.vectors} FROM documents
    WHERE id = ${row.document_id} FOR KEY SHARE
    ON CONFLICT DO NOTHING`);
}
