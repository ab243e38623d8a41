import { randomUUID } from 'node:crypto';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { maxGroupSize } from '../platform/db/group-commit.ts';
import { type Database, type Executor, maxConnections, type Transaction } from '../platform/db/pool.ts';
import { maybeOne, pipelined, prune, rowsOf, run, runStatement } from '../platform/db/query.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { micros, type RowOf, text } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import {
  allowanceOf,
  capsForUser,
  type MoneyState,
  type OrgCaps,
  type SpendingRefusal,
  type UserCaps,
} from './allowance.ts';
import { budgetOwnerOf, wholeOrg } from './budget-owner.ts';
import { reservations, spendDays, wallets } from './tables.ts';

export type BudgetOwner = {
  /** Null for the org's own agent. */
  userId: string | null;
  /** The user's caps. Null for the org's own agent. */
  userCaps: UserCaps | null;
  /** The day and month that count. Default: now. */
  at?: Date;
};

export type Reservation = BudgetOwner & {
  /** The maximum cost of the call. */
  amountMicros: Micros;
  expiresInSeconds?: number;
  /** The run of the call. A run holds money for one call at a time. */
  runId?: string;
};

const noCaps: UserCaps = { daily: null, monthly: null };

type Held = {
  allowed: true;
  reservationId: string;
  /** So little is left that concurrent calls, which do not see each other's holds, could overspend it. */
  isTight: boolean;
};

/**
 * Decides whether a call may start, and holds money for it. If it may, this takes one statement. `charge` deletes the
 * hold. If a call ends without a charge, `releaseHold` does.
 *
 * Concurrent reservations do not see each other's holds. That is harmless while plenty is left. If the result is tight,
 * the caller must reserve again with `reserveUnderLock`.
 */
export async function reserve(db: Executor, tenant: Tenant, reservation: Reservation): Promise<Held | SpendingRefusal> {
  const { money, caps, hold } = await readMoneyAndHold(db, tenant, reservation);
  const allowance = allowanceOf(money, caps);
  if (allowance.allowed) {
    return { allowed: true, reservationId: hold.id, isTight: isTight(money, caps, reservation.amountMicros) };
  }
  await deleteReservation(db, tenant, hold.id);
  return allowance;
}

/** Like `reserve`, but serialised for the org across processes. Other transactions never see a refused hold. */
export function reserveUnderLock(
  db: Database,
  tenant: Tenant,
  reservation: Reservation,
): Promise<{ allowed: true; reservationId: string } | SpendingRefusal> {
  return transaction(db, async (tx) => {
    await lockHolds(tx, tenant);
    return reserve(tx, tenant, reservation);
  });
}

/** Returns the reason why nothing more may be spent, or null. Money that running calls hold does not count as spent. */
export async function checkSpending(
  db: Executor,
  tenant: Tenant,
  spending: BudgetOwner,
): Promise<SpendingRefusal | null> {
  const { money, caps } = await readMoneyAndHold(db, tenant, { ...spending, amountMicros: null });
  const allowance = allowanceOf(money, caps);
  return allowance.allowed || allowance.isHeldByRunningCalls ? null : allowance;
}

async function readMoneyAndHold(
  db: Executor,
  tenant: Tenant,
  {
    userId,
    userCaps,
    amountMicros,
    expiresInSeconds = holdSeconds,
    runId = null,
    at,
  }: Omit<Reservation, 'amountMicros' | 'runId'> & { amountMicros: Micros | null; runId?: string | null | undefined },
): Promise<{ money: MoneyState; caps: OrgCaps; hold: Hold }> {
  const hold = { id: randomUUID(), userId, amountMicros, expiresInSeconds, runId };
  const { money, caps } = await holdAndReadMoney(db, tenant, hold, at);
  return { money, caps: capsForUser(caps, userCaps ?? noCaps), hold };
}

/** The maximum number of runs that start together and hold money in one statement. */
export const maxHoldsTogether = 20;

/**
 * The number of uncommitted holds that two processes may have at once. Each process may have one hold per connection,
 * plus one group of messages that are committed together. One of them may also have the holds of runs that start
 * together.
 */
export const maxUnseenHolds = 2n * BigInt(maxConnections + maxGroupSize) + BigInt(maxHoldsTogether);

function isTight(money: MoneyState, caps: OrgCaps, amountMicros: Micros): boolean {
  const { heldMicros, user } = money;
  const unseen = amountMicros * maxUnseenHolds;
  const worst: MoneyState = {
    ...money,
    heldMicros: heldMicros + unseen,
    user: user && { ...user, heldMicros: user.heldMicros + unseen },
  };
  return !allowanceOf(worst, caps).allowed;
}

export async function releaseHold(db: Executor, tenant: Tenant, reservationId: string): Promise<void> {
  await deleteReservation(db, tenant, reservationId);
}

