import type { WebhookEventType } from '@vestra/contract/events';
import type { Mode } from '@vestra/contract/route';
import { boolean, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
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

export type EndpointRow = typeof webhookEndpoints.$inferSelect;
export type SecretRow = typeof webhookSecrets.$inferSelect;
