import { createHmac, timingSafeEqual } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import { signInAttempts } from '@vestra/contract/route';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';

/** Slows down guessing the password of one email from one address. */
const ofEmailAndAddress = 10;

/** Slows down guessing from many addresses. It is far above what one person needs. */
const ofEmail = 100;

/**
 * Counts an attempt before the password is checked, whether it is right or wrong. For routes without a credential, the
 * request pipeline counts addresses in the same bucket, before it reads the body (`perAddress`).
 */
export const throttleAddress = (rateLimiter: RateLimiter, ip: string): Promise<void> =>
  take(rateLimiter, `login:ip:${ip}`, signInAttempts.perMinute);

/**
 * Counts an attempt with an email. Others who know the email must not lock the person out. So a browser in which the
 * person has signed in before has a count that no other browser can use up.
 */
export async function throttleEmail(
  rateLimiter: RateLimiter,
  email: string,
  { ip, isKnownBrowser = false }: { ip: string | null; isKnownBrowser?: boolean },
): Promise<void> {
  if (isKnownBrowser) return take(rateLimiter, `login:browser:${email}`, ofEmailAndAddress);
  await take(rateLimiter, `login:email:${email} ${ip}`, ofEmailAndAddress);
  await take(rateLimiter, `login:email:${email}`, ofEmail);
}

async function take(rateLimiter: RateLimiter, bucket: string, perMinute: number): Promise<void> {
  const rate = await rateLimiter.take(bucket, perMinute);
  if (rate.allowed) return;
  throw fail('rate_limited', {
    message: `More than ${rate.limit} tries in a minute. Try again in ${rate.secondsToReset} s.`,
    retry_after_ms: rate.secondsToReset * 1000,
  });
}

/**
 * Recognises browsers in which a person has signed in before. The mark is no credential: it only keeps others who know
 * the email from using up the person's attempts.
 */
export type KnownBrowsers = {
  /** The value of the cookie that a browser gets after a sign-in with this email. */
  markFor: (email: string) => string;
  isKnown: (mark: string | null, email: string) => boolean;
};

export function createKnownBrowsers(signingSecret: Buffer): KnownBrowsers {
  const markFor = (email: string) =>
    createHmac('sha256', signingSecret).update(`console browser ${email}`).digest('base64url');
  return {
    markFor,
    isKnown(mark, email) {
      if (mark === null) return false;
      const [expected, given] = [Buffer.from(markFor(email)), Buffer.from(mark)];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}
