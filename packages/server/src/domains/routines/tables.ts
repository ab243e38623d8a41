import type { Mode } from '@vestra/contract/route';
import { boolean, integer, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

/** Why a run that was due did not happen. */
export type RoutineError = { code: string; message: string; at: string };

export const routines = pgTable('routines', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  /** Null for the org's own agent. */
  user_id: text(),
  conversation_id: text(),
  /** Whether it was named for the routine; otherwise a run has made it. */
  own_conversation: boolean().notNull().default(false),
  /** Null for the default of the user, then of the org. */
  deployment_id: text(),
  deployment_version: integer(),
  managed_by: text().$type<'file'>(),
  made_by_agent: boolean().notNull().default(false),
  name: text().notNull(),
  ask: text().notNull(),
  kind: text().$type<'schedule' | 'trigger' | 'app_event'>().notNull(),
  every: text(),
  cron: text(),
  timezone: text(),
  /** Whether the routine names its time zone itself; otherwise it has its user's. */
  own_timezone: boolean().notNull().default(false),
  filters: json().$type<Record<string, unknown>>(),
  enabled: boolean().notNull().default(true),
  status: text().$type<'active' | 'completed' | 'failed'>().notNull().default('active'),
  last_run_at: moment(),
  next_run_at: moment(),
  run_count: integer().notNull().default(0),
  last_error: json().$type<RoutineError>(),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export const pretendedRoutines = pgTable(
  'pretended_routines',
  {
    conversation_id: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    ask: text().notNull(),
    every: text(),
    cron: text().notNull(),
    timezone: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.conversation_id, table.id] })],
);

export type RoutineRow = typeof routines.$inferSelect;
export type NewRoutine = typeof routines.$inferInsert;
