import type { Mode } from '@vestra/contract/route';
import { boolean, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { micros, moment } from '../../db/columns.ts';

export const users = pgTable('users', {
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  id: text().notNull(),
  name: text(),
  email: text(),
  locale: text(),
  timezone: text(),
  metadata: jsonb().$type<Record<string, unknown>>().notNull().default({}),
  status: text().$type<'active' | 'disabled'>().notNull().default('active'),
  daily_cap_micros: micros(),
  monthly_cap_micros: micros(),
  default_deployment: text(),
  is_service_user: boolean().notNull().default(false),
  erasing_since: moment(),
  created_at: moment().notNull(),
});

export type UserRow = typeof users.$inferSelect;
