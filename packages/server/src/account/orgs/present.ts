import { type Micros, microsToUsd } from '@vestra/contract/money';
import type { OrgInMode } from './store.ts';

const usdOrNull = (micros: Micros | null) => (micros === null ? null : microsToUsd(micros));

const presentCaps = ({ org, settings }: OrgInMode) => ({
  org_daily_usd: usdOrNull(settings.org_daily_micros),
  user_daily_usd: usdOrNull(settings.user_daily_micros),
  max_org_daily_usd: microsToUsd(org.max_org_daily_micros),
  org_monthly_usd: usdOrNull(settings.org_monthly_micros),
  user_monthly_usd: usdOrNull(settings.user_monthly_micros),
});

export const presentOrg = ({ org, settings }: OrgInMode, balance: Micros) => ({
  object: 'org' as const,
  id: org.id,
  name: org.name,
  status: org.status,
  mode: settings.mode,
  allowed_return_urls: settings.allowed_return_urls,
  allowed_embed_origins: settings.allowed_embed_origins,
  default_deployment: settings.default_deployment,
  require_user: settings.require_user,
  memory_panel: settings.memory_panel,
  memory_mode: settings.memory_mode,
  memory_endpoint: settings.memory_endpoint,
  otlp_endpoint: settings.otlp_endpoint,
  otlp_headers_secret: settings.otlp_headers_secret,
  otlp_content: settings.otlp_content,
  model_fallbacks: settings.model_fallbacks,
  openings: settings.openings,
  balance_usd: microsToUsd(balance),
  caps: presentCaps({ org, settings }),
  usage_alerts: { thresholds: settings.alert_thresholds },
  created_at: org.created_at.toISOString(),
});

export const presentLimits = ({ org, settings }: OrgInMode, requestsPerMinute: number) => ({
  object: 'limits' as const,
  caps: presentCaps({ org, settings }),
  usage_alerts: { thresholds: settings.alert_thresholds },
  rate_limits: { requests_per_minute: requestsPerMinute, burst: requestsPerMinute },
});
