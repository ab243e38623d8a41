import type { DeliveryRow, EndpointRow } from './tables.ts';

export const presentEndpoint = (row: EndpointRow) => ({
  object: 'webhook_endpoint' as const,
  id: row.id,
  url: row.url,
  events: row.events,
  description: row.description,
  active: row.active,
  mode: row.mode,
  deployment_id: row.deployment_id,
  managed_by: row.managed_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const presentDelivery = (row: DeliveryRow) => ({
  object: 'webhook_delivery' as const,
  id: row.id,
  endpoint_id: row.endpoint_id,
  event_id: row.event_id,
  event_type: row.event_type,
  attempt: row.attempt,
  status: row.status,
  status_code: row.status_code,
  duration_ms: row.duration_ms,
  error: row.error,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
});
