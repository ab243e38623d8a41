import type { Role } from '@vestra/contract/route';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, moment } from '../../db/columns.ts';

export const logins = pgTable('logins', {
  email: text().primaryKey(),
  password_hash: text().notNull(),
  created_at: moment().notNull().defaultNow(),
});

export const members = pgTable('members', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  email: text().notNull(),
  name: text(),
  role: text().$type<Role>().notNull(),
  status: text().$type<'active' | 'invited'>().notNull(),
  invite_hash: bytes(),
  invite_expires_at: moment(),
  created_at: moment().notNull().defaultNow(),
});

export const consoleSessions = pgTable('console_sessions', {
  token_hash: bytes().primaryKey(),
  email: text().notNull(),
  csrf_token: text().notNull(),
  expires_at: moment().notNull(),
  created_at: moment().notNull().defaultNow(),
});

export type LoginRow = typeof logins.$inferSelect;
export type MemberRow = typeof members.$inferSelect;
export type ConsoleSessionRow = typeof consoleSessions.$inferSelect;
