import { z } from 'zod';
import { usd } from './money.ts';
import type { spendKinds } from './usage.ts';

/** The cost of a conversation or task so far. */
export const costFields = {
  cost_usd: usd.describe('What was billed so far, in US dollars; the last charges may land seconds after the end.'),
  cost_breakdown: z
    .object({
      orchestrator: usd.describe('Spent on the model calls of replies.'),
      intelligence: usd.describe('Spent on the model calls of work.'),
      tools: usd.describe('Spent on paid tools.'),
      compute: usd.describe('Spent on the time of computers and browsers.'),
      background: usd.describe('Spent on what happens besides, such as memory and searching by meaning.'),
      voice: usd.describe('Spent on voice calls.'),
    } satisfies Record<(typeof spendKinds)[number], z.ZodType>)
    .describe('The same money, by what it was spent on.'),
};
