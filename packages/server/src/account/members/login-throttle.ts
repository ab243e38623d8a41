import { fail } from '@vestra/contract/errors';
import { signInAttempts } from '@vestra/contract/route';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';

/** Slows down guessing the password of one email. */
const triesPerMinute = { email: 10, ip: signInAttempts.perMinute };

/**
 * Counts an attempt before the password is checked, whether it is right or wrong. For routes without a credential, the
 * request pipeline counts addresses in the same bucket, before it reads the body (`perAddress`).
 */
export async function throttleLogin(rateLimiter: RateLimiter, by: 'ip' | 'email', value: string): Promise<void> {
  const rate = await rateLimiter.take(`login:${by}:${value}`, triesPerMinute[by]);
  if (rate.allowed) return;
  throw fail('rate_limited', {
    message: `More than ${rate.limit} tries in a minute. Try again in ${rate.secondsToReset} s.`,
    retry_after_ms: rate.secondsToReset * 1000,
  });
}
