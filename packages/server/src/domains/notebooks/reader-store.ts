import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';
import { isInNewest } from './revisions.ts';
import { wholeText } from './store.ts';
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

/** The one rule of who may read what; everything that the agent sees of a notebook passes it. */
export const mayRead = ({ orgId, notebookIds, userId }: Omit<Reader, 'revisions'>) =>
  and(
    eq(notebooks.org_id, orgId),
    inArray(notebooks.id, [...notebookIds]),
    or(isNull(notebooks.reader_ids), userId === null ? undefined : sql`${userId} = ANY(${notebooks.reader_ids})`),
  );

/** Whether a document is part of what is read. */
export const isRead = ({ revisions }: Reader) =>
  revisions === null
    ? isInNewest
    : // A notebook that is not fixed has nothing to read.
      sql`coalesce(${documents.revisions} @> (${JSON.stringify(revisions)}::json ->> ${documents.notebook_id})::int, false)`;

/** What the agent knows of its notebooks before it looks into one. */
export function readableNotebooks(db: Executor, reader: Omit<Reader, 'revisions'>): Promise<NotebookRow[]> {
  return db.select().from(notebooks).where(mayRead(reader)).orderBy(notebooks.slug);
}

export function documentTitles(
  db: Executor,
  reader: Reader,
  limit: number,
): Promise<Pick<DocumentRow, 'notebook_id' | 'title'>[]> {
  return db
    .select({ notebook_id: documents.notebook_id, title: documents.title })
    .from(documents)
    .innerJoin(notebooks, eq(notebooks.id, documents.notebook_id))
    .where(and(mayRead(reader), isRead(reader)))
    .orderBy(documents.title, documents.id)
    .limit(limit);
}

export async function readDocument(
  db: Executor,
  reader: Reader,
  documentId: string,
): Promise<(DocumentRow & { text: string }) | undefined> {
  const [found] = await db
    .select({ row: documents, text: wholeText })
    .from(documents)
    .innerJoin(notebooks, eq(notebooks.id, documents.notebook_id))
    .where(and(mayRead(reader), isRead(reader), eq(documents.id, documentId)));
  return found && { ...found.row, text: found.text };
}
