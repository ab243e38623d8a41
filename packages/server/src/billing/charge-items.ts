import type { Micros } from '@vestra/contract/money';
import type { spendKinds } from '@vestra/contract/usage';

/** One line item of a charge. */
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
  /** The server counted the quantity itself, because the vendor never reported it. */
  isEstimated?: boolean;
};

/** The usage of a call so far, with its prices. A null quantity means the seconds since metering began. */
export type MeteredUsage = Pick<ChargeItem, 'kind' | 'model'> & {
  items: readonly (Pick<ChargeItem, 'unit' | 'unitPriceMicros'> & { quantity: number | null })[];
};

type PricedQuantity = { quantity: number; unitPriceMicros: number };

/**
 * Prices the items of one charge in whole micro-dollars. The exact sum is rounded once, half up. So a call is billed
 * within half a micro-dollar of its price, however many items it has. Each item is then rounded down or up so that the
 * items add up to that sum. The arithmetic is decimal: in floating point, 30 × 0.1 is a little more than 3.
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

/** The number as the ledger stores it: `digits` × 10 ^ `exponent`. */
function decimalOf(value: number, what: string): { digits: bigint; exponent: number } {
  const written = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (!written) throw new RangeError(`The ${what} of a charge must be a number that is not negative: ${value}.`);
  const [, whole = '', fraction = '', power = '0'] = written;
  return { digits: BigInt(whole + fraction), exponent: Number(power) - fraction.length };
}
