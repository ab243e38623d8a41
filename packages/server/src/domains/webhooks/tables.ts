import type { Mode } from '@vestra/contract/route';
import type { WebhookEventType } from '@vestra/contract/webhook-event-types';
import { boolean, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { bytes, moment } from '../../db/columns.ts';

export const webhookEndpoints = pgTable('webhook_endpoints', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  mode: text().$type<Mode>().notNull(),
  deployment_id: text(),
  managed_by: text().$type<'file'>(),
  url: text().notNull(),
  events: text().array().$type<(WebhookEventType | '*')[]>().notNull(),
  description: text(),
  active: boolean().notNull(),
  failing_since: moment(),
  last_failed_at: moment(),
  created_at: moment().notNull().defaultNow(),
  updated_at: moment().notNull().defaultNow(),
});

export const webhookSecrets = pgTable(
  'webhook_secrets',
  {
    endpoint_id: text().notNull(),
    sealed_secret: bytes().notNull(),
    valid_until: moment(),
  },
  (table) => [primaryKey({ columns: [table.endpoint_id, table.sealed_secret] })],
);

export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    org_id: text().notNull(),
    mode: text().$type<Mode>().notNull(),
    endpoint_id: text().notNull(),
    id: text().notNull(),
    event_id: text().notNull(),
    event_type: text().$type<WebhookEventType>().notNull(),
    attempt: integer().notNull(),
    step: integer(),
    status: text().$type<'pending' | 'succeeded' | 'failed'>().notNull(),
    status_code: integer(),
    duration_ms: integer(),
    error: text(),
    next_attempt_at: moment(),
    due_at: moment(),
    created_at: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.org_id, table.mode, table.endpoint_id, table.id] })],
);

export type EndpointRow = typeof webhookEndpoints.$inferSelect;
export type SecretRow = typeof webhookSecrets.$inferSelect;
export type DeliveryRow = typeof webhookDeliveries.$inferSelect;
