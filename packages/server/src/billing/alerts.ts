import { type Micros, microsToUsd } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { distinct } from '../platform/db/batch-concurrent-calls.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { maybeOne, rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { integer, integerArray, text } from '../platform/db/table.ts';
import { type CapName, capsForUser, type OrgCaps, type Spend, type UserCaps } from './allowance.ts';
import { type BudgetOwnerDay, orgAgent, type RolledUpDay, readSpend, wholeOrg } from './budget-owner.ts';
import { capColumns, capsOf } from './holds.ts';
import { spendDays, usageAlertsTold } from './tables.ts';

/** Spend has reached this percentage of a cap. 100 is the cap itself. */
type Alert = {
  cap: CapName;
  /** Null for the org's caps. */
  userId: string | null;
  /** The day or month of the cap. */
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
  /** Writes the event in the transaction that marks it as sent, so that both happen or neither. */
  emit: (tx: Transaction, event: UsageAlertEvent) => Promise<unknown>;
  /** The caps of these users. A user missing from the result gets no alerts, such as one that a test run plays. */
  capsOfUsers: (tx: Transaction, tenant: Tenant, userIds: string[]) => Promise<Map<string, UserCaps>>;
};

/** Emits the alerts that the spend of these days has reached, once per cap, amount and period. Returns the new ones. */
export async function emitAlerts(
  tx: Transaction,
  tenant: Tenant,
  touched: readonly RolledUpDay[],
  { emit, capsOfUsers }: AlertDependencies,
): Promise<Alert[]> {
  if (touched.length === 0) return [];
  const { caps, thresholds } = await readCaps(tx, tenant);
  const days = [...touched, ...(await daysOfUsersWithoutCap(tx, tenant, touched, caps, thresholds))];
  const users = [...new Set(days.map(({ owner }) => owner))].filter(isUser);
  const userCaps = users.length > 0 ? await capsOfUsers(tx, tenant, users) : new Map<string, UserCaps>();
  const spends = await readSpend(tx, tenant, withWholeOrg(days));
  const reached = spends.flatMap((spend) => reachedBy(spend, caps, userCaps, thresholds));

  const sent = await insertSentAlerts(tx, tenant, reached.map(sentAlertOf));
  const isNew = new Set(sent.map(nameOf));
  const alerts = reached.filter((alert) => isNew.delete(nameOf(sentAlertOf(alert))));
  for (const alert of alerts) {
    const type = alert.threshold === 100 ? 'usage.cap_reached' : 'usage.threshold_reached';
    await emit(tx, { orgId: tenant.orgId, mode: tenant.mode, type, data: presentAlert(alert) });
  }
  return alerts;
}

const isUser = (owner: string) => owner !== wholeOrg && owner !== orgAgent;

function withWholeOrg(touched: readonly BudgetOwnerDay[]): BudgetOwnerDay[] {
  const days = new Set(touched.map(({ day }) => day));
  const ofUsers = distinct(
    touched.filter(({ owner }) => isUser(owner)),
    ({ owner, day }) => `${day} ${owner}`,
  );
  return [...[...days].map((day) => ({ owner: wholeOrg, day })), ...ofUsers];
}

/** If the org's caps have changed: the users whose spend has reached a threshold of the org's caps for users. */
async function daysOfUsersWithoutCap(
  tx: Transaction,
  { orgId, mode }: Tenant,
  touched: readonly RolledUpDay[],
  { userDaily, userMonthly }: OrgCaps,
  thresholds: readonly number[],
): Promise<BudgetOwnerDay[]> {
  const days = touched.filter(({ owner, isRequested }) => isRequested && owner === wholeOrg).map(({ day }) => day);
  if (days.length === 0 || (userDaily === null && userMonthly === null)) return [];
  const least = BigInt(Math.min(100, ...thresholds));
  return rowsOf(
    tx,
    { owner: text(), day: text() },
    sql`SELECT s.user_id AS owner, changed.day::text AS day
        FROM unnest(${days}::date[]) AS changed(day) JOIN ${spendDays} AS s ON s.org_id = ${orgId} AND s.mode = ${mode}
          AND s.user_id NOT IN (${wholeOrg}, ${orgAgent})
          AND s.day BETWEEN date_trunc('month', changed.day::timestamp)::date AND changed.day
        GROUP BY s.user_id, changed.day
        HAVING sum(s.spend_micros) * 100 >= ${userMonthly}::bigint * ${least}::bigint
          OR sum(s.spend_micros) FILTER (WHERE s.day = changed.day) * 100 >= ${userDaily}::bigint * ${least}::bigint`,
  );
}

function reachedBy(
  { owner, day, ...spend }: BudgetOwnerDay & Spend,
  caps: OrgCaps,
  userCaps: Map<string, UserCaps>,
  thresholds: readonly number[],
): Alert[] {
  const month = day.slice(0, 7);
  const { dayMicros, monthMicros } = spend;
  if (owner === wholeOrg) {
    return [
      ...alertsReached('org_daily_usd', null, day, caps.orgDaily, dayMicros, thresholds),
      ...alertsReached('org_monthly_usd', null, month, caps.orgMonthly, monthMicros, thresholds),
    ];
  }
  const own = userCaps.get(owner);
  if (!own) return [];
  const { userDaily, userMonthly } = capsForUser(caps, own);
  return [
    ...alertsReached('user_daily_usd', owner, day, userDaily, dayMicros, thresholds),
    ...alertsReached('user_monthly_usd', owner, month, userMonthly, monthMicros, thresholds),
  ];
}

/**
 * The percentages of one cap that spend has reached, smallest first and the cap itself last. A cap of zero has only
 * 100.
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

const sentAlertOf = ({ cap, userId, period, threshold, capMicros }: Alert): SentAlert => ({
  cap,
  owner: userId ?? orgAgent,
  period,
  threshold,
  micros: String(capMicros),
});

const nameOf = ({ cap, owner, period, threshold, micros }: SentAlert) =>
  [cap, owner, period, threshold, micros].join(' ');

type SentAlert = { cap: string; owner: string; period: string; threshold: number; micros: string };

/** Marks alerts as sent. Returns those that were not marked before. */
async function insertSentAlerts(
  tx: Transaction,
  { orgId, mode }: Tenant,
  alerts: readonly SentAlert[],
): Promise<SentAlert[]> {
  if (alerts.length === 0) return [];
  // Insert in one order, so that two transactions wait for each other and never deadlock.
  return rowsOf(
    tx,
    { cap: text(), owner: text(), period: text(), threshold: integer(), micros: text() },
    sql`
    INSERT INTO ${usageAlertsTold} (org_id, mode, cap, user_id, period, threshold, cap_micros)
    SELECT ${orgId}, ${mode}, cap, owner, period, threshold, micros
    FROM jsonb_to_recordset(${sql.json(alerts)}::jsonb)
      AS a(cap text, owner text, period text, threshold integer, micros bigint)
    ORDER BY cap, owner, period, threshold, micros
    ON CONFLICT DO NOTHING
    RETURNING cap, user_id AS owner, period, threshold, cap_micros::text AS micros`,
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
