import type { Mode } from '@vestra/contract/route';
import { boolean, pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, moment } from '../../db/columns.ts';

export const sessions = pgTable('sessions', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  user_id: text(),
  conversation_id: text(),
  token_hash: bytes().notNull(),
  chat: boolean().notNull(),
  screen: text().$type<'false' | 'view' | 'control'>().notNull(),
  voice: text(),
  memory: boolean().notNull(),
  driver: text().notNull(),
  expires_at: moment().notNull(),
  revoked_at: moment(),
  created_at: moment().notNull().defaultNow(),
});

export type SessionRow = typeof sessions.$inferSelect;
