import { spendKinds } from '@vestra/contract/usage';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Cost, presentCost } from './cost.ts';

const costOf = (parts: bigint[]): Cost => ({
  totalMicros: parts.reduce((sum, part) => sum + part, 0n),
  byKind: Object.fromEntries(spendKinds.map((kind, at) => [kind, parts[at] ?? 0n])) as Cost['byKind'],
});

const steps = (usd: number) => Math.round(usd * 100_000);

it('shows a cost with at most five decimals [MON-006]', () => {
  expect(presentCost(costOf([1_234_567n, 12n]))).toEqual({
    cost_usd: 1.23458,
    cost_breakdown: {
      ...{ orchestrator: 1.23457, intelligence: 0.00001, tools: 0, compute: 0, background: 0 },
      ...{ voice: 0, improvement: 0, insight: 0 },
    },
  });
});

it('shows parts that add up to the total, each within the last decimal of its cost [MON-023]', () => {
  const parts = fc.array(fc.bigInt({ min: 0n, max: 10_000_000n }), {
    minLength: spendKinds.length,
    maxLength: spendKinds.length,
  });
  fc.assert(
    fc.property(parts, (micros) => {
      const { cost_usd, cost_breakdown } = presentCost(costOf(micros));
      const shown = spendKinds.map((kind) => cost_breakdown[kind]);
      expect(shown.reduce((sum, usd) => sum + steps(usd), 0)).toBe(steps(cost_usd));
      spendKinds.forEach((kind, at) => {
        expect(Math.abs(steps(cost_breakdown[kind]) * 10 - Number(micros[at]))).toBeLessThan(10);
      });
    }),
  );
});
