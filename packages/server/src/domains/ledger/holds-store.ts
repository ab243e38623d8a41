import type { Micros } from '@vestra/contract/money';
import { and, eq, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import type { OrgCaps, Standing } from './allowance.ts';
import { spenderOf } from './spender.ts';
import { type CapRow, capsOf } from './store.ts';
import { reservations } from './tables.ts';
import type { Used } from './used.ts';

/** A process that dies gives nothing back: what it held counts until then. Longer than the longest silence of a call. */
export const holdSeconds = 900;

export type Hold = {
  id: string;
  userId: string | null;
  /** Null: nothing is held, where the org and the user stand is only read. */
  amountMicros: Micros | null;
  expiresInSeconds: number;
  /** What the run has held before gives way to it. */
  runId: string | null;
};

const spentColumns = (isOrg: string) => {
  const isToday = 'day = (SELECT today FROM clock)';
  const isThisMonth = 'day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)';
  const spent = (isCounted: string) => `COALESCE(sum(spend_micros) FILTER (WHERE ${isCounted}), 0)::bigint`;
  return `${spent(`${isOrg} AND ${isToday}`)} AS org_day, ${spent(`${isOrg} AND ${isThisMonth}`)} AS org_month,
    ${spent(`user_id = $4 AND ${isToday}`)} AS user_day, ${spent(`user_id = $4 AND ${isThisMonth}`)} AS user_month`;
};

const holdMoney = {
  name: 'hold_money',
  text: `WITH given_way AS (
      DELETE FROM reservations WHERE run_id = $8::text AND org_id = $2 AND mode = $3 AND $5::bigint IS NOT NULL
    ), held AS (
      INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
      SELECT $1::uuid, $2, $3, $4, $5::bigint, clock_timestamp() + make_interval(secs => $6), $8::text
      WHERE $5::bigint IS NOT NULL
    ), running AS (
      SELECT COALESCE(sum(amount_micros), 0)::bigint AS by_org,
        COALESCE(sum(amount_micros) FILTER (WHERE user_id = $4), 0)::bigint AS by_user
      FROM reservations
      WHERE org_id = $2 AND mode = $3 AND expires_at > clock_timestamp() AND run_id IS DISTINCT FROM COALESCE($8::text, '')
    ), clock AS (
      SELECT today, date_trunc('month', today::timestamp)::date AS month
      FROM (SELECT (COALESCE($7::timestamptz, now()) AT TIME ZONE 'UTC')::date AS today) AS utc
    ), waiting AS (
      SELECT COALESCE(sum(wallet_micros), 0)::bigint AS wallet, ${spentColumns('true')}
      FROM unfolded_entries WHERE org_id = $2 AND mode = $3
    ), folded AS (
      SELECT ${spentColumns("user_id = '*'")} FROM spend_days
      WHERE org_id = $2 AND mode = $3 AND user_id IN ('*', $4)
        AND day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)
    )
    SELECT o.org_daily_micros, o.org_monthly_micros, o.user_daily_micros, o.user_monthly_micros,
      running.by_org, running.by_user,
      COALESCE((SELECT balance_micros FROM wallets WHERE org_id = $2 AND mode = $3), 0) + waiting.wallet AS balance,
      folded.org_day + waiting.org_day AS org_day, folded.org_month + waiting.org_month AS org_month,
      folded.user_day + waiting.user_day AS user_day, folded.user_month + waiting.user_month AS user_month
    FROM org_settings o, running, waiting, folded WHERE o.org_id = $2 AND o.mode = $3`,
};

/** Holds money for a call and reads, as of just before, where the org and the user stand. */
export async function holdAndReadStanding(
  db: Executor,
  { orgId, mode }: Tenant,
  hold: Hold,
  at?: Date,
): Promise<{ standing: Standing; caps: OrgCaps }> {
  const [row] = await runPrepared<CapRow & Record<StandingColumn, string>>(db, holdMoney, [
    hold.id,
    orgId,
    mode,
    spenderOf(hold.userId),
    hold.amountMicros === null ? null : String(hold.amountMicros),
    hold.expiresInSeconds,
    at?.toISOString() ?? null,
    hold.runId,
  ]);
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  const spend = { dayMicros: BigInt(row.user_day), monthMicros: BigInt(row.user_month) };
  const standing: Standing = {
    balanceMicros: BigInt(row.balance),
    heldMicros: BigInt(row.by_org),
    spend: { dayMicros: BigInt(row.org_day), monthMicros: BigInt(row.org_month) },
    user: hold.userId === null ? null : { ...spend, heldMicros: BigInt(row.by_user) },
  };
  return { standing, caps: capsOf(row) };
}

type StandingColumn = 'balance' | 'by_org' | 'by_user' | 'org_day' | 'org_month' | 'user_day' | 'user_month';

/** Holds of one org and mode are decided one after the other until the transaction ends. */
export async function lockHolds(tx: Transaction, { orgId, mode }: Tenant): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`holds ${orgId} ${mode}`}, 0))`);
}

export async function deleteReservation(db: Executor, { orgId, mode }: Tenant, id: string): Promise<void> {
  await db
    .delete(reservations)
    .where(and(eq(reservations.id, id), eq(reservations.org_id, orgId), eq(reservations.mode, mode)));
}

const note = {
  name: 'note_used',
  text: `UPDATE reservations SET used = COALESCE($4::json, used), amount_micros = GREATEST(amount_micros, $5::bigint),
      expires_at = GREATEST(expires_at, clock_timestamp() + make_interval(secs => $6))
    WHERE id = $1::uuid AND org_id = $2 AND mode = $3
      AND EXISTS (SELECT FROM runs WHERE id = $7 AND epoch = $8)`,
};

/** What the call behind a hold has used so far, and what it may cost where that is more. For the owner of the run alone. */
export async function noteUsed(
  db: Executor,
  { orgId, mode }: Tenant,
  of: {
    reservationId: string;
    used: Used | null;
    atLeastMicros: Micros;
    run: { runId: string; epoch: number };
  },
): Promise<void> {
  await runPrepared(db, note, [
    of.reservationId,
    orgId,
    mode,
    of.used === null ? null : JSON.stringify(of.used),
    String(of.atLeastMicros),
    holdSeconds,
    of.run.runId,
    of.run.epoch,
  ]);
}

const meter = {
  name: 'hold_metered',
  text: `INSERT INTO reservations (id, org_id, mode, user_id, amount_micros, expires_at, run_id, used, metered_since)
    SELECT $1::uuid, $2, $3, $4, $5::bigint, clock_timestamp() + make_interval(secs => $6), id, $8::json, clock_timestamp()
    FROM runs WHERE id = $7 AND epoch = $9`,
};

/** Holds money for something that costs by the second, beside what else the run holds. For its owner alone. */
export async function holdMetered(
  db: Executor,
  { orgId, mode }: Tenant,
  of: {
    id: string;
    userId: string | null;
    amountMicros: Micros;
    used: Used;
    run: { runId: string; epoch: number };
  },
): Promise<void> {
  await runPrepared(db, meter, [
    of.id,
    orgId,
    mode,
    spenderOf(of.userId),
    String(of.amountMicros),
    holdSeconds,
    of.run.runId,
    JSON.stringify(of.used),
    of.run.epoch,
  ]);
}

/** Takes away all that a run holds and says what it was used for. */
export async function takeHoldsOfRun(
  tx: Transaction,
  { orgId, mode }: Tenant,
  runId: string,
): Promise<{ used: Used | null; seconds: number | null }[]> {
  const { rows } = await tx.execute<{ used: Used | null; ms: string | null }>(sql`
    DELETE FROM reservations WHERE run_id = ${runId} AND org_id = ${orgId} AND mode = ${mode}
    RETURNING used, ceil(extract(epoch FROM clock_timestamp() - metered_since) * 1000)::bigint AS ms`);
  return rows.map(({ used, ms }) => ({ used, seconds: ms === null ? null : Number(ms) / 1000 }));
}
