import type { Mode } from '@vestra/contract/route';
import { bytes, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export const functionEndpoints = table('function_endpoints', {
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  url: text(),
  last_failure: text().nullable(),
  last_failed_at: moment().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export const functionEndpointSecrets = table('function_endpoint_secrets', {
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  sealed_secret: bytes(),
  valid_until: moment().nullable(),
});

export type EndpointRow = RowOf<typeof functionEndpoints>;
export type SecretRow = RowOf<typeof functionEndpointSecrets>;
