import { z } from 'zod';
import { usd } from './money.ts';
import type { spendKinds } from './usage.ts';

/** The cost of a conversation or task so far. */
export const costFields = {
  cost_usd: usd.describe('The cost so far, in US dollars; the last charges may arrive seconds after the end.'),
  cost_breakdown: z
    .object({
      orchestrator: usd.describe('Model calls of replies.'),
      intelligence: usd.describe('Model calls of tasks.'),
      tools: usd.describe('Paid tool calls of the agent.'),
      compute: usd.describe('Time of computers and browsers.'),
      background: usd.describe('Background work, such as memory and semantic search.'),
      voice: usd.describe('The cost of voice calls.'),
      improvement: usd.describe('Model calls of improvements.'),
      insight: usd.describe('Model calls that name insights.'),
    } satisfies Record<(typeof spendKinds)[number], z.ZodType>)
    .describe('The same amount, by kind of spending.'),
};
