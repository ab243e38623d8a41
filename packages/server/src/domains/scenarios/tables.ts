import { boolean, json, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

export const scenarios = pgTable('scenarios', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  deployment_id: text().notNull(),
  name: text().notNull(),
  persona: text().notNull(),
  goal: text().notNull(),
  success_criteria: text().array().notNull(),
  must_never: text().array().notNull(),
  tool_results: json().$type<Record<string, unknown>>(),
  approves: boolean(),
  managed_by: text().$type<'file'>(),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export type ScenarioRow = typeof scenarios.$inferSelect;
