import { z } from 'zod';
import { usd } from './money.ts';
import { spendKinds } from './usage.ts';

/** What a conversation or a task has cost so far. */
export const costFields = {
  cost_usd: usd,
  cost_breakdown: z.record(z.enum(spendKinds), usd),
};
