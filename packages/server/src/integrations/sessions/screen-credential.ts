import { createHmac, timingSafeEqual } from 'node:crypto';

/** Opens the stream of one session's screen until it expires, and nothing else. */
export type ScreenCredentials = {
  make: (sessionId: string) => string;
  isGood: (sessionId: string, credential: string) => boolean;
};

const validMs = 5 * 60_000;

export function createScreenCredentials(secret: Uint8Array, now: () => number = Date.now): ScreenCredentials {
  const sign = (sessionId: string, expires: string) =>
    createHmac('sha256', secret).update(`screen\n${sessionId}\n${expires}`).digest();
  return {
    make(sessionId) {
      const expires = String(now() + validMs);
      return `${expires}.${sign(sessionId, expires).toString('base64url')}`;
    },
    isGood(sessionId, credential) {
      const [expires = '', signature = ''] = credential.split('.', 2);
      const given = Buffer.from(signature, 'base64url');
      const wanted = sign(sessionId, expires);
      return given.length === wanted.length && timingSafeEqual(given, wanted) && Number(expires) > now();
    },
  };
}
