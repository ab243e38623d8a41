import type { Micros } from '@vestra/contract/money';
import type { spendKinds } from '@vestra/contract/usage';

/** One thing that money is taken for. */
export type ChargeItem = {
  kind: (typeof spendKinds)[number];
  model: string | null;
  quantity: number;
  unit: 'input_tokens' | 'output_tokens' | 'cache_read_tokens' | 'cache_write_tokens' | 'seconds' | 'calls';
  /** May be a fraction: 0.10 US dollars per million tokens are 0.1 micro-dollars a token. */
  unitPriceMicros: number;
  /** Null for the org's own agent. */
  userId: string | null;
  deploymentId: string | null;
  conversationId: string | null;
  taskId: string | null;
  turnId: string | null;
  /** The quantity was counted here, because whoever was to say it never did. */
  isEstimated?: boolean;
};

/** What a call has used so far, at its prices. A quantity that is null is the seconds for which it has been metered. */
export type Used = Pick<ChargeItem, 'kind' | 'model'> & {
  items: readonly (Pick<ChargeItem, 'unit' | 'unitPriceMicros'> & { quantity: number | null })[];
};

type PricedQuantity = { quantity: number; unitPriceMicros: number };

/**
 * The items of one charge in whole micro-dollars. Their exact sum is rounded once, half a micro-dollar up, so however
 * many parts a call has it is billed within half a micro-dollar of its price; each item is its own price, cut or rounded
 * up, so that the items are that sum. Reckoned in decimals: as floating point 30 × 0.1 is a little more than 3.
 */
export function costsOfItems(items: readonly PricedQuantity[]): Micros[] {
  const exact = items.map(({ quantity, unitPriceMicros }) => {
    const amount = decimalOf(quantity, 'quantity');
    const price = decimalOf(unitPriceMicros, 'unit price');
    return { digits: amount.digits * price.digits, exponent: amount.exponent + price.exponent };
  });
  const places = exact.reduce((most, { exponent }) => Math.max(most, -exponent), 0);
  const micro = 10n ** BigInt(places);
  const parts = exact.map(({ digits, exponent }) => digits * 10n ** BigInt(exponent + places));
  const costs = parts.map((part) => part / micro);
  const total = (2n * parts.reduce((sum, part) => sum + part, 0n) + micro) / (2n * micro);
  let missing = total - costs.reduce((sum, cost) => sum + cost, 0n);
  const rests = parts.map((part, at) => ({ at, rest: part % micro }));
  const byRest = rests.toSorted((one, other) => Number(other.rest > one.rest) - Number(other.rest < one.rest));
  for (const { at } of byRest) {
    if (missing <= 0n) break;
    costs[at] = (costs[at] as Micros) + 1n;
    missing -= 1n;
  }
  return costs;
}

/** The number as it is written, which is also how the ledger stores it: `digits` × 10 ^ `exponent`. */
function decimalOf(value: number, what: string): { digits: bigint; exponent: number } {
  const written = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!written) throw new RangeError(`The ${what} of a charge must be a number that is not negative: ${value}.`);
  const [, whole = '', fraction = '', power = '0'] = written;
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}
