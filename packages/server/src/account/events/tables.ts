import type { StreamEventType } from '@vestra/contract/events';
import type { WebhookEventType } from '@vestra/contract/webhook-event-types';
import { count, json, jsonb, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const events = table('events', {
  id: text(),
  org_id: text(),
  mode: text<'test' | 'live'>(),
  type: text<WebhookEventType>(),
  deployment_id: text().nullable(),
  data: jsonb<Record<string, unknown>>(),
  created_at: moment().withDefault(),
});

export const conversationEvents = table('conversation_events', {
  conversation_id: text(),
  seq: count(),
  id: text(),
  type: text<StreamEventType>(),
  task_id: text().nullable(),
  turn_id: text().nullable(),
  data: json<Record<string, unknown>>(),
  created_at: moment().withDefault(),
});

export type EventRow = RowOf<typeof events>;
