import type { EndpointRow } from './tables.ts';

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
