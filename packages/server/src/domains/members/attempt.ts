import { fail } from '@vestra/contract/errors';
import type { RateLimiter } from '../../http/rate-limit.ts';

const triesPerMinute = 10;

/** Counted before the password is looked at, right or wrong, so that guessing is slow from one address and against one email. */
export async function countAttempt(rateLimiter: RateLimiter, by: 'ip' | 'email', value: string): Promise<void> {
  const rate = await rateLimiter.take(`login:${by}:${value}`, triesPerMinute);
  if (rate.allowed) return;
  throw fail('rate_limited', {
    message: `More than ${rate.limit} tries in a minute. Try again in ${rate.secondsToReset} s.`,
    retry_after_ms: rate.secondsToReset * 1000,
  });
}
