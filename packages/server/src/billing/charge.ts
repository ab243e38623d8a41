import { newId } from '@vestra/contract/ids';
import type { Micros } from '@vestra/contract/money';
import type { Tenant } from '../platform/caller.ts';
import type { Statement } from '../platform/db/group.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { pipelined } from '../platform/db/query.ts';
import type { ChargeItem } from './charge-item.ts';
import { costsOfItems } from './item-costs.ts';
import { spenderOf } from './spender.ts';
import { type Entry, insertingTransfer } from './transfer-store.ts';

export type Charge = {
  items: readonly ChargeItem[];
  /** What the call held while it ran: given back in the same statement, so that it is never counted twice or not at all. */
  reservationId?: string;
  /** When it was spent; absent: when the transaction began. */
  at?: Date;
};

/**
 * Takes the cost of a step from the wallet, in the transaction of that step: one statement that only inserts, so steps
 * that are charged at the same time do not wait for each other. Returns what was taken.
 */
export async function charge(tx: Transaction, tenant: Tenant, given: Charge): Promise<Micros> {
  const { total, statement } = charging(tenant, given);
  if (statement) await pipelined(tx, [statement]);
  return total;
}

/** The statement, for whoever sends it with others; null where nothing was used and nothing is held. */
export function charging(
  tenant: Tenant,
  { items, reservationId, at }: Charge,
): { total: Micros; statement: Statement<number> | null } {
  const used = priced(items.filter((item) => item.quantity !== 0));
  const total = used.reduce((sum, item) => sum + item.costMicros, 0n);
  if (used.length === 0 && reservationId === undefined) return { total, statement: null };

  // The wallet's entry is made last: line items are listed by id, and it is none.
  const spend: Entry[] = used.map(({ costMicros, ...item }) => ({
    id: newId('li'),
    account: 'spend',
    amountMicros: costMicros,
    item,
  }));
  const transferId = newId('li');
  const statement = insertingTransfer(tenant, {
    id: transferId,
    entries: used.length === 0 ? [] : [...spend, { id: transferId, account: 'wallet', amountMicros: -total }],
    unfolded: [...bySpender(used)].map(([spender, micros]) => ({
      spender,
      walletMicros: -micros,
      spendMicros: micros,
    })),
    reservationId,
    at,
  });
  return { total, statement };
}

function bySpender(items: readonly (ChargeItem & { costMicros: Micros })[]): Map<string, Micros> {
  const sums = new Map<string, Micros>();
  for (const { userId, costMicros } of items) {
    const spender = spenderOf(userId);
    sums.set(spender, (sums.get(spender) ?? 0n) + costMicros);
  }
  return sums;
}

function priced(items: readonly ChargeItem[]): (ChargeItem & { costMicros: Micros })[] {
  const costs = costsOfItems(items);
  return items.map((item, at) => ({ ...item, costMicros: costs[at] as Micros }));
}
