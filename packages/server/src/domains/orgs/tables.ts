import type { memoryModes } from '@vestra/contract/account';
import type { Mode } from '@vestra/contract/route';
import { boolean, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { bytes, micros, moment } from '../../db/columns.ts';

/** What both modes of an org share. */
export const orgs = pgTable('orgs', {
  id: text().primaryKey(),
  name: text().notNull(),
  status: text().notNull().default('active'),
  max_org_daily_micros: micros().notNull().default(1_000_000_000n),
  wrapped_data_key: bytes().notNull(),
  created_at: moment().notNull().defaultNow(),
});

/** What each mode of an org has of its own: what is set with a test key never reaches live users. */
export const orgSettings = pgTable(
  'org_settings',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    allowed_return_urls: text().array().notNull().default([]),
    allowed_embed_origins: text().array().notNull().default([]),
    default_deployment: text(),
    require_user: boolean().notNull().default(false),
    memory_panel: boolean().notNull().default(false),
    memory_mode: text().$type<(typeof memoryModes)[number]>().notNull().default('vestra'),
    memory_endpoint: text(),
    otlp_endpoint: text(),
    otlp_headers_secret: text(),
    org_daily_micros: micros().default(100_000_000n),
    user_daily_micros: micros().default(10_000_000n),
    org_monthly_micros: micros(),
    user_monthly_micros: micros(),
    alert_thresholds: integer().array().notNull().default([50, 80, 95]),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode] })],
);

export type OrgRow = typeof orgs.$inferSelect;
export type OrgSettings = typeof orgSettings.$inferSelect;
