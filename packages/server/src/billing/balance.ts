import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import { sharedDate } from '../platform/db/clock.ts';
import type { Executor } from '../platform/db/pool.ts';
import type { Spend } from './allowance.ts';
import { readBalances, readSpend } from './store.ts';

/** What the wallet holds: below zero by at most the calls that ran when it became empty. */
export async function balanceOf(db: Executor, tenant: Tenant): Promise<Micros> {
  const [balance] = await readBalances(db, [tenant]);
  return balance as Micros;
}

/** What each user has spent on the UTC day and in the UTC month of `at`. */
export async function spendOfUsers(
  db: Executor,
  tenant: Tenant,
  userIds: readonly string[],
  at: Date = sharedDate(),
): Promise<Map<string, Spend>> {
  const day = at.toISOString().slice(0, 10);
  const rows = await readSpend(
    db,
    tenant,
    [...new Set(userIds)].map((spender) => ({ spender, day })),
  );
  return new Map(rows.map(({ spender, dayMicros, monthMicros }) => [spender, { dayMicros, monthMicros }]));
}
