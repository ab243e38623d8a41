import { checkSpending, refusalFailure } from '../billing/index.ts';
import type { Tenant } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { capsOf } from '../users/index.ts';

/** Refuses a call that nobody could pay for, at its beginning and in its middle. */
export async function assertMoneyForCall(db: Executor, tenant: Tenant, userId: string | null): Promise<void> {
  const userCaps = userId === null ? null : ((await capsOf(db, tenant, [userId])).get(userId) ?? null);
  const refusal = await checkSpending(db, tenant, { userId, userCaps });
  if (refusal) throw refusalFailure(refusal);
}
