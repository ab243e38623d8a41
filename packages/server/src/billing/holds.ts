import { randomUUID } from 'node:crypto';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { type Database, type Executor, mostConnections, type Transaction } from '../platform/db/pool.ts';
import { prune } from '../platform/db/prune.ts';
import { maybeOne, pipelined, run, running } from '../platform/db/query.ts';
import { mostTogether } from '../platform/db/shared-writes.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { micros, type RowOf } from '../platform/db/table.ts';
import { transaction } from '../platform/db/transaction.ts';
import { allowanceOf, capsForUser, type MoneyState, type OrgCaps, type Refusal, type UserCaps } from './allowance.ts';
import { spenderOf, wholeOrg } from './budget-owner.ts';
import { reservations, spendDays, wallets } from './tables.ts';

export type Spending = {
  /** Null for the org's own agent. */
  userId: string | null;
  /** The user's own caps; null for the org's own agent. */
  userCaps: UserCaps | null;
  /** Whose day and month count; absent: those of now. */
  at?: Date;
};

export type Reservation = Spending & {
  /** What the call may cost at most. */
  amountMicros: Micros;
  expiresInSeconds?: number;
  /** The run that the call belongs to: it holds money for one call at a time. */
  runId?: string;
};

const noCaps: UserCaps = { daily: null, monthly: null };

type Held = {
  allowed: true;
  reservationId: string;
  /** So little is left that calls which do not see each other's holds could spend it together. */
  isTight: boolean;
};

/**
 * Asks whether a call may start and holds money for it: one statement where the answer is yes. `charge` gives the hold
 * back, `release` does where a call ends without a charge.
 *
 * Calls that ask at the very same moment do not see each other's holds. Where there is plenty that is harmless; where it
 * is tight the hold counts only once `reserveInLine` has made it.
 */
export async function reserve(db: Executor, tenant: Tenant, reservation: Reservation): Promise<Held | Refusal> {
  const { money, caps, hold } = await ask(db, tenant, reservation);
  const allowance = allowanceOf(money, caps);
  if (allowance.allowed) {
    return { allowed: true, reservationId: hold.id, isTight: isTight(money, caps, reservation.amountMicros) };
  }
  await deleteReservation(db, tenant, hold.id);
  return allowance;
}

/** The same, one after the other for all calls of the org in every process, and seen by nobody where the answer is no. */
export function reserveInLine(
  db: Database,
  tenant: Tenant,
  reservation: Reservation,
): Promise<{ allowed: true; reservationId: string } | Refusal> {
  return transaction(db, async (tx) => {
    await lockHolds(tx, tenant);
    return reserve(tx, tenant, reservation);
  });
}

/** Why nothing more may be spent, or null. What running calls hold is no reason: it is not spent. */
export async function refusalOfSpending(db: Executor, tenant: Tenant, spending: Spending): Promise<Refusal | null> {
  const { money, caps } = await ask(db, tenant, { ...spending, amountMicros: null });
  const allowance = allowanceOf(money, caps);
  return allowance.allowed || allowance.isHeldByRunningCalls ? null : allowance;
}

async function ask(
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

/** Of runs that begin together the holds are made together, those of an org one group after the other. */
export const mostHeldTogether = 20;

/**
 * What two processes may be about to commit that nobody sees yet: each a hold on every connection, and on one of them the
 * holds of all messages that are written together; and one of them the holds of runs that begin together.
 */
export const mostUnseen = 2n * BigInt(mostConnections + mostTogether) + BigInt(mostHeldTogether);

function isTight(money: MoneyState, caps: OrgCaps, amountMicros: Micros): boolean {
  const { heldMicros, user } = money;
  const unseen = amountMicros * mostUnseen;
  const worst: MoneyState = {
    ...money,
    heldMicros: heldMicros + unseen,
    user: user && { ...user, heldMicros: user.heldMicros + unseen },
  };
  return !allowanceOf(worst, caps).allowed;
}

export async function release(db: Executor, tenant: Tenant, reservationId: string): Promise<void> {
  await deleteReservation(db, tenant, reservationId);
}

/** A process that dies gives nothing back: what it held counts until then. Longer than the longest silence of a call. */
export const holdSeconds = 900;

type Hold = {
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

/** The caps stand on the org's settings: reading them here keeps a check before a call to one statement. */
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

/** Holds money for a call and reads, as of just before, where the org and the user stand. */
async function holdAndReadMoney(
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

async function lockHolds(tx: Transaction, tenant: Tenant): Promise<void> {
  await pipelined(tx, [lockingHolds(tenant)]);
}

async function deleteReservation(db: Executor, { orgId, mode }: Tenant, id: string): Promise<void> {
  await run(db, sql`DELETE FROM ${reservations} WHERE id = ${id} AND org_id = ${orgId} AND mode = ${mode}`);
}

/** Removes holds on money that have run out. False: none was left. */
export const pruneReservations = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, reservations, sql`expires_at < ${before}`, limit);
