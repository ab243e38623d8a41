import type { Mode, Scope } from '@vestra/contract/route';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, moment } from '../../db/columns.ts';

export const apiKeys = pgTable('api_keys', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  name: text().notNull(),
  scopes: text().array().$type<Scope[]>().notNull(),
  secret_hash: bytes().notNull(),
  last4: text().notNull(),
  created_at: moment().notNull().defaultNow(),
  last_used_at: moment(),
  expires_at: moment(),
  revoked_at: moment(),
});

export const rolledKeySecrets = pgTable('rolled_key_secrets', {
  secret_hash: bytes().primaryKey(),
  key_id: text().notNull(),
  expires_at: moment().notNull(),
});

export type KeyRow = typeof apiKeys.$inferSelect;
