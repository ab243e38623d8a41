import { fail } from '@vestra/contract/errors';
import { signInAttempts } from '@vestra/contract/route';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';

/** Guessing against one email is slow. */
const triesPerMinute = { email: 10, ip: signInAttempts.perMinute };

/**
 * Counts a try before the password is checked, right or wrong. Routes without a credential are counted by address before
 * their body is read, by `perAddress` of their row, in the same bucket.
 */
export async function countAttempt(rateLimiter: RateLimiter, by: 'ip' | 'email', value: string): Promise<void> {
  const rate = await rateLimiter.take(`login:${by}:${value}`, triesPerMinute[by]);
  if (rate.allowed) return;
  throw fail('rate_limited', {
    message: `More than ${rate.limit} tries in a minute. Try again in ${rate.secondsToReset} s.`,
    retry_after_ms: rate.secondsToReset * 1000,
  });
}
