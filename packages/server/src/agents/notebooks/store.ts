import type { Executor } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
import type { Passage } from './passages.ts';
import { indexedText, indexedTitle } from './search-words.ts';
import {
  type DocumentRow,
  documentIndexes,
  documentPassages,
  documents,
  type NotebookRow,
  notebooks,
} from './tables.ts';

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
const from = (revision: number): string => `{[${revision},)}`;

/** A document that keeps the limits, with everything that its text alone decides. */
export type PreparedDocument = {
  title: string;
  contentType: string;
  language: string;
  bytes: number;
  sha256: string;
  passages: Passage[];
};

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
  const texts = passages.map((passage) => passage.text);
  const headings = passages.map(({ heading }) => heading);
  const around = headings.map((heading) => `${indexedTitle(title)} ${indexedText(heading)}`);
  // Title and heading stand for every passage below them: words found there weigh twice.
  await run(
    tx,
    sql`INSERT INTO ${documentPassages} (document_id, position, notebook_id, language, text, heading, page, search)
        SELECT ${ids.id}, position - 1, ${ids.notebookId}, ${language}, passage, heading, page,
          setweight(to_tsvector(${language}::regconfig, around), 'C') || to_tsvector(${language}::regconfig, indexed)
        FROM unnest(${texts}::text[], ${texts.map(indexedText)}::text[], ${around}::text[], ${headings}::text[],
            ${passages.map(({ page }) => page)}::int[])
          WITH ORDINALITY AS given (passage, indexed, around, heading, page, position)`,
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

/** Whether everything that the model can read of the document `d` has its vectors. */
export const isIndexed = (model: string): Sql => sql`EXISTS (
  SELECT FROM ${documentIndexes} i WHERE i.document_id = d.id AND i.model = ${model} AND i.completed_at IS NOT NULL)`;

/** A document, and whether the encoder has gone through it. */
export type ShownDocument = DocumentRow & { indexed: boolean };
const shownDocument = { ...documents.columns, indexed: boolean() };

export function listDocuments(
  db: Executor,
  notebook: Pick<NotebookRow, 'id' | 'org_id'>,
  { limit, below }: Page,
  model: string,
): Promise<ShownDocument[]> {
  const listed = sql`d.org_id = ${notebook.org_id} AND d.notebook_id = ${notebook.id} AND ${isInNewest}`;
  return rowsOf(
    db,
    shownDocument,
    sql`SELECT ${columnsOf(documents, 'd')}, ${isIndexed(model)} AS indexed FROM ${documents} d
        WHERE ${sql.and(listed, below && sql`d.id < ${below}`)} ORDER BY d.id DESC LIMIT ${limit + 1}`,
  );
}

type DocumentPlace = { orgId: string; notebookId: string; documentId: string };

const inNewestAt = ({ orgId, notebookId, documentId }: DocumentPlace) =>
  sql`d.org_id = ${orgId} AND d.notebook_id = ${notebookId} AND d.id = ${documentId} AND ${isInNewest}`;

export const findDocument = (db: Executor, place: DocumentPlace): Promise<DocumentRow | undefined> =>
  maybeOne(db, documents, sql`SELECT ${columnsOf(documents, 'd')} FROM ${documents} d WHERE ${inNewestAt(place)}`);

export const findWholeDocument = (
  db: Executor,
  place: DocumentPlace,
  model: string,
): Promise<(WholeDocument & ShownDocument) | undefined> =>
  maybeOne(
    db,
    { ...wholeDocument, ...shownDocument },
    sql`SELECT ${columnsOf(documents, 'd')}, ${wholeText}, ${isIndexed(model)} AS indexed FROM ${documents} d
        WHERE ${inNewestAt(place)}`,
  );

/** From this change on it is in no revision; those before keep it. */
export async function takeOut(tx: Executor, documentId: string, { first }: RevisionChange): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${documents} SET revisions = revisions - ${from(first)}::int4multirange WHERE id = ${documentId}`,
  );
}

type WholeDocument = RowOf<typeof wholeDocument>;
const wholeDocument = { ...documents.columns, text: text() };

/** Of the document `d`. */
export const wholeText = sql`coalesce((
  SELECT string_agg(text, '' ORDER BY position) FROM ${documentPassages} WHERE document_id = d.id), '') AS text`;

/** Whose agent reads, and which notebooks its version names. */
export type Reader = {
  orgId: string;
  notebookIds: readonly string[];
  /** What its version fixes of them; null: their newest content. */
  revisions: Readonly<Record<string, number>> | null;
  /** Null for the org's own agent: it reads what every user may. */
  userId: string | null;
};

/** The one rule of who may read the notebook `n`; everything that the agent sees of a notebook passes it. */
export const mayRead = ({ orgId, notebookIds, userId }: Omit<Reader, 'revisions'>): Sql =>
  sql`n.org_id = ${orgId} AND n.id = ANY(${notebookIds})
      AND (n.reader_ids IS NULL OR ${userId === null ? sql`FALSE` : sql`${userId} = ANY(n.reader_ids)`})`;

/** Whether the document `d` is part of what is read. */
export const isRead = ({ revisions }: Reader): Sql =>
  revisions === null
    ? isInNewest
    : // A notebook that is not fixed has nothing to read.
      sql`coalesce(d.revisions @> (${sql.json(revisions)}::json ->> d.notebook_id)::int, false)`;

/** What the agent knows of its notebooks before it looks into one. */
export const readableNotebooks = (db: Executor, reader: Omit<Reader, 'revisions'>): Promise<NotebookRow[]> =>
  rowsOf(db, notebooks, sql`SELECT ${columnsOf(notebooks)} FROM ${notebooks} n WHERE ${mayRead(reader)} ORDER BY slug`);

export const documentTitles = (
  db: Executor,
  reader: Reader,
  limit: number,
): Promise<Pick<DocumentRow, 'notebook_id' | 'title'>[]> =>
  rowsOf(
    db,
    { notebook_id: text(), title: text() },
    sql`SELECT d.notebook_id, d.title FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id
        WHERE ${mayRead(reader)} AND ${isRead(reader)} ORDER BY d.title, d.id LIMIT ${limit}`,
  );

/** In each notebook the newest document of this title, or the one with this id, with the notebook's name. */
export const findByName = (db: Executor, reader: Reader, named: string): Promise<{ id: string; notebook: string }[]> =>
  rowsOf(
    db,
    { id: text(), notebook: text() },
    sql`SELECT DISTINCT ON (n.slug) d.id, n.name AS notebook FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id
        WHERE ${mayRead(reader)} AND ${isRead(reader)} AND (d.title = ${named} OR d.id = ${named})
        ORDER BY n.slug, d.id DESC LIMIT 20`,
  );

export const readDocument = (db: Executor, reader: Reader, documentId: string): Promise<WholeDocument | undefined> =>
  maybeOne(
    db,
    wholeDocument,
    sql`SELECT ${columnsOf(documents, 'd')}, ${wholeText}
        FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id
        WHERE ${mayRead(reader)} AND ${isRead(reader)} AND d.id = ${documentId}`,
  );
