import { randomUUID } from 'node:crypto';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { allowanceOf, capsForUser, type Refusal, type UserCaps } from './allowance.ts';
import { deleteReservation, holdAndReadStanding } from './store.ts';

export type Reservation = {
  /** Null for the org's own agent. */
  userId: string | null;
  /** The user's own caps; null for the org's own agent. */
  userCaps: UserCaps | null;
  /** What the call is likely to cost. */
  amountMicros: Micros;
  /** A process that dies gives nothing back: what it held counts until then. Longer than the longest call. */
  expiresInSeconds?: number;
  /** Whose day and month count; absent: those of now. */
  at?: Date;
};

const noCaps: UserCaps = { daily: null, monthly: null };

/**
 * Asks whether a call may start and holds money for it: one statement where the answer is yes. `charge` gives the hold
 * back, `release` does where a call ends without a charge.
 *
 * Calls that ask at the very same moment do not see each other's holds. Making them wait in line would put every call of
 * a busy org behind one row, so the wallet may end below zero by what these calls cost, and never by more.
 */
export async function reserve(
  db: Executor,
  tenant: Tenant,
  { userId, userCaps, amountMicros, expiresInSeconds = 900, at }: Reservation,
): Promise<{ allowed: true; reservationId: string } | Refusal> {
  const id = randomUUID();
  const { standing, caps } = await holdAndReadStanding(db, tenant, { id, userId, amountMicros, expiresInSeconds }, at);
  const allowance = allowanceOf(standing, capsForUser(caps, userCaps ?? noCaps));
  if (allowance.allowed) return { allowed: true, reservationId: id };
  await deleteReservation(db, tenant, id);
  return allowance;
}

export async function release(db: Executor, tenant: Tenant, reservationId: string): Promise<void> {
  await deleteReservation(db, tenant, reservationId);
}
