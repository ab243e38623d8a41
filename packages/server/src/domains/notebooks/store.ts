import type { Executor } from '../../db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, run, update } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';
import { columnsOf, type NewRowOf, type RowOf, text } from '../../db/table.ts';
import { indexedText, indexedTitle } from './indexed-text.ts';
import type { PreparedDocument } from './notebook.ts';
import { headingsOf } from './passages.ts';
import { from, isInNewest, type RevisionChange } from './revisions-store.ts';
import {
  type DocumentRow,
  type DocumentVectors,
  documentPassages,
  documents,
  documentVectors,
  type NotebookRow,
  notebooks,
} from './tables.ts';

type Page = { limit: number; below: string | null };

const columns = columnsOf(notebooks);
const owned = (orgId: string, notebookId: string) => sql`org_id = ${orgId} AND id = ${notebookId}`;

/** Nothing, where another notebook of the org has the slug. */
export async function insertNotebook(tx: Executor, row: NewRowOf<typeof notebooks>): Promise<NotebookRow | undefined> {
  const [inserted] = await insertMany(tx, notebooks, [row], { onConflict: sql`(org_id, slug) DO NOTHING` });
  return inserted;
}

export const findNotebook = (db: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> =>
  maybeOne(db, notebooks, sql`SELECT ${columns} FROM ${notebooks} WHERE ${owned(orgId, notebookId)}`);

/** Locked until the end of the transaction, so that who adds or removes a document counts alone. */
export const lockNotebook = (tx: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> =>
  maybeOne(tx, notebooks, sql`SELECT ${columns} FROM ${notebooks} WHERE ${owned(orgId, notebookId)} FOR NO KEY UPDATE`);

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
  const found = await rowsOf(
    db,
    { id: text() },
    sql`SELECT id FROM ${notebooks} WHERE org_id = ${orgId} AND id = ANY(${ids}) ORDER BY id
        ${hold ? sql`FOR SHARE` : sql.empty}`,
  );
  return new Set(found.map(({ id }) => id));
}

export function listNotebooks(db: Executor, orgId: string, { limit, below }: Page): Promise<NotebookRow[]> {
  return rowsOf(
    db,
    notebooks,
    sql`SELECT ${columns} FROM ${notebooks} WHERE ${sql.and(sql`org_id = ${orgId}`, below && sql`id < ${below}`)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export async function updateNotebook(
  tx: Executor,
  orgId: string,
  notebookId: string,
  changes: Partial<Pick<NotebookRow, 'name' | 'description' | 'reader_ids'>>,
): Promise<NotebookRow | undefined> {
  const [row] = await update(tx, notebooks, { ...changes, updated_at: sql`now()` }, owned(orgId, notebookId));
  return row;
}

/** Its documents and their passages go with it, also those that versions fix. */
export const deleteNotebook = (tx: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> =>
  maybeOne(tx, notebooks, sql`DELETE FROM ${notebooks} WHERE ${owned(orgId, notebookId)} RETURNING ${columns}`);

export async function addToSums(
  tx: Executor,
  notebookId: string,
  change: { documents: 1 | -1; bytes: number },
): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${notebooks} SET document_count = document_count + ${change.documents},
          bytes = bytes + ${change.bytes}, updated_at = now() WHERE id = ${notebookId}`,
  );
}

export async function insertDocument(
  tx: Executor,
  ids: { id: string; orgId: string; notebookId: string },
  document: PreparedDocument,
  change: RevisionChange,
): Promise<DocumentRow> {
  const { title, contentType, language, bytes, sha256, passages } = document;
  const row = await insert(tx, documents, {
    id: ids.id,
    org_id: ids.orgId,
    notebook_id: ids.notebookId,
    title,
    content_type: contentType,
    language,
    bytes,
    sha256,
    revisions: from(change.first),
  });
  const around = headingsOf(passages).map((heading) => `${indexedTitle(title)} ${indexedText(heading)}`);
  // Title and heading stand for every passage below them: words found there weigh twice.
  await run(
    tx,
    sql`INSERT INTO ${documentPassages} (document_id, position, notebook_id, language, text, search)
        SELECT ${ids.id}, position - 1, ${ids.notebookId}, ${language}, passage,
          setweight(to_tsvector(${language}::regconfig, around), 'C') || to_tsvector(${language}::regconfig, indexed)
        FROM unnest(${passages}::text[], ${passages.map(indexedText)}::text[], ${around}::text[])
          WITH ORDINALITY AS given (passage, indexed, around, position)`,
  );
  return row;
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
  const kept = sql`
    SELECT id FROM ${documents}
    WHERE notebook_id = ${notebookId} AND sha256 = ${sha256} AND title = ${title} AND content_type = ${contentType}
      AND NOT ${isInNewest}
      AND NOT EXISTS (SELECT FROM unnest(${[...copies.values()]}::int[]) AS copy WHERE revisions @> copy)
    LIMIT 1`;
  const revisions = sql`revisions + ${from(first)}::int4multirange`;
  const [row] = await update(tx, documents, { revisions }, sql`id IN (${kept})`);
  return row;
}

export function listDocuments(
  db: Executor,
  notebook: Pick<NotebookRow, 'id' | 'org_id'>,
  { limit, below }: Page,
): Promise<DocumentRow[]> {
  const listed = sql`org_id = ${notebook.org_id} AND notebook_id = ${notebook.id} AND ${isInNewest}`;
  return rowsOf(
    db,
    documents,
    sql`SELECT ${columnsOf(documents)} FROM ${documents} WHERE ${sql.and(listed, below && sql`id < ${below}`)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export const findDocument = (
  db: Executor,
  orgId: string,
  notebookId: string,
  documentId: string,
): Promise<WholeDocument | undefined> =>
  maybeOne(
    db,
    wholeDocument,
    sql`SELECT ${columnsOf(documents, 'd')}, ${wholeText} FROM ${documents} d
        WHERE d.org_id = ${orgId} AND d.notebook_id = ${notebookId} AND d.id = ${documentId} AND ${isInNewest}`,
  );

/** From this change on it is in no revision; those before keep it. */
export async function takeOut(tx: Executor, documentId: string, { first }: RevisionChange): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${documents} SET revisions = revisions - ${from(first)}::int4multirange WHERE id = ${documentId}`,
  );
}

export type WholeDocument = RowOf<typeof wholeDocument>;
export const wholeDocument = { ...documents.columns, text: text() };

/** Of the document `d`. */
export const wholeText = sql`coalesce((
  SELECT string_agg(text, '' ORDER BY position) FROM ${documentPassages} WHERE document_id = d.id), '') AS text`;

/** The text of a document in its passages; none where it is gone. */
export async function loadPassages(db: Executor, documentId: string): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { text: text() },
    sql`SELECT text FROM ${documentPassages} WHERE document_id = ${documentId} ORDER BY position`,
  );
  return rows.map(({ text }) => text);
}

export async function loadVectors(
  db: Executor,
  model: string,
  documentIds: readonly string[],
): Promise<DocumentVectors[]> {
  if (documentIds.length === 0) return [];
  const { document_id, positions, vectors } = documentVectors.columns;
  return rowsOf(
    db,
    { document_id, positions, vectors },
    sql`SELECT document_id, positions, vectors FROM ${documentVectors}
        WHERE model = ${model} AND document_id = ANY(${documentIds})`,
  );
}

/** Nothing where the document is gone meanwhile, or another process was faster. */
export async function insertVectors(db: Executor, row: RowOf<typeof documentVectors>): Promise<void> {
  await run(
    db,
    sql`INSERT INTO ${documentVectors} (document_id, model, positions, vectors)
        SELECT id, ${row.model}, ${row.positions}::int[], ${row.vectors}::bytea FROM ${documents}
        WHERE id = ${row.document_id} FOR KEY SHARE
        ON CONFLICT DO NOTHING`,
  );
}
