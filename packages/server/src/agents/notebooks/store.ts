import type { Executor } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, integer, integerArray, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
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
 * A change to a locked notebook. It applies to the newest content and to a copy of each revision that live traffic
 * reads. The copies do not get changes that a test key made meanwhile.
 */
export type RevisionChange = {
  /** The first revision with the change. Every later one has it too. */
  first: number;
  /** The number of the copy by the number of the copied revision. */
  copies: ReadonlyMap<number, number>;
};

/** True if the document is in the newest content of its notebook. */
export const isInNewest = sql`upper_inf(revisions)`;

/** All revisions from this one on. */
const revisionsFrom = (revision: number): string => `{[${revision},)}`;

/** A document within the limits, ready to be stored. */
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

/** Returns undefined if another notebook of the org has the slug. */
export async function insertNotebook(tx: Executor, row: NewRowOf<typeof notebooks>): Promise<NotebookRow | undefined> {
  const [inserted] = await insertMany(tx, notebooks, [row], { onConflict: sql`(org_id, slug) DO NOTHING` });
  return inserted;
}

export const findNotebook = (db: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> =>
  maybeOne(db, notebooks, sql`SELECT ${columns} FROM ${notebooks} WHERE ${owned(orgId, notebookId)}`);

/** Locks the notebook until the transaction ends, so that its counts stay right. */
export const lockNotebook = (tx: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> =>
  maybeOne(tx, notebooks, sql`SELECT ${columns} FROM ${notebooks} WHERE ${owned(orgId, notebookId)} FOR NO KEY UPDATE`);

/** Returns those of the ids that are notebooks of the org. `hold` locks them until the transaction ends. */
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

/** Also deletes its documents and passages in all revisions. */
export const deleteNotebook = (tx: Executor, orgId: string, notebookId: string): Promise<NotebookRow | undefined> =>
  maybeOne(tx, notebooks, sql`DELETE FROM ${notebooks} WHERE ${owned(orgId, notebookId)} RETURNING ${columns}`);

export async function addToCounts(
  tx: Executor,
  notebookId: string,
  change: { documents: number; bytes: number },
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
    revisions: revisionsFrom(change.first),
  });
  const texts = passages.map((passage) => passage.text);
  const headings = passages.map(({ heading }) => heading);
  const around = headings.map((heading) => `${indexedTitle(title)} ${indexedText(heading)}`);
  // The title and the headings are indexed with every passage, with a higher weight.
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
 * Restores a removed document with the same title and text, with its passages and vectors, if a version still fixes it.
 * Not a document that the copied live revisions have: it would be there twice.
 */
export async function restoreDocument(
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
  const revisions = sql`revisions + ${revisionsFrom(first)}::int4multirange`;
  const [row] = await update(tx, documents, { revisions }, sql`id IN (${kept})`);
  return row;
}

/** True if all vectors of the document `d` for this model are stored. */
export const isIndexed = (model: string): Sql => sql`EXISTS (
  SELECT FROM ${documentIndexes} i WHERE i.document_id = d.id AND i.model = ${model} AND i.completed_at IS NOT NULL)`;

/** `indexed`: all its vectors are stored. */
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

const titledDocument = { ...documents.columns, in_newest: boolean(), found_in: integerArray() };

/** `found_in`: those of the given revisions that have it. */
export type TitledDocument = RowOf<typeof titledDocument>;

/** Lists the documents of this title that the newest content or one of the revisions has. */
export function documentsTitled(
  tx: Executor,
  notebookId: string,
  title: string,
  revisions: readonly number[],
): Promise<TitledDocument[]> {
  const foundIn = sql`ARRAY(SELECT given FROM unnest(${[...revisions]}::int[]) AS given WHERE d.revisions @> given)`;
  return rowsOf(
    tx,
    titledDocument,
    sql`SELECT ${columnsOf(documents, 'd')}, ${isInNewest} AS in_newest, ${foundIn} AS found_in FROM ${documents} d
        WHERE d.notebook_id = ${notebookId} AND d.title = ${title} AND (${isInNewest} OR cardinality(${foundIn}) > 0)
        ORDER BY d.id`,
  );
}

/** Removes the document from this revision on. Earlier revisions keep it. */
export async function removeFromRevision(tx: Executor, documentId: string, { first }: RevisionChange): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${documents} SET revisions = revisions - ${revisionsFrom(first)}::int4multirange WHERE id = ${documentId}`,
  );
}

type WholeDocument = RowOf<typeof wholeDocument>;
const wholeDocument = { ...documents.columns, text: text() };

/** The whole text of the document `d`. */
export const wholeText = sql`coalesce((
  SELECT string_agg(text, '' ORDER BY position) FROM ${documentPassages} WHERE document_id = d.id), '') AS text`;

/** The notebooks that an agent may read, and for whom. */
export type NotebookReader = {
  orgId: string;
  notebookIds: readonly string[];
  /**
   * The revision of each notebook that its version fixes, or null for the newest content. A list: whatever one of these
   * revisions has.
   */
  revisions: Readonly<Record<string, number>> | number[] | null;
  /** Null if the agent runs for no user: it reads only notebooks that are open to all users. */
  userId: string | null;
};

/** The only rule for who may read the notebook `n`. Every query on behalf of an agent must include it. */
export const mayRead = ({ orgId, notebookIds, userId }: Omit<NotebookReader, 'revisions'>): Sql =>
  sql`n.org_id = ${orgId} AND n.id = ANY(${notebookIds})
      AND (n.reader_ids IS NULL OR ${userId === null ? sql`FALSE` : sql`${userId} = ANY(n.reader_ids)`})`;

/** True if the document `d` is in the revision that is read. */
export function isRead({ revisions }: NotebookReader): Sql {
  if (revisions === null) return isInNewest;
  if (Array.isArray(revisions)) {
    return sql`EXISTS (SELECT FROM unnest(${revisions}::int[]) AS given (revision) WHERE d.revisions @> given.revision)`;
  }
  // If the version fixes no revision of a notebook, the agent reads nothing of it.
  return sql`coalesce(d.revisions @> (${sql.json(revisions)}::json ->> d.notebook_id)::int, false)`;
}

/** Lists the notebooks that the agent can open. */
export const readableNotebooks = (db: Executor, reader: Omit<NotebookReader, 'revisions'>): Promise<NotebookRow[]> =>
  rowsOf(db, notebooks, sql`SELECT ${columnsOf(notebooks)} FROM ${notebooks} n WHERE ${mayRead(reader)} ORDER BY slug`);

export const documentTitles = (
  db: Executor,
  reader: NotebookReader,
  limit: number,
): Promise<Pick<DocumentRow, 'notebook_id' | 'title'>[]> =>
  rowsOf(
    db,
    { notebook_id: text(), title: text() },
    sql`SELECT d.notebook_id, d.title FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id
        WHERE ${mayRead(reader)} AND ${isRead(reader)} ORDER BY d.title, d.id LIMIT ${limit}`,
  );

/** Lists the documents that the agent can open, without their texts. */
export const readableDocuments = (
  db: Executor,
  reader: NotebookReader,
  limit: number,
): Promise<{ id: string; notebook_id: string; notebook: string; title: string; bytes: number }[]> =>
  rowsOf(
    db,
    { id: text(), notebook_id: text(), notebook: text(), title: text(), bytes: integer() },
    sql`SELECT d.id, d.notebook_id, n.name AS notebook, d.title, d.bytes
        FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id
        WHERE ${mayRead(reader)} AND ${isRead(reader)} ORDER BY d.title, d.id LIMIT ${limit}`,
  );

/** Finds the newest document with this title in each notebook, or the document with this id. */
export const findByName = (
  db: Executor,
  reader: NotebookReader,
  named: string,
): Promise<{ id: string; notebook_id: string; notebook: string }[]> =>
  rowsOf(
    db,
    { id: text(), notebook_id: text(), notebook: text() },
    sql`SELECT DISTINCT ON (n.slug) d.id, d.notebook_id, n.name AS notebook FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id
        WHERE ${mayRead(reader)} AND ${isRead(reader)} AND (d.title = ${named} OR d.id = ${named})
        ORDER BY n.slug, d.id DESC LIMIT 20`,
  );

/** The longest text that is shown of a document that was read whole. */
const longestBeginning = 2000;

type PassagePlace = { documentId: string; position: number | null; from?: number };

/** The passage behind a citation. Undefined if the reader may not read it, or if it is no longer there. */
export function readPassage(
  db: Executor,
  reader: NotebookReader,
  { documentId, position, from = 0 }: PassagePlace,
): Promise<{ title: string; heading: string; page: number | null; text: string } | undefined> {
  const found = { title: text(), heading: text(), page: integer().nullable(), text: text() };
  const of = sql`FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id`;
  const isShown = sql`${mayRead(reader)} AND ${isRead(reader)} AND d.id = ${documentId}`;
  if (position === null) {
    const whole = sql`(SELECT string_agg(text, '' ORDER BY position) FROM ${documentPassages} WHERE document_id = d.id)`;
    return maybeOne(
      db,
      found,
      sql`SELECT d.title, '' AS heading, NULL::int AS page,
          coalesce(substr(${whole}, ${from + 1}, ${longestBeginning}), '') AS text ${of} WHERE ${isShown}`,
    );
  }
  return maybeOne(
    db,
    found,
    sql`SELECT d.title, p.heading, p.page, p.text ${of}
        JOIN ${documentPassages} p ON p.document_id = d.id AND p.position = ${position} WHERE ${isShown}`,
  );
}

export const readDocument = (
  db: Executor,
  reader: NotebookReader,
  documentId: string,
): Promise<WholeDocument | undefined> =>
  maybeOne(
    db,
    wholeDocument,
    sql`SELECT ${columnsOf(documents, 'd')}, ${wholeText}
        FROM ${documents} d JOIN ${notebooks} n ON n.id = d.notebook_id
        WHERE ${mayRead(reader)} AND ${isRead(reader)} AND d.id = ${documentId}`,
  );
