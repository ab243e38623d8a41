import { z } from 'zod';

/** A failure as shown in responses. */
export const shownFailure = z.object({
  code: z.string().describe('The exact cause: an error code, or how a task ended, such as `stopped` or `max_budget`.'),
  message: z.string().describe('The cause as a sentence; it may change, so branch on `code`.'),
});
