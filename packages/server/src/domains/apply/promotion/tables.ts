import type { Mode } from '@vestra/contract/route';
import { integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from '../../../db/columns.ts';

export const pendingPromotions = pgTable(
  'pending_promotions',
  {
    deployment_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    org_id: text().notNull(),
    run_id: text().notNull(),
    version: integer().notNull(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.deployment_id, table.mode] })],
);
