import { createHmac, timingSafeEqual } from 'node:crypto';
import { sharedNow } from '../../platform/db/clock.ts';

/** A link carries its own proof: whoever has it may read this one file until it expires. */
export type DownloadLinks = {
  make: (fileId: string) => { url: string; expiresAt: Date };
  isGood: (fileId: string, expires: string, signature: string) => boolean;
};

const validMs = 15 * 60_000;

export function createDownloadLinks(
  secret: Uint8Array,
  publicUrl: string,
  now: () => number = sharedNow,
): DownloadLinks {
  const sign = (fileId: string, expires: string) =>
    createHmac('sha256', secret).update(`download\n${fileId}\n${expires}`).digest();

  return {
    make(fileId) {
      const expiresAt = new Date(now() + validMs);
      const expires = String(expiresAt.getTime());
      const signature = sign(fileId, expires).toString('base64url');
      return { url: `${publicUrl}/downloads/${fileId}?expires=${expires}&signature=${signature}`, expiresAt };
    },
    isGood(fileId, expires, signature) {
      const given = Buffer.from(signature, 'base64url');
      const wanted = sign(fileId, expires);
      return given.length === wanted.length && timingSafeEqual(given, wanted) && Number(expires) > now();
    },
  };
}
