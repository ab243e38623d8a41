import type { memoryModes } from '@vestra/contract/account';
import { boolean, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, micros, moment } from '../../db/columns.ts';

export const orgs = pgTable('orgs', {
  id: text().primaryKey(),
  name: text().notNull(),
  status: text().notNull().default('active'),
  allowed_return_urls: text().array().notNull().default([]),
  allowed_embed_origins: text().array().notNull().default([]),
  default_deployment: text(),
  require_user: boolean().notNull().default(false),
  memory_panel: boolean().notNull().default(false),
  memory_mode: text().$type<(typeof memoryModes)[number]>().notNull().default('vestra'),
  memory_endpoint: text(),
  otlp_endpoint: text(),
  otlp_headers_secret: text(),
  max_org_daily_micros: micros().notNull().default(1_000_000_000n),
  org_daily_micros: micros().default(100_000_000n),
  user_daily_micros: micros().default(10_000_000n),
  org_monthly_micros: micros(),
  user_monthly_micros: micros(),
  alert_thresholds: integer().array().notNull().default([50, 80, 95]),
  wrapped_data_key: bytes().notNull(),
  created_at: moment().notNull().defaultNow(),
});

export type OrgRow = typeof orgs.$inferSelect;
