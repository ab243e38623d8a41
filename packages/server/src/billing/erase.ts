import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { erasedUser } from './spender.ts';
import { moveSpend } from './store.ts';

/**
 * Takes a person's id off everything they have spent; the money stays in every total. Work of theirs that still runs must
 * have ended: a charge that commits later carries the id again, and erasing once more takes it off.
 */
export async function eraseSpender(tx: Transaction, tenant: Tenant, userId: string): Promise<void> {
  if (userId === erasedUser) return;
  await moveSpend(tx, tenant, userId, erasedUser);
}
