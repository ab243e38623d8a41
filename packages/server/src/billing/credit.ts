import { newId } from '@vestra/contract/ids';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { orgsOwnAgent } from './spender.ts';
import { insertTransfer } from './transfer-store.ts';

/** Puts money that came from outside into the wallet. */
export async function credit(tx: Transaction, tenant: Tenant, amountMicros: Micros): Promise<void> {
  if (amountMicros <= 0n) throw new RangeError(`A credit must be more than nothing: ${amountMicros}.`);
  const transferId = newId('li');
  await insertTransfer(tx, tenant, {
    id: transferId,
    entries: [
      { id: transferId, account: 'wallet', amountMicros },
      { id: newId('li'), account: 'funding', amountMicros: -amountMicros },
    ],
    unfolded: [{ spender: orgsOwnAgent, walletMicros: amountMicros, spendMicros: 0n }],
  });
}
