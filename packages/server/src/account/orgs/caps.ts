import { fail } from '@vestra/contract/errors';
import { type Micros, microsToUsd, usdToMicros } from '@vestra/contract/money';
import type { OrgSettings } from './tables.ts';

type WantedCaps = {
  org_daily_usd?: number | null | undefined;
  user_daily_usd?: number | null | undefined;
  org_monthly_usd?: number | null | undefined;
  user_monthly_usd?: number | null | undefined;
};

type CapColumns = Pick<
  OrgSettings,
  'org_daily_micros' | 'user_daily_micros' | 'org_monthly_micros' | 'user_monthly_micros'
>;

/** The caps after the change; the org's day stays below its ceiling and a user's cap below the org's. */
export function changedCaps(row: CapColumns, ceiling: Micros, wanted: WantedCaps): CapColumns {
  const next: CapColumns = {
    org_daily_micros: chosen(wanted.org_daily_usd, row.org_daily_micros),
    user_daily_micros: chosen(wanted.user_daily_usd, row.user_daily_micros),
    org_monthly_micros: chosen(wanted.org_monthly_usd, row.org_monthly_micros),
    user_monthly_micros: chosen(wanted.user_monthly_usd, row.user_monthly_micros),
  };
  refuseAbove('org_daily_usd', next.org_daily_micros, ceiling, 'the ceiling of the org');
  refuseAbove('user_daily_usd', next.user_daily_micros, next.org_daily_micros, 'the org’s own daily cap');
  refuseAbove('user_monthly_usd', next.user_monthly_micros, next.org_monthly_micros, 'the org’s own monthly cap');
  return next;
}

function chosen(wanted: number | null | undefined, kept: Micros | null): Micros | null {
  if (wanted === undefined) return kept;
  return wanted === null ? null : usdToMicros(wanted);
}

function refuseAbove(cap: string, value: Micros | null, ceiling: Micros | null, what: string): void {
  if (value === null || ceiling === null || value <= ceiling) return;
  throw fail('cap_above_maximum', {
    param: `caps.${cap}`,
    message: `${microsToUsd(value)} is above ${what}, ${microsToUsd(ceiling)} US dollars.`,
  });
}
