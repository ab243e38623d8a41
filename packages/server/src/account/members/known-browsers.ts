import { createHmac, timingSafeEqual } from 'node:crypto';

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
