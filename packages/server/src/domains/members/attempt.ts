import { fail } from '@vestra/contract/errors';
import type { RateLimiter } from '../../http/rate-limit.ts';

/**
 * Guessing against one email is slow. An address may stand for everybody behind one proxy, and is held only to what the
 * hashing of passwords may cost: it must not be for one of them to keep the others out.
 */
const triesPerMinute = { email: 10, ip: 600 };

/** Counted before the password is looked at, right or wrong. */
export async function countAttempt(rateLimiter: RateLimiter, by: 'ip' | 'email', value: string): Promise<void> {
  const rate = await rateLimiter.take(`login:${by}:${value}`, triesPerMinute[by]);
  if (rate.allowed) return;
  throw fail('rate_limited', {
    message: `More than ${rate.limit} tries in a minute. Try again in ${rate.secondsToReset} s.`,
    retry_after_ms: rate.secondsToReset * 1000,
  });
}
