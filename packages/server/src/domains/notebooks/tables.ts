import { customType, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, moment } from '../../db/columns.ts';

/** Numbers as PostgreSQL writes a set of ranges of them. */
const numberRanges = customType<{ data: string }>({ dataType: () => 'int4multirange' });

export const notebooks = pgTable('notebooks', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  description: text().notNull(),
  /** The users whose agents may read it; null: every user's. */
  reader_ids: text().array(),
  document_count: integer().notNull().default(0),
  bytes: integer().notNull().default(0),
  /** Of its newest content: each change of its documents makes a new one. */
  revision: integer().notNull().default(1),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export const documents = pgTable('documents', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  notebook_id: text().notNull(),
  title: text().notNull(),
  content_type: text().notNull(),
  language: text().notNull(),
  bytes: integer().notNull(),
  sha256: text().notNull(),
  /** Of its notebook, in which it is; without an end while it is in the newest. */
  revisions: numberRanges().notNull(),
  created_at: moment().notNull().defaultNow(),
});

export type NotebookRow = typeof notebooks.$inferSelect;
export type DocumentRow = typeof documents.$inferSelect;

export const documentVectors = pgTable('document_vectors', {
  document_id: text().notNull(),
  model: text().notNull(),
  positions: integer().array().notNull(),
  vectors: bytes().notNull(),
});

export type DocumentVectors = Omit<typeof documentVectors.$inferSelect, 'model'>;
