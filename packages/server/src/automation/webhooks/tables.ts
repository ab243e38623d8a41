import type { Mode } from '@vestra/contract/route';
import type { WebhookEventType } from '@vestra/contract/webhook-event-types';
import type { PartitionGroup } from '../../platform/db/partitions.ts';
import { boolean, bytes, integer, moment, type RowOf, table, text, textArray } from '../../platform/db/table.ts';

export const webhookEndpoints = table('webhook_endpoints', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text().nullable(),
  managed_by: text<'file'>().nullable(),
  url: text(),
  events: textArray<WebhookEventType | '*'>(),
  description: text().nullable(),
  active: boolean(),
  /** The company's secret that signs deliveries, if the file names one. */
  secret_name: text().nullable(),
  failing_since: moment().nullable(),
  last_failed_at: moment().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const webhookSecrets = table('webhook_secrets', {
  endpoint_id: text(),
  sealed_secret: bytes(),
  valid_until: moment().nullable(),
});

const deliveryColumns = {
  org_id: text(),
  mode: text<Mode>(),
  endpoint_id: text(),
  id: text(),
  event_id: text(),
  event_type: text<WebhookEventType>(),
  attempt: integer(),
  step: integer().nullable(),
  status: text<'pending' | 'succeeded' | 'failed'>(),
  status_code: integer().nullable(),
  duration_ms: integer().nullable(),
  error: text().nullable(),
  next_attempt_at: moment().nullable(),
  due_at: moment().nullable(),
  created_at: moment().withDefault(),
};

/** All attempts: the parent of the two tables below. */
export const webhookDeliveries = table('webhook_deliveries', deliveryColumns);
/** The queue of attempts to make. */
export const pendingDeliveries = table('webhook_deliveries_pending', deliveryColumns);
export const madeDeliveries = table('webhook_deliveries_made', deliveryColumns);

export type WebhookEndpointRow = RowOf<typeof webhookEndpoints>;
export type WebhookSecretRow = RowOf<typeof webhookSecrets>;
export type DeliveryRow = RowOf<typeof webhookDeliveries>;

/** Pending deliveries are few and are never partitioned by time. */
export const deliveryPartitions: PartitionGroup = {
  name: 'deliveries',
  prefixes: ['whd'],
  tables: [
    {
      table: 'webhook_deliveries_made',
      key: 'id',
      within: { parent: 'webhook_deliveries', column: 'status', values: ['succeeded', 'failed'] },
    },
  ],
};
