import { type Micros, microsToExactUsd, microsToUsd } from '@vestra/contract/money';
import { spendKinds } from '@vestra/contract/usage';
import type { Alert } from './alert.ts';
import type { Cost } from './cost.ts';
import type { LineItemRow, UsageGroup, UsageRow, UsageSums } from './usage-store.ts';

export const presentUsageRow = (groupBy: UsageGroup, row: UsageRow, names?: ReadonlyMap<string, string>) => ({
  object: 'usage_row' as const,
  key: row.key,
  label: row.key === '' ? labelsOfNone[groupBy] : (names?.get(row.key) ?? null),
  ...presentSums(row),
});

export const presentSums = (sums: UsageSums) => ({
  cost_usd: microsToUsd(sums.costMicros),
  task_count: sums.taskCount,
  input_tokens: sums.inputTokens,
  output_tokens: sums.outputTokens,
});

const labelsOfNone: Record<UsageGroup, string | null> = {
  day: null,
  user: 'The org’s own agent',
  deployment: 'No deployment',
  conversation: 'No conversation',
  task: 'No task',
  model: 'No model',
  kind: null,
};

/** The columns of a charge are never null on a `spend` row: the table checks it. */
export const presentLineItem = (row: LineItemRow) => ({
  object: 'line_item' as const,
  id: row.id,
  kind: row.kind as NonNullable<LineItemRow['kind']>,
  model: row.model,
  quantity: Number(row.quantity),
  unit: row.unit as string,
  // Read as a decimal: dividing by a million would show the error of floating point.
  unit_price_usd: Number(`${row.unit_price_micros}e-6`),
  cost_usd: microsToExactUsd(row.amount_micros),
  ...(row.is_estimated && { estimated: true as const }),
  task_id: row.task_id,
  conversation_id: row.conversation_id,
  created_at: row.created_at.toISOString(),
});

/** The parts are rounded so that what is shown adds up to the cost that is shown. */
export function presentCost({ totalMicros, byKind }: Cost) {
  const shown = stepsOf(totalMicros);
  const parts = spendKinds.map((kind) => ({ kind, steps: byKind[kind] / step, rest: byKind[kind] % step }));
  let missing = shown - parts.reduce((sum, { steps }) => sum + steps, 0n);
  for (const part of parts.toSorted((a, b) => Number(b.rest - a.rest))) {
    if (missing <= 0n) break;
    part.steps += 1n;
    missing -= 1n;
  }
  return {
    cost_usd: microsToUsd(totalMicros),
    cost_breakdown: Object.fromEntries(parts.map(({ kind, steps }) => [kind, microsToUsd(steps * step)])) as Record<
      (typeof spendKinds)[number],
      number
    >,
  };
}

/** The fifth decimal of a dollar, below which nothing is shown. */
const step = 10n;
const stepsOf = (micros: Micros) => (micros + step / 2n) / step;

export const presentAlert = (alert: Alert) => ({
  object: 'usage_alert' as const,
  cap: alert.cap,
  user_id: alert.userId,
  period: alert.period,
  threshold: alert.threshold,
  cap_usd: microsToUsd(alert.capMicros),
  spend_usd: microsToUsd(alert.spendMicros),
});
