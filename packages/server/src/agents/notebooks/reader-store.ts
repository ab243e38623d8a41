import type { Executor } from '../../platform/db/pool.ts';
import { maybeOne, rowsOf } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, text } from '../../platform/db/table.ts';
import { isInNewest } from './revisions-store.ts';
import { type WholeDocument, wholeDocument, wholeText } from './store.ts';
import { type DocumentRow, documents, type NotebookRow, notebooks } from './tables.ts';

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
