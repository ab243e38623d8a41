import type { Tenant } from '../../../caller.ts';
import type { Executor } from '../../../db/pool.ts';
import { refusalFailure, refusalOfSpending, type Spending } from '../../ledger/api.ts';
import { capsOf, type UserRow } from '../../users/api.ts';

/** Who spends and under which caps of their own. `known`: where the caller has just read the user's row. */
export async function spendingOf(
  db: Executor,
  tenant: Tenant,
  userId: string | null,
  known: UserRow | null = null,
): Promise<Spending> {
  if (userId === null) return { userId, userCaps: null };
  if (known) return { userId, userCaps: { daily: known.daily_cap_micros, monthly: known.monthly_cap_micros } };
  return { userId, userCaps: (await capsOf(db, tenant, [userId])).get(userId) ?? null };
}

/** Refuses what the org could not pay for. */
export async function assertPayable(db: Executor, tenant: Tenant): Promise<void> {
  const refusal = await refusalOfSpending(db, tenant, { userId: null, userCaps: null });
  if (refusal) throw refusalFailure(refusal);
}
