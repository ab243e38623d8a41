import { z } from 'zod';

/**
 * When a change of content reaches live users. `now`: with a live key at once, as a new version of every deployment whose
 * live version uses it; with a test key only test traffic sees it. `no`: only test traffic sees it, whatever the key. In
 * both cases it goes live with the next promotion.
 */
export const contentChangeQuery = {
  promote: z
    .enum(['now', 'no'])
    .default('now')
    .describe(
      '`now`: with a live key the change reaches live users at once; `no`: only test traffic sees it until the next promotion.',
    ),
};
