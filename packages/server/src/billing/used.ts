import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { charge } from './charge.ts';
import type { ChargeItem, Used } from './charge-item.ts';
import { takeHoldsOfRun } from './holds-store.ts';

type About = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

/** The calls of a run that are cut off: all of them, or the one behind `reservationId`. */
export type CutCalls = {
  runId: string;
  reservationId?: string;
  /** The owner's current count for one of them. Without it the last count in the hold is charged. */
  known?: { reservationId: string; used: Used | null };
};

/** The usage of a call when it was cut off, with its cost. */
type ChargedUse = { used: Used; items: readonly ChargeItem[]; costMicros: bigint };

/**
 * Charges what cut calls of a run have used until now and deletes their holds, in the transaction that ends them. The
 * deleted row is the right to charge: a second process finds none, so a call is charged once.
 */
export async function chargeCutCalls(
  tx: Transaction,
  tenant: Tenant,
  { known, ...which }: CutCalls,
  about: About,
): Promise<ChargedUse[]> {
  const charged: ChargedUse[] = [];
  for (const hold of await takeHoldsOfRun(tx, tenant, which)) {
    const used = known?.reservationId === hold.id ? known.used : hold.used;
    if (used === null) continue;
    const { kind, model } = used;
    const items = used.items.map(({ quantity, ...item }) => ({
      ...about,
      ...item,
      kind,
      model,
      quantity: quantity ?? hold.seconds ?? 0,
      isEstimated: quantity !== null,
    }));
    charged.push({ used, items, costMicros: await charge(tx, tenant, { items }) });
  }
  return charged;
}
