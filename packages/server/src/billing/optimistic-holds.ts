import { randomUUID } from 'node:crypto';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { pipelined, rowsStatement, runStatement } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { boolean } from '../platform/db/table.ts';
import type { UserCaps } from './allowance.ts';
import { budgetOwnerOf, wholeOrg } from './budget-owner.ts';
import { holdSeconds, lockHoldsStatement, maxHoldsTogether, maxUnseenHolds } from './holds.ts';

type HoldRequest = { userId: string | null; userCaps: UserCaps | null; amountMicros: Micros; runId: string };

const spent = (isCounted: string) => `COALESCE(sum(spend_micros) FILTER (WHERE ${isCounted}), 0)::bigint`;
const isToday = 'day = (SELECT today FROM clock)';
const isThisMonth = 'day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)';
const today = sql.raw("(now() AT TIME ZONE 'UTC')::date");
const firstOfMonth = sql.raw("date_trunc('month', now() AT TIME ZONE 'UTC')::date");

/**
 * Holds money for the first call of a run if the balance is far above every limit. Otherwise it aborts the statements
 * that it is sent with, and the caller must use `reserve`. "Far above" means what `reserve` does not call tight. One
 * rule differs: entries that are not rolled up yet count as spent today. So `reserve` is needed more often just after
 * midnight. Every turn runs this statement, so it reads nothing that the decision does not need.
 */
export function optimisticHoldStatement(
  { orgId, mode }: Tenant,
  { userId, userCaps, amountMicros, runId }: HoldRequest,
) {
  const reservationId = randomUUID();
  const owner = budgetOwnerOf(userId);
  const needed = sql`${amountMicros * maxUnseenHolds}::bigint`;
  const isUser = sql`${userId !== null}::boolean`;
  const userDaily = sql`COALESCE(${userCaps?.daily ?? null}::bigint, o.user_daily_micros)`;
  const userMonthly = sql`COALESCE(${userCaps?.monthly ?? null}::bigint, o.user_monthly_micros)`;
  const statement = runStatement(sql`WITH held AS (
      INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
      VALUES (${reservationId}::uuid, ${orgId}, ${mode}, ${owner}, ${amountMicros},
        clock_timestamp() + make_interval(secs => ${holdSeconds}), ${runId})
    )
    SELECT expect_that(o.org_id IS NOT NULL
      AND COALESCE(w.balance_micros, 0) + waiting.wallet > running.by_org + ${needed}
      AND (o.org_daily_micros IS NULL
        OR o.org_daily_micros - folded.org_day - waiting.by_org > running.by_org + ${needed})
      AND (o.org_monthly_micros IS NULL
        OR o.org_monthly_micros - folded.org_month - waiting.by_org > running.by_org + ${needed})
      AND (NOT ${isUser} OR ${userDaily} IS NULL
        OR ${userDaily} - folded.user_day - waiting.by_user > running.by_user + ${needed})
      AND (NOT ${isUser} OR ${userMonthly} IS NULL
        OR ${userMonthly} - folded.user_month - waiting.by_user > running.by_user + ${needed}),
      'that there is plenty of money')
    FROM (
      SELECT COALESCE(sum(amount_micros), 0)::bigint AS by_org,
        COALESCE(sum(amount_micros) FILTER (WHERE user_id = ${owner}), 0)::bigint AS by_user
      FROM reservations WHERE org_id = ${orgId} AND mode = ${mode} AND expires_at > clock_timestamp()
    ) AS running CROSS JOIN (
      SELECT COALESCE(sum(wallet_micros), 0)::bigint AS wallet, COALESCE(sum(spend_micros), 0)::bigint AS by_org,
        COALESCE(sum(spend_micros) FILTER (WHERE user_id = ${owner}), 0)::bigint AS by_user
      FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}
    ) AS waiting CROSS JOIN (
      SELECT COALESCE(sum(spend_micros) FILTER (WHERE user_id = '*' AND day = ${today}), 0)::bigint AS org_day,
        COALESCE(sum(spend_micros) FILTER (WHERE user_id = '*'), 0)::bigint AS org_month,
        COALESCE(sum(spend_micros) FILTER (WHERE user_id = ${owner} AND day = ${today}), 0)::bigint AS user_day,
        COALESCE(sum(spend_micros) FILTER (WHERE user_id = ${owner}), 0)::bigint AS user_month
      FROM spend_days WHERE org_id = ${orgId} AND mode = ${mode} AND user_id IN ('*', ${owner})
        AND day BETWEEN ${firstOfMonth} AND ${today}
    ) AS folded
    LEFT JOIN org_settings o ON o.org_id = ${orgId} AND o.mode = ${mode}
    LEFT JOIN wallets w ON w.org_id = ${orgId} AND w.mode = ${mode}`);
  return { reservationId, statement };
}

