import { z } from 'zod';

/**
 * When a change of content reaches live users. `now` with a live key: at once, as a new version of every deployment
 * whose live version uses it. `now` with a test key, and `no` with any key: only test traffic sees it. In these cases
 * it goes live with the next promotion.
 */
export const contentChangeQuery = {
  promote: z
    .enum(['now', 'no'])
    .default('now')
    .describe(
      '`now`: with a live key the change reaches live users at once; `no`: only test traffic sees it until the next promotion.',
    ),
};
