import type { Mode } from '@vestra/contract/route';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { bytes, moment } from '../../db/columns.ts';

export const secrets = pgTable('secrets', {
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  /** Empty for a secret of the company's own. */
  user_id: text().notNull().default(''),
  name: text().notNull(),
  sealed_value: bytes().notNull(),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export type SecretRow = typeof secrets.$inferSelect;
