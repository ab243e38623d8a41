import { type Micros, microsToUsd } from '@vestra/contract/money';
import type { Mode } from '@vestra/contract/route';
import type { OrgRow } from './tables.ts';

const usdOrNull = (micros: Micros | null) => (micros === null ? null : microsToUsd(micros));

const presentCaps = (row: OrgRow) => ({
  org_daily_usd: usdOrNull(row.org_daily_micros),
  user_daily_usd: usdOrNull(row.user_daily_micros),
  max_org_daily_usd: microsToUsd(row.max_org_daily_micros),
  org_monthly_usd: usdOrNull(row.org_monthly_micros),
  user_monthly_usd: usdOrNull(row.user_monthly_micros),
});

export const presentOrg = (row: OrgRow, { mode, balance }: { mode: Mode; balance: Micros }) => ({
  object: 'org' as const,
  id: row.id,
  name: row.name,
  status: row.status,
  mode,
  allowed_return_urls: row.allowed_return_urls,
  allowed_embed_origins: row.allowed_embed_origins,
  default_deployment: row.default_deployment,
  require_user: row.require_user,
  memory_panel: row.memory_panel,
  memory_mode: row.memory_mode,
  memory_endpoint: row.memory_endpoint,
  otlp_endpoint: row.otlp_endpoint,
  otlp_headers_secret: row.otlp_headers_secret,
  balance_usd: microsToUsd(balance),
  caps: presentCaps(row),
  usage_alerts: { thresholds: row.alert_thresholds },
  created_at: row.created_at.toISOString(),
});

export const presentLimits = (row: OrgRow, requestsPerMinute: number) => ({
  object: 'limits' as const,
  caps: presentCaps(row),
  usage_alerts: { thresholds: row.alert_thresholds },
  rate_limits: { requests_per_minute: requestsPerMinute, burst: requestsPerMinute },
});
