import { randomUUID } from 'node:crypto';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../../caller.ts';
import { running } from '../../db/query.ts';
import { sql } from '../../db/sql.ts';
import type { UserCaps } from './allowance.ts';
import { holdSeconds } from './holds-store.ts';
import { mostUnseen } from './reserve.ts';
import { spenderOf } from './spender.ts';

type Wanted = { userId: string | null; userCaps: UserCaps | null; amountMicros: Micros; runId: string };

const spent = (isCounted: string) => `COALESCE(sum(spend_micros) FILTER (WHERE ${isCounted}), 0)::bigint`;
const isToday = 'day = (SELECT today FROM clock)';
const isThisMonth = 'day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)';
const isSpender = 'user_id = (SELECT spender FROM given)';

const spentColumns = (isOrg: string) =>
  sql.raw(`${spent(`${isOrg} AND ${isToday}`)} AS org_day, ${spent(`${isOrg} AND ${isThisMonth}`)} AS org_month,
    ${spent(`${isSpender} AND ${isToday}`)} AS user_day, ${spent(`${isSpender} AND ${isThisMonth}`)} AS user_month`);

const spentUnfolded = spentColumns('true');
const spentFolded = spentColumns("user_id = '*'");

const isPlenty = sql.raw(`o.org_id IS NOT NULL AND balance + waiting.wallet > running.by_org + given.needed
  AND (o.org_daily_micros IS NULL
    OR o.org_daily_micros - folded.org_day - waiting.org_day > running.by_org + given.needed)
  AND (o.org_monthly_micros IS NULL
    OR o.org_monthly_micros - folded.org_month - waiting.org_month > running.by_org + given.needed)
  AND (NOT given.is_user OR LEAST(o.user_daily_micros, given.daily) IS NULL
    OR LEAST(o.user_daily_micros, given.daily) - folded.user_day - waiting.user_day > running.by_user + given.needed)
  AND (NOT given.is_user OR LEAST(o.user_monthly_micros, given.monthly) IS NULL
    OR LEAST(o.user_monthly_micros, given.monthly) - folded.user_month - waiting.user_month
      > running.by_user + given.needed)`);

/**
 * Holds money for the first call of a run where there is plenty, and fails the group of statements that it is sent with
 * where there is not: then somebody has to ask what exactly is left (`reserve`). Plenty is what `reserve` does not call
 * tight, by the same rules.
 */
export function holdingPlenty({ orgId, mode }: Tenant, { userId, userCaps, amountMicros, runId }: Wanted) {
  const reservationId = randomUUID();
  const spender = spenderOf(userId);
  const statement = running(sql`WITH given AS (
      SELECT ${spender}::text AS spender, ${amountMicros * mostUnseen}::bigint AS needed, ${userId !== null}::boolean AS is_user,
        ${userCaps?.daily ?? null}::bigint AS daily, ${userCaps?.monthly ?? null}::bigint AS monthly
    ), clock AS (
      SELECT today, date_trunc('month', today::timestamp)::date AS month
      FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) AS utc
    ), held AS (
      INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
      VALUES (${reservationId}::uuid, ${orgId}, ${mode}, ${spender}, ${amountMicros},
        clock_timestamp() + make_interval(secs => ${holdSeconds}), ${runId})
    ), running AS (
      SELECT COALESCE(sum(amount_micros), 0)::bigint AS by_org,
        COALESCE(sum(amount_micros) FILTER (WHERE user_id = ${spender}), 0)::bigint AS by_user
      FROM reservations WHERE org_id = ${orgId} AND mode = ${mode} AND expires_at > clock_timestamp()
    ), waiting AS (
      SELECT COALESCE(sum(wallet_micros), 0)::bigint AS wallet, ${spentUnfolded}
      FROM unfolded_entries WHERE org_id = ${orgId} AND mode = ${mode}
    ), folded AS (
      SELECT ${spentFolded} FROM spend_days
      WHERE org_id = ${orgId} AND mode = ${mode} AND user_id IN ('*', ${spender})
        AND day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)
    ), wallet AS (
      SELECT COALESCE(sum(balance_micros), 0)::bigint AS balance FROM wallets WHERE org_id = ${orgId} AND mode = ${mode}
    )
    SELECT expect_that(${isPlenty}, 'that there is plenty of money')
    FROM given CROSS JOIN running CROSS JOIN waiting CROSS JOIN folded CROSS JOIN wallet
      LEFT JOIN org_settings o ON o.org_id = ${orgId} AND o.mode = ${mode}`);
  return { reservationId, statement };
}