/** A hold of a dead process counts for this long. It must be longer than any silence of a call. */
export const holdSeconds = 900;

type Hold = {
  id: string;
  userId: string | null;
  /** Null: only read the state of the org and the user, and hold nothing. */
  amountMicros: Micros | null;
  expiresInSeconds: number;
  /** The new hold replaces earlier holds of this run. */
  runId: string | null;
};

const isToday = sql`day = (SELECT today FROM clock)`;
const isThisMonth = sql`day BETWEEN (SELECT month FROM clock) AND (SELECT today FROM clock)`;

const spent = (isTheirs: Sql, isCounted: Sql) =>
  sql`COALESCE(sum(spend_micros) FILTER (WHERE ${isTheirs} AND ${isCounted}), 0)::bigint`;

const spentColumns = (isOrg: Sql, isUser: Sql) =>
  sql`${spent(isOrg, isToday)} AS org_day, ${spent(isOrg, isThisMonth)} AS org_month,
      ${spent(isUser, isToday)} AS user_day, ${spent(isUser, isThisMonth)} AS user_month`;

/** Caps are columns of the org's settings. Reading them here keeps a reservation to one statement. */
export const capColumns = {
  org_daily_micros: micros().nullable(),
  org_monthly_micros: micros().nullable(),
  user_daily_micros: micros().nullable(),
  user_monthly_micros: micros().nullable(),
};

export const capsOf = (row: RowOf<typeof capColumns>): OrgCaps => ({
  orgDaily: row.org_daily_micros,
  orgMonthly: row.org_monthly_micros,
  userDaily: row.user_daily_micros,
  userMonthly: row.user_monthly_micros,
});

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

/** Holds money for a call, and reads the state of the org and the user without that hold. */
async function holdAndReadMoney(
  db: Executor,
  { orgId, mode }: Tenant,
  hold: Hold,
  at: Date | null = null,
): Promise<{ money: MoneyState; caps: OrgCaps }> {
  const { id, amountMicros, runId } = hold;
  const owner = budgetOwnerOf(hold.userId);
  const isOrg = sql`org_id = ${orgId} AND mode = ${mode}`;
  const isUser = sql`user_id = ${owner}`;
  const row = await maybeOne(
    db,
    standingColumns,
    sql`
    WITH given_way AS (
      DELETE FROM ${reservations} WHERE run_id = ${runId}::text AND ${isOrg} AND ${amountMicros}::bigint IS NOT NULL
    ), held AS (
      INSERT INTO ${reservations} (id, org_id, mode, user_id, amount_micros, expires_at, run_id)
      SELECT ${id}::uuid, ${orgId}, ${mode}, ${owner}, ${amountMicros}::bigint,
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
      WHERE ${isOrg} AND user_id IN (${wholeOrg}, ${owner}) AND ${isThisMonth}
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

/** Serialises the holds of one org and mode until the transaction ends. */
export const lockHoldsStatement = ({ orgId, mode }: Tenant) =>
  runStatement(sql`SELECT pg_advisory_xact_lock(hashtextextended(${`holds ${orgId} ${mode}`}, 0))`);

async function lockHolds(tx: Transaction, tenant: Tenant): Promise<void> {
  await pipelined(tx, [lockHoldsStatement(tenant)]);
}

async function deleteReservation(db: Executor, { orgId, mode }: Tenant, id: string): Promise<void> {
  await run(db, sql`DELETE FROM ${reservations} WHERE id = ${id} AND org_id = ${orgId} AND mode = ${mode}`);
}

/**
 * Deletes holds of runs that have ended, and returns the count. A process that dies just after it has lost its run leaves
 * one. A run that another process will continue keeps its holds, because their usage is still to be charged.
 */
export async function deleteHoldsOfEndedRuns(
  tx: Transaction,
  limit: number,
  unendedAmong: (runIds: readonly string[]) => Promise<ReadonlySet<string>>,
): Promise<number> {
  const held = await rowsOf(
    tx,
    { id: text(), run_id: text() },
    sql`SELECT id::text AS id, run_id FROM ${reservations}
        WHERE run_id IS NOT NULL AND NOT EXISTS (SELECT FROM runs WHERE runs.id = ${reservations}.run_id)
        LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
  );
  if (held.length === 0) return 0;
  const unended = await unendedAmong(held.map(({ run_id }) => run_id));
  const ids = held.filter(({ run_id }) => !unended.has(run_id)).map(({ id }) => id);
  return run(tx, sql`DELETE FROM ${reservations} WHERE id = ANY(${ids}::uuid[])`);
}

/** Deletes expired holds. False: none was left. */
export const pruneReservations = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, reservations, sql`expires_at < ${before}`, limit);
