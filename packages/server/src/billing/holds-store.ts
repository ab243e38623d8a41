import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Database, Executor, Transaction } from '../platform/db/pool.ts';
import { prune } from '../platform/db/prune.ts';
import { maybeOne, pipelined, rowsOf, run, running } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { count, json, micros, text } from '../platform/db/table.ts';
import type { MoneyState, OrgCaps } from './allowance.ts';
import type { Used } from './charge-item.ts';
import { spenderOf, wholeOrg } from './spender.ts';
import { capColumns, capsOf } from './store.ts';
import { reservations, spendDays, wallets } from './tables.ts';

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

const isToday = sql`day = (SELECT today FROM clock)`;
const isThisMonth = sql`day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)`;

const spent = (isTheirs: Sql, isCounted: Sql) =>
  sql`COALESCE(sum(spend_micros) FILTER (WHERE ${isTheirs} AND ${isCounted}), 0)::bigint`;

const spentColumns = (isOrg: Sql, isUser: Sql) =>
  sql`${spent(isOrg, isToday)} AS org_day, ${spent(isOrg, isThisMonth)} AS org_month,
      ${spent(isUser, isToday)} AS user_day, ${spent(isUser, isThisMonth)} AS user_month`;

const standingColumns = {
  ...capColumns,
  balance: micros(),
  by_org: micros(),
  by_user: micros(),
  org_day: micros(),
  org_month: micros(),
  user_day: micros(),
  user_month: micros(),
};

/** Holds money for a call and reads, as of just before, where the org and the user stand. */
export async function holdAndReadMoney(
  db: Executor,
  { orgId, mode }: Tenant,
  hold: Hold,
  at: Date | null = null,
): Promise<{ money: MoneyState; caps: OrgCaps }> {
  const { id, amountMicros, runId } = hold;
  const spender = spenderOf(hold.userId);
  const isOrg = sql`org_id = ${orgId} AND mode = ${mode}`;
  const isUser = sql`user_id = ${spender}`;
  const row = await maybeOne(
    db,
    standingColumns,
    sql`
    WITH given_way AS (
      DELETE FROM ${reservations} WHERE run_id = ${runId}::text AND ${isOrg} AND ${amountMicros}::bigint IS NOT NULL
    ), held AS (
      INSERT INTO ${reservations} (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
      SELECT ${id}::uuid, ${orgId}, ${mode}, ${spender}, ${amountMicros}::bigint,
        clock_timestamp() + make_interval(secs => ${hold.expiresInSeconds}), ${runId}::text
      WHERE ${amountMicros}::bigint IS NOT NULL
    ), running AS (
      SELECT COALESCE(sum(amount_micros), 0)::bigint AS by_org,
        COALESCE(sum(amount_micros) FILTER (WHERE ${isUser}), 0)::bigint AS by_user
      FROM ${reservations}
      WHERE ${isOrg} AND expires_at > clock_timestamp() AND run_id IS DISTINCT FROM COALESCE(${runId}::text, '')
    ), clock AS (
      SELECT today, date_trunc('month', today::timestamp)::date AS month
      FROM (SELECT (COALESCE(${at}::timestamptz, now()) AT TIME ZONE 'UTC')::date AS today) AS utc
    ), waiting AS (
      SELECT COALESCE(sum(wallet_micros), 0)::bigint AS wallet, ${spentColumns(sql`true`, isUser)}
      FROM unfolded_entries WHERE ${isOrg}
    ), folded AS (
      SELECT ${spentColumns(sql`user_id = ${wholeOrg}`, isUser)} FROM ${spendDays}
      WHERE ${isOrg} AND user_id IN (${wholeOrg}, ${spender}) AND ${isThisMonth}
    )
    SELECT o.org_daily_micros, o.org_monthly_micros, o.user_daily_micros, o.user_monthly_micros,
      running.by_org, running.by_user,
      COALESCE((SELECT balance_micros FROM ${wallets} WHERE ${isOrg}), 0) + waiting.wallet AS balance,
      folded.org_day + waiting.org_day AS org_day, folded.org_month + waiting.org_month AS org_month,
      folded.user_day + waiting.user_day AS user_day, folded.user_month + waiting.user_month AS user_month
    FROM org_settings o, running, waiting, folded WHERE o.org_id = ${orgId} AND o.mode = ${mode}`,
  );
  if (!row) throw new Error(`Org ${orgId} has no settings for ${mode} mode.`);
  const user = { dayMicros: row.user_day, monthMicros: row.user_month, heldMicros: row.by_user };
  const money: MoneyState = {
    balanceMicros: row.balance,
    heldMicros: row.by_org,
    spend: { dayMicros: row.org_day, monthMicros: row.org_month },
    user: hold.userId === null ? null : user,
  };
  return { money, caps: capsOf(row) };
}

/** Holds of one org and mode are decided one after the other until the transaction ends. */
export const lockingHolds = ({ orgId, mode }: Tenant) =>
  running(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`holds ${orgId} ${mode}`}, 0))`);

export async function lockHolds(tx: Transaction, tenant: Tenant): Promise<void> {
  await pipelined(tx, [lockingHolds(tenant)]);
}

export async function deleteReservation(db: Executor, { orgId, mode }: Tenant, id: string): Promise<void> {
  await run(db, sql`DELETE FROM ${reservations} WHERE id = ${id} AND org_id = ${orgId} AND mode = ${mode}`);
}

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
  await run(
    db,
    sql`UPDATE ${reservations} SET used = COALESCE(${of.used && sql.json(of.used)}::json, used),
          amount_micros = GREATEST(amount_micros, ${of.atLeastMicros}::bigint),
          expires_at = GREATEST(expires_at, clock_timestamp() + make_interval(secs => ${holdSeconds}))
        WHERE id = ${of.reservationId}::uuid AND org_id = ${orgId} AND mode = ${mode}
          AND EXISTS (SELECT FROM runs WHERE id = ${of.run.runId} AND epoch = ${of.run.epoch})`,
  );
}

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
  await run(
    db,
    sql`INSERT INTO ${reservations}
          (id, org_id, mode, user_id, amount_micros, expires_at, run_id, used, metered_since)
        SELECT ${of.id}::uuid, ${orgId}, ${mode}, ${spenderOf(of.userId)}, ${of.amountMicros}::bigint,
          clock_timestamp() + make_interval(secs => ${holdSeconds}), id, ${sql.json(of.used)}::json, clock_timestamp()
        FROM runs WHERE id = ${of.run.runId} AND epoch = ${of.run.epoch}`,
  );
}

/** Deletes the holds of a run, or one of them, and returns what each was used for. */
export async function takeHoldsOfRun(
  tx: Transaction,
  { orgId, mode }: Tenant,
  { runId, reservationId }: { runId: string; reservationId?: string },
): Promise<{ id: string; used: Used | null; seconds: number | null }[]> {
  const rows = await rowsOf(
    tx,
    { id: text(), used: json<Used>().nullable(), ms: count().nullable() },
    sql`DELETE FROM ${reservations} WHERE ${sql.and(
      sql`run_id = ${runId} AND org_id = ${orgId} AND mode = ${mode}`,
      reservationId !== undefined && sql`id = ${reservationId}::uuid`,
    )}
        RETURNING id::text AS id, used, ceil(extract(epoch FROM clock_timestamp() - metered_since) * 1000)::bigint AS ms`,
  );
  return rows.map(({ id, used, ms }) => ({ id, used, seconds: ms === null ? null : ms / 1000 }));
}

/** Removes holds on money that have run out. False: none was left. */
export const pruneReservations = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, reservations, sql`expires_at < ${before}`, limit);
