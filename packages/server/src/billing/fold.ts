import type { Tenant } from '../platform/caller.ts';
import type { Database } from '../platform/db/pool.ts';
import { transaction } from '../platform/db/transaction.ts';
import { type AlertDependencies, tellAlerts } from './alerts.ts';
import { foldWallet, listUnfolded } from './store.ts';

/**
 * Adds what was charged and credited since the last time to the wallets and the daily totals. Any number of processes may
 * do so at once: each wallet is folded by the one that has its row, in one transaction with the rows it takes away.
 *
 * Alerts are told here and not with each charge. Of two charges that run at once neither sees the other, and the cap that
 * they reach together would be told by nobody: after it no further charge comes. The fold sees both.
 */
export async function foldLedger(db: Database, alerts?: AlertDependencies): Promise<void> {
  const failures: unknown[] = [];
  for (const tenant of await listUnfolded(db)) {
    await foldTenant(db, tenant, alerts).catch((error: unknown) => failures.push(error));
  }
  // What is wrong with one org holds up no other.
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} wallets could not be folded.`);
}

async function foldTenant(db: Database, tenant: Tenant, alerts: AlertDependencies | undefined): Promise<void> {
  await transaction(db, async (tx) => {
    const touched = await foldWallet(tx, tenant);
    if (touched && alerts) await tellAlerts(tx, tenant, touched, alerts);
  });
}