const isPlentyForAll = sql.raw(`wallet.balance + spent.wallet > reserved.by_org + needed.micros
  AND (o.org_daily_micros IS NULL OR o.org_daily_micros - spent.day > reserved.by_org + needed.micros)
  AND (o.org_monthly_micros IS NULL OR o.org_monthly_micros - spent.month > reserved.by_org + needed.micros)
  AND NOT EXISTS (
    SELECT FROM wanted w LEFT JOIN spent_by b ON b.user_id = w.owner LEFT JOIN reserved_by r ON r.user_id = w.owner
    WHERE w.is_user AND (
      COALESCE(w.daily, o.user_daily_micros) - COALESCE(b.day, 0) <= COALESCE(r.micros, 0) + w.needed
      OR COALESCE(w.monthly, o.user_monthly_micros) - COALESCE(b.month, 0) <= COALESCE(r.micros, 0) + w.needed))`);

const spentOn = sql.raw(`${spent(isToday)} AS day, ${spent(isThisMonth)} AS month`);

/**
 * Holds money for the first calls of runs that start together, for all or for none. Returns null if the balance is not
 * far above every limit, by the rules of `optimisticHoldStatement`. Until the transaction ends, no other group of runs
 * of the org can hold money.
 */
export async function holdAllOptimistically(
  tx: Transaction,
  tenant: Tenant,
  wanted: readonly HoldRequest[],
): Promise<string[] | null> {
  if (wanted.length > maxHoldsTogether)
    throw new Error(`${wanted.length} holds at once exceed the maximum of ${maxHoldsTogether}.`);
  const { orgId, mode } = tenant;
  const isOrg = sql`org_id = ${orgId} AND mode = ${mode}`;
  const holds = wanted.map(({ userId, userCaps, amountMicros, runId }) => ({
    id: randomUUID(),
    run_id: runId,
    owner: budgetOwnerOf(userId),
    is_user: userId !== null,
    amount: String(amountMicros),
    daily: userCaps?.daily?.toString() ?? null,
    monthly: userCaps?.monthly?.toString() ?? null,
  }));
  const [, [answer]] = await pipelined(tx, [
    lockHoldsStatement(tenant),
    rowsStatement(
      { is_plenty: boolean() },
      sql`WITH given AS (
        SELECT * FROM json_to_recordset(${sql.json(holds)})
          AS g(id uuid, run_id text, owner text, is_user boolean, amount bigint, daily bigint, monthly bigint)
      ), wanted AS (
        SELECT owner, is_user, min(daily) AS daily, min(monthly) AS monthly,
          (sum(amount) + max(amount) * ${maxUnseenHolds})::bigint AS needed FROM given GROUP BY owner, is_user
      ), needed AS (
        SELECT (sum(amount) + max(amount) * ${maxUnseenHolds})::bigint AS micros FROM given
      ), clock AS (
        SELECT today, date_trunc('month', today::timestamp)::date AS month
        FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS utc
      ), reserved_by AS (
        SELECT user_id, sum(amount_micros)::bigint AS micros FROM reservations
        WHERE ${isOrg} AND expires_at > clock_timestamp() GROUP BY user_id
      ), reserved AS (
        SELECT COALESCE(sum(micros), 0)::bigint AS by_org FROM reserved_by
      ), unfolded AS MATERIALIZED (
        SELECT user_id, day, wallet_micros, spend_micros FROM unfolded_entries WHERE ${isOrg}
      ), folded AS MATERIALIZED (
        SELECT user_id, day, spend_micros FROM spend_days
        WHERE ${isOrg} AND user_id = ANY(ARRAY(SELECT owner FROM given UNION SELECT ${wholeOrg}))
          AND day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)
      ), spent_by AS (
        SELECT user_id, ${spentOn} FROM (
          SELECT user_id, day, spend_micros FROM unfolded UNION ALL SELECT user_id, day, spend_micros FROM folded
        ) AS entries GROUP BY user_id
      ), spent AS (
        SELECT COALESCE(sum(wallet_micros), 0)::bigint AS wallet, ${spentOn} FROM (
          SELECT day, wallet_micros, spend_micros FROM unfolded
          UNION ALL SELECT day, 0, spend_micros FROM folded WHERE user_id = ${wholeOrg}
        ) AS entries
      ), wallet AS (
        SELECT COALESCE(sum(balance_micros), 0)::bigint AS balance FROM wallets WHERE ${isOrg}
      ), answer AS (
        SELECT ${isPlentyForAll} AS is_plenty
        FROM needed CROSS JOIN reserved CROSS JOIN spent CROSS JOIN wallet
          JOIN org_settings o ON o.org_id = ${orgId} AND o.mode = ${mode}
      ), held AS (
        INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
        SELECT g.id, ${orgId}, ${mode}, g.owner, g.amount,
          clock_timestamp() + make_interval(secs => ${holdSeconds}), g.run_id
        FROM given g CROSS JOIN answer WHERE answer.is_plenty
      )
      SELECT is_plenty FROM answer`,
    ),
  ]);
  return answer?.is_plenty ? holds.map(({ id }) => id) : null;
}
