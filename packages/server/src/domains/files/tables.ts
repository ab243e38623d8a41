import type { Mode } from '@vestra/contract/route';
import { bigint, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

export const files = pgTable('files', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  user_id: text(),
  filename: text(),
  mime_type: text(),
  size_bytes: bigint({ mode: 'number' }),
  sha256: text().notNull(),
  source: text().$type<'upload' | 'output'>().notNull(),
  task_id: text(),
  conversation_id: text(),
  created_at: moment().notNull().defaultNow(),
});

export type FileRow = typeof files.$inferSelect;
