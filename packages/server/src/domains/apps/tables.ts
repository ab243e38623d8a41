import type { Mode } from '@vestra/contract/route';
import { integer, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import type { SignInServer } from '../../adapters/app-sign-in/app-sign-in.ts';
import { bytes, moment } from '../../db/columns.ts';

export const connections = pgTable(
  'connections',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    id: text().notNull(),
    /** Empty for the org's own agent. */
    user_key: text().notNull(),
    app: text().notNull(),
    server_url: text().notNull(),
    status: text().$type<'pending' | 'connected' | 'failed'>().notNull(),
    account: text(),
    return_url: text(),
    state_hash: bytes(),
    authorization_server: json().$type<SignInServer>().notNull(),
    sealed: bytes(),
    token_epoch: integer().notNull().default(0),
    token_expires_at: moment(),
    renewing_until: moment(),
    expires_at: moment(),
    created_at: moment().notNull().defaultNow(),
    updated_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.id] })],
);

export const appClients = pgTable(
  'app_clients',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    app: text().notNull(),
    server_url: text().notNull(),
    issuer: text().notNull(),
    redirect_uri: text().notNull(),
    sealed: bytes().notNull(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [
    primaryKey({
      columns: [table.org_id, table.mode, table.app, table.server_url, table.issuer, table.redirect_uri],
    }),
  ],
);

export type ConnectionRow = typeof connections.$inferSelect;
