import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';
import { wholeText } from './store.ts';
import { type DocumentRow, documents, type NotebookRow, notebooks } from './tables.ts';

/** Whose agent reads, and which notebooks its version names. */
export type Reader = {
  orgId: string;
  notebookIds: readonly string[];
  /** Null for the org's own agent: it reads what every user may. */
  userId: string | null;
};

/** The one rule of who may read what; everything that the agent sees of a notebook passes it. */
export const mayRead = ({ orgId, notebookIds, userId }: Reader) =>
  and(
    eq(notebooks.org_id, orgId),
    inArray(notebooks.id, [...notebookIds]),
    or(isNull(notebooks.reader_ids), userId === null ? undefined : sql`${userId} = ANY(${notebooks.reader_ids})`),
  );

/** What the agent knows of its notebooks before it looks into one. */
export function readableNotebooks(db: Executor, reader: Reader): Promise<NotebookRow[]> {
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
    .where(mayRead(reader))
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
    .where(and(mayRead(reader), eq(documents.id, documentId)));
  return found && { ...found.row, text: found.text };
}
