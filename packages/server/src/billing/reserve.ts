import { randomUUID } from 'node:crypto';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { type Database, type Executor, mostConnections } from '../platform/db/pool.ts';
import { mostTogether } from '../platform/db/shared-writes.ts';
import { transaction } from '../platform/db/transaction.ts';
import { allowanceOf, capsForUser, type MoneyState, type OrgCaps, type Refusal, type UserCaps } from './allowance.ts';
import { deleteReservation, type Hold, holdAndReadMoney, holdSeconds, lockHolds } from './holds-store.ts';

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
