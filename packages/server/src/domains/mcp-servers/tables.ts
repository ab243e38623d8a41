import type { AwayReason } from '@vestra/contract/missing-tools';
import type { Mode } from '@vestra/contract/route';
import { boolean, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
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

export const toolOutages = pgTable(
  'tool_outages',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    /** The id of a server, or of an app. */
    server_id: text().notNull(),
    is_personal: boolean().notNull(),
    /** Empty where it is away for everybody, and for the org's own agent. */
    user_key: text().notNull(),
    reason: text().$type<AwayReason>().notNull(),
    since: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.server_id, table.is_personal, table.user_key] })],
);

export type ServerRow = typeof mcpServers.$inferSelect;

/** A server as those who call or list it know it; its headers refer to secrets, and never hold one. */
export type RegisteredServer = Pick<ServerRow, 'id' | 'slug' | 'name' | 'url' | 'headers'>;
