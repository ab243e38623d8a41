import { describe, expect, it } from 'vitest';
import { costsOfItems } from './charge-items.ts';

describe('costsOfItems', () => {
  it.each<[items: [quantity: number, unitPriceMicros: number][], costs: bigint[]]>([
    [[[0, 5]], [0n]],
    [[[1, 3]], [3n]],
    [[[30, 0.1]], [3n]],
    [[[31, 0.1]], [3n]],
    [[[35, 0.1]], [4n]],
    [[[1, 1e-7]], [0n]],
    [[[10_000_001, 1e-7]], [1n]],
    [[[12.5, 100]], [1250n]],
    [[[1e21, 2]], [2_000_000_000_000_000_000_000n]],
    // 3.2 and 3.4 add up to 6.6, which rounds to 7. The second item has the larger rest.
    [
      [
        [8, 0.4],
        [34, 0.1],
      ],
      [3n, 4n],
    ],
    // 2.1 rounds to 2, and two different items get one each.
    [
      [
        [7, 0.1],
        [7, 0.1],
        [7, 0.1],
      ],
      [1n, 1n, 0n],
    ],
    // 5.1 and 3.4 add up to 8.5, which rounds to 9. The larger rest counts, not the larger item.
    [
      [
        [51, 0.1],
        [34, 0.1],
      ],
      [5n, 4n],
    ],
    [
      [
        [4, 0.1],
        [4, 0.1],
        [4, 0.1],
      ],
      [1n, 0n, 0n],
    ],
  ])('%j costs %s micro-dollars: exact, and rounded once [MON-005, MON-166]', (items, costs) => {
    expect(costsOfItems(items.map(([quantity, unitPriceMicros]) => ({ quantity, unitPriceMicros })))).toEqual(costs);
  });

  it.each([
    [-1, 1],
    [1, -1],
    [Number.NaN, 1],
    [1, Number.POSITIVE_INFINITY],
  ])('refuses %s at %s', (quantity, unitPriceMicros) => {
    expect(() => costsOfItems([{ quantity, unitPriceMicros }])).toThrow(RangeError);
  });
});
