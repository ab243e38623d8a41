import { type Micros, microsToUsd } from '@vestra/contract/money';
import type { OrgSettings } from '../account/index.ts';
import { capsForUser, capsRemaining, type Spend } from '../billing/index.ts';
import type { UserRow } from './tables.ts';

const usdOrNull = (micros: Micros | null) => (micros === null ? null : microsToUsd(micros));

const noSpend: Spend = { dayMicros: 0n, monthMicros: 0n };

export function presentUser(
  row: UserRow,
  { settings, spend = noSpend }: { settings: OrgSettings; spend?: Spend | undefined },
) {
  const caps = capsForUser(
    {
      orgDaily: settings.org_daily_micros,
      orgMonthly: settings.org_monthly_micros,
      userDaily: settings.user_daily_micros,
      userMonthly: settings.user_monthly_micros,
    },
    { daily: row.daily_cap_micros, monthly: row.monthly_cap_micros },
  );
  const left = capsRemaining(spend, caps);
  return {
    object: 'user' as const,
    id: row.id,
    name: row.name,
    email: row.email,
    locale: row.locale,
    timezone: row.timezone,
    metadata: row.metadata,
    status: row.status,
    spend_cap_usd: usdOrNull(row.daily_cap_micros),
    monthly_cap_usd: usdOrNull(row.monthly_cap_micros),
    default_deployment: row.default_deployment,
    memory_mode: settings.memory_mode,
    is_service_user: row.is_service_user,
    created_at: row.created_at.toISOString(),
    spend_today_usd: microsToUsd(spend.dayMicros),
    spend_month_usd: microsToUsd(spend.monthMicros),
    caps_remaining: { day_usd: usdOrNull(left.dayMicros), month_usd: usdOrNull(left.monthMicros) },
  };
}
