import { json, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

export const mcpServers = pgTable('mcp_servers', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  slug: text().notNull(),
  name: text().notNull(),
  url: text().notNull(),
  address_sha256: text().notNull(),
  /** Credentials as `${secret:NAME}` and `${user_secret:NAME}`; empty where the server needs none. */
  headers: json().$type<Readonly<Record<string, string>>>().notNull(),
  deny: text().array().notNull(),
  require_approval: text().array().notNull(),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export type ServerRow = typeof mcpServers.$inferSelect;
