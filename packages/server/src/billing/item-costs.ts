import type { Micros } from '@vestra/contract/money';

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
