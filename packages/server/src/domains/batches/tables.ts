import type { Mode } from '@vestra/contract/route';
import { integer, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { micros, moment } from '../../db/columns.ts';

export type Counts = { queued: number; running: number; succeeded: number; failed: number; cancelled: number };

export const batches = pgTable(
  'batches',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    id: text().notNull(),
    status: text().$type<'running' | 'cancelled' | 'completed'>().notNull().default('running'),
    deployment_id: text(),
    concurrency: integer().notNull(),
    item_count: integer().notNull(),
    metadata: json().$type<Record<string, string>>().notNull(),
    created_at: moment().notNull().defaultNow(),
    advanced_at: moment().notNull().defaultNow(),
    completed_at: moment(),
    final_counts: json().$type<Counts>(),
    final_micros: micros(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.id] })],
);

export const batchItems = pgTable(
  'batch_items',
  {
    batch_id: text().notNull(),
    item_index: integer().notNull(),
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    user_id: text(),
    status: text().$type<keyof Counts>().notNull().default('queued'),
    slot: text().$type<'held' | 'given_up' | 'wanted'>(),
    message: text(),
    context: json().$type<Record<string, unknown>>(),
    metadata: json().$type<Record<string, string>>().notNull(),
    conversation_id: text(),
    turn_id: text(),
    task_id: text(),
    error_code: text(),
    error_message: text(),
    cost_micros: micros(),
    finished_at: moment(),
  },
  (table) => [primaryKey({ columns: [table.batch_id, table.item_index] })],
);

export type BatchRow = typeof batches.$inferSelect;
export type BatchItemRow = typeof batchItems.$inferSelect;
