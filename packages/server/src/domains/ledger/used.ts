import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { charge } from './charge.ts';
import type { ChargeItem, Used } from './charge-item.ts';
import { takeHoldsOfRun } from './holds-store.ts';

type About = Pick<ChargeItem, 'userId' | 'deploymentId' | 'conversationId' | 'taskId' | 'turnId'>;

/** What the calls of a run had used when it was stopped, each with its cost. */
type ChargedUse = { used: Used; items: readonly ChargeItem[]; costMicros: bigint };

/**
 * Charges what the calls of a run have used until now and takes their holds away, in the transaction that stops the run:
 * nobody else can charge them afterwards, and its owner is fenced off by the same transaction.
 */
export async function chargeStopped(
  tx: Transaction,
  tenant: Tenant,
  runId: string,
  about: About,
): Promise<ChargedUse[]> {
  const charged: ChargedUse[] = [];
  for (const { used, seconds } of await takeHoldsOfRun(tx, tenant, runId)) {
    if (used === null) continue;
    const { kind, model } = used;
    const items = used.items.map(({ quantity, ...item }) => ({
      ...about,
      ...item,
      kind,
      model,
      quantity: quantity ?? seconds ?? 0,
      isEstimated: quantity !== null,
    }));
    charged.push({ used, items, costMicros: await charge(tx, tenant, { items }) });
  }
  return charged;
}
