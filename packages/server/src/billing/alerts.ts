import { type Micros, microsToUsd } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { maybeOne, rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { integer, integerArray, text } from '../platform/db/table.ts';
import { type CapName, capsForUser, type OrgCaps, type Spend, type UserCaps } from './allowance.ts';
import { orgsOwnAgent, readSpend, type SpenderDay, wholeOrg } from './budget-owner.ts';
import { capColumns, capsOf } from './holds.ts';
import { usageAlertsTold } from './tables.ts';

/** A percentage of a cap that spend has reached; 100 is the cap itself. */
type Alert = {
  cap: CapName;
  /** Null for the org's caps. */
  userId: string | null;
  /** The day or month that the cap counts. */
  period: string;
  threshold: number;
  capMicros: Micros;
  spendMicros: Micros;
};

export type UsageAlertEvent = {
  orgId: string;
  mode: Tenant['mode'];
  type: 'usage.threshold_reached' | 'usage.cap_reached';
  data: ReturnType<typeof presentAlert>;
};

export type AlertDependencies = {
  /** Writes the event in the transaction that remembers it as told: both happen or neither. */
  emit: (tx: Transaction, event: UsageAlertEvent) => Promise<unknown>;
  /** The own caps of these users. Nothing is told of a user it leaves out, such as one that a test run plays. */
  capsOfUsers: (tx: Transaction, tenant: Tenant, userIds: string[]) => Promise<Map<string, UserCaps>>;
};

/** Tells, once per cap and period, what the spend of these spenders' days has reached. Returns what was new. */
export async function tellAlerts(
  tx: Transaction,
  tenant: Tenant,
  touched: readonly SpenderDay[],
  { emit, capsOfUsers }: AlertDependencies,
): Promise<Alert[]> {
  if (touched.length === 0) return [];
  const { caps, thresholds } = await readCaps(tx, tenant);
  const users = [...new Set(touched.map(({ spender }) => spender))].filter(isUser);
  const userCaps = users.length > 0 ? await capsOfUsers(tx, tenant, users) : new Map<string, UserCaps>();
  const spends = await readSpend(tx, tenant, withWholeOrg(touched));
  const reached = spends.flatMap((spend) => reachedBy(spend, caps, userCaps, thresholds));

  const told = await insertTold(tx, tenant, reached.map(toldOf));
  const isNew = new Set(told.map(nameOf));
  const alerts = reached.filter((alert) => isNew.delete(nameOf(toldOf(alert))));
  for (const alert of alerts) {
    const type = alert.threshold === 100 ? 'usage.cap_reached' : 'usage.threshold_reached';
    await emit(tx, { orgId: tenant.orgId, mode: tenant.mode, type, data: presentAlert(alert) });
  }
  return alerts;
}

const isUser = (spender: string) => spender !== wholeOrg && spender !== orgsOwnAgent;

function withWholeOrg(touched: readonly SpenderDay[]): SpenderDay[] {
  const days = new Set(touched.map(({ day }) => day));
  return [...[...days].map((day) => ({ spender: wholeOrg, day })), ...touched.filter(({ spender }) => isUser(spender))];
}

function reachedBy(
  { spender, day, ...spend }: SpenderDay & Spend,
  caps: OrgCaps,
  userCaps: Map<string, UserCaps>,
  thresholds: readonly number[],
): Alert[] {
  const month = day.slice(0, 7);
  const { dayMicros, monthMicros } = spend;
  if (spender === wholeOrg) {
    return [
      ...alertsReached('org_daily_usd', null, day, caps.orgDaily, dayMicros, thresholds),
      ...alertsReached('org_monthly_usd', null, month, caps.orgMonthly, monthMicros, thresholds),
    ];
  }
  const own = userCaps.get(spender);
  if (!own) return [];
  const { userDaily, userMonthly } = capsForUser(caps, own);
  return [
    ...alertsReached('user_daily_usd', spender, day, userDaily, dayMicros, thresholds),
    ...alertsReached('user_monthly_usd', spender, month, userMonthly, monthMicros, thresholds),
  ];
}

/**
 * The percentages of one cap that spend has reached, smallest first and the cap itself last. A threshold of 100 is the
 * cap, and a cap of nothing has no percentages.
 */
export function alertsReached(
  cap: CapName,
  userId: string | null,
  period: string,
  capMicros: Micros | null,
  spendMicros: Micros,
  thresholds: readonly number[],
): Alert[] {
  if (capMicros === null) return [];
  const percentages = capMicros === 0n ? [100] : [...new Set([...thresholds, 100])].sort((a, b) => a - b);
  return percentages
    .filter((threshold) => spendMicros * 100n >= capMicros * BigInt(threshold))
    .map((threshold) => ({ cap, userId, period, threshold, capMicros, spendMicros }));
}

const toldOf = ({ cap, userId, period, threshold }: Alert): ToldAlert => ({
  cap,
  spender: userId ?? orgsOwnAgent,
  period,
  threshold,
});

const nameOf = ({ cap, spender, period, threshold }: ToldAlert) => [cap, spender, period, threshold].join(' ');

type ToldAlert = { cap: string; spender: string; period: string; threshold: number };

/** Of these alerts the ones that nobody has told before. */
async function insertTold(
  tx: Transaction,
  { orgId, mode }: Tenant,
  alerts: readonly ToldAlert[],
): Promise<ToldAlert[]> {
  if (alerts.length === 0) return [];
  // In one order, so that two transactions that tell at once wait for each other and never in a circle.
  return rowsOf(
    tx,
    { cap: text(), spender: text(), period: text(), threshold: integer() },
    sql`
    INSERT INTO ${usageAlertsTold} (org_id, mode, cap, user_id, period, threshold)
    SELECT ${orgId}, ${mode}, cap, spender, period, threshold
    FROM jsonb_to_recordset(${sql.json(alerts)}::jsonb) AS a(cap text, spender text, period text, threshold integer)
    ORDER BY cap, spender, period, threshold
    ON CONFLICT DO NOTHING
    RETURNING cap, user_id AS spender, period, threshold`,
  );
}

const presentAlert = (alert: Alert) => ({
  object: 'usage_alert' as const,
  cap: alert.cap,
  user_id: alert.userId,
  period: alert.period,
  threshold: alert.threshold,
  cap_usd: microsToUsd(alert.capMicros),
  spend_usd: microsToUsd(alert.spendMicros),
});

async function readCaps(db: Executor, { orgId, mode }: Tenant): Promise<{ caps: OrgCaps; thresholds: number[] }> {
  const row = await maybeOne(
    db,
    { ...capColumns, alert_thresholds: integerArray() },
    sql`SELECT org_daily_micros, org_monthly_micros, user_daily_micros, user_monthly_micros, alert_thresholds
        FROM org_settings WHERE org_id = ${orgId} AND mode = ${mode}`,
  );
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  return { caps: capsOf(row), thresholds: row.alert_thresholds };
}
