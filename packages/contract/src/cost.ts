import { z } from 'zod';
import { usd } from './money.ts';
import { spendKinds } from './usage.ts';

/** What a conversation or a task has cost so far. */
export const costFields = {
  cost_usd: usd,
  cost_breakdown: z.object(
    Object.fromEntries(spendKinds.map((kind) => [kind, usd])) as Record<(typeof spendKinds)[number], typeof usd>,
  ),
};
