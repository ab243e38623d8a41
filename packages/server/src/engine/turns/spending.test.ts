import { flatPrice, type Price } from '@vestra/models/prices';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costsOfItems } from '../../billing/charge-items.ts';
import { itemsOfCall, maxCostOfRequest } from './spending.ts';

const about = { userId: null, deploymentId: null, conversationId: null, taskId: null, turnId: null };
const opus: Price = { ...flatPrice(4, 20, 0.2), cache_write_per_mtok: 5, cache_write_long_per_mtok: 8 };
const haiku: Price = {
  ...flatPrice(0.1, 0.5, 0.01),
  cache_write_per_mtok: 0.125,
  cache_write_long_per_mtok: 0.2,
  above: {
    ...flatPrice(0.5, 2.5, 0.05),
    cache_write_per_mtok: 0.625,
    cache_write_long_per_mtok: 1,
    input_tokens: 100_000,
  },
};
const costOf = (price: Price, usage: Parameters<typeof itemsOfCall>[2]) => {
  const items = itemsOfCall('orchestrator', { id: 'm', price, max_output_tokens: 100 }, usage, about);
  return costsOfItems(items.map(({ quantity, unitPriceMicros }) => ({ quantity, unitPriceMicros })));
};
const sum = (costs: readonly bigint[]) => costs.reduce((total, cost) => total + cost, 0n);
const used = (inputTokens: number, outputTokens: number, cacheReadTokens = 0, cacheWriteTokens = 0, long = 0) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
  cacheWriteLongTokens: long,
});

describe('the cost of a model call [MOD-207]', () => {
  it.each<[string, Price, ReturnType<typeof used>, bigint]>([
    ['input and output', opus, used(1_000, 100), 4_000n + 2_000n],
    ['cache reads', opus, used(0, 0, 10_000), 2_000n],
    ['cache writes for five minutes', opus, used(0, 0, 0, 10_000), 50_000n],
    ['cache writes for an hour', opus, used(0, 0, 0, 0, 10_000), 80_000n],
    ['tokens up to the threshold of the low price', haiku, used(100_000, 10), 10_000n + 5n],
    ['one token above the threshold: all at the high price', haiku, used(100_001, 10), 50_001n + 25n],
    [
      'cache reads, cache writes and new tokens together',
      haiku,
      used(1, 0, 50_000, 25_000, 25_000),
      2_500n + 15_625n + 25_000n + 1n,
    ],
  ])('%s', (_of, price, usage, micros) => {
    expect(sum(costOf(price, usage))).toBe(micros);
  });

  it('is the sum of its items, within half a micro-dollar of the exact price', () => {
    const dollars = fc.integer({ min: 0, max: 200_000 }).map((thousandths) => thousandths / 1_000);
    const tokens = fc.integer({ min: 0, max: 2_000_000 });
    fc.assert(
      fc.property(
        fc.tuple(dollars, dollars, dollars, dollars, dollars),
        fc.tuple(tokens, tokens, tokens, tokens, tokens),
        fc.option(tokens),
        (rates, counts, line) => {
          const [input, output, read, write, long] = rates;
          const flat = {
            ...flatPrice(input, output, read),
            cache_write_per_mtok: write,
            cache_write_long_per_mtok: long,
          };
          const doubled = rates.map((rate) => Math.round(rate * 2_000) / 1_000) as typeof rates;
          const above = {
            ...flatPrice(doubled[0], doubled[1], doubled[2]),
            cache_write_per_mtok: doubled[3],
            cache_write_long_per_mtok: doubled[4],
            input_tokens: line ?? 0,
          };
          const costs = costOf({ ...flat, above: line === null ? null : above }, used(...counts));
          const [inTokens, outTokens, readTokens, writeTokens, longTokens] = counts;
          const isDear = line !== null && inTokens + readTokens + writeTokens + longTokens > line;
          const thousandths = (isDear ? doubled : rates).map((rate) => BigInt(Math.round(rate * 1_000)));
          const ordered = [inTokens, outTokens, readTokens, writeTokens, longTokens];
          const exact = ordered.reduce((total, count, at) => total + BigInt(count) * (thousandths[at] as bigint), 0n);
          const off = sum(costs) * 1_000n - exact;
          expect(off >= -500n && off <= 500n).toBe(true);
        },
      ),
    );
  });

  it('reserves at the high price from half of the threshold on, because tokens are estimates', () => {
    const model = { id: 'm', price: haiku, max_output_tokens: 0 };
    const heldFor = (characters: number) =>
      maxCostOfRequest(model, { system: ['x'.repeat(characters)], messages: [], tools: [], maxOutputTokens: 0 });
    const [cheap, dear] = [heldFor(10_000), heldFor(2_000_000)];
    expect(Number(dear) / Number(cheap)).toBeGreaterThan(900);
  });
});
