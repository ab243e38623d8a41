import type { WebhookEventType } from '@vestra/contract/webhook-event-types';
import { bigint, json, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { moment } from '../../db/columns.ts';

export const events = pgTable('events', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<'test' | 'live'>().notNull(),
  type: text().$type<WebhookEventType>().notNull(),
  deployment_id: text(),
  data: jsonb().$type<Record<string, unknown>>().notNull(),
  created_at: moment().notNull().defaultNow(),
});

export const conversationEvents = pgTable('conversation_events', {
  conversation_id: text().notNull(),
  seq: bigint({ mode: 'number' }).notNull(),
  id: text().notNull(),
  type: text().notNull(),
  task_id: text(),
  turn_id: text(),
  data: json().$type<Record<string, unknown>>().notNull(),
  created_at: moment().notNull().defaultNow(),
});

export type EventRow = typeof events.$inferSelect;
