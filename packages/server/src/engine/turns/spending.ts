import {
  type BudgetOwner,
  type ChargeItem,
  chargeInterruptedCalls,
  checkSpending,
  type InterruptedCalls,
  refusalFailure,
} from '../../billing/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { capsOf, type UserRow } from '../../users/index.ts';
import { insertAside, nextStepIndex } from '../records/trace-store.ts';
import type { About } from './call-price.ts';

/** Who spends and under which caps of their own. `known`: where the caller has just read the user's row. */
export async function spendingOf(
  db: Executor,
  tenant: Tenant,
  userId: string | null,
  known: UserRow | null = null,
): Promise<BudgetOwner> {
  if (userId === null) return { userId, userCaps: null };
  if (known) return { userId, userCaps: { daily: known.daily_cap_micros, monthly: known.monthly_cap_micros } };
  return { userId, userCaps: (await capsOf(db, tenant, [userId])).get(userId) ?? null };
}

/** Refuses what the org could not pay for. */
export async function assertPayable(db: Executor, tenant: Tenant): Promise<void> {
  const refusal = await checkSpending(db, tenant, { userId: null, userCaps: null });
  if (refusal) throw refusalFailure(refusal);
}

/**
 * Charges the calls that the end of a run cuts off, and shows those of models in its trace. Every way to end a run comes
 * here, in the transaction of the end: stopped by a person, out of time, steps or money, erased.
 */
export async function chargeAtEnd(tx: Transaction, tenant: Tenant, cut: InterruptedCalls, about: About): Promise<void> {
  for (const { used, items, costMicros } of await chargeInterruptedCalls(tx, tenant, cut, about)) {
    if (used.model === null) continue;
    const quantityOf = (unit: ChargeItem['unit']) =>
      items.reduce((sum, item) => sum + (item.unit === unit ? item.quantity : 0), 0);
    const usage = {
      inputTokens: quantityOf('input_tokens'),
      outputTokens: quantityOf('output_tokens'),
      cacheReadTokens: quantityOf('cache_read_tokens'),
      cacheWriteTokens: quantityOf('cache_write_tokens'),
    };
    const cost = { model: used.model, costMicros, startedAt: sharedDate() };
    await insertAside(tx, cut.runId, await nextStepIndex(tx, cut.runId), { kind: 'stopped', usage }, cost);
  }
}
