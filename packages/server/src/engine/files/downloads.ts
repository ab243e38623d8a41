import { createHmac, timingSafeEqual } from 'node:crypto';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { FileStore, Range } from '../../platform/files/file-store.ts';
import { findLinkedFile } from './store.ts';

/** A link carries a signature: its holder may read this one file until it expires. */
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

/** Clients follow the redirect at once, so the store's link may be short-lived. */
const directSeconds = 60;

/** The file of a signed link; null if the file or its bytes are gone. */
export function downloadSource(db: Database, store: FileStore, { isDirect }: { isDirect: boolean }) {
  return async (fileId: string) => {
    const row = await findLinkedFile(db, fileId);
    if (!row) return null;
    const { org_id, sha256 } = row;
    const as = { filename: row.filename ?? row.id, mediaType: row.mime_type ?? 'application/octet-stream' };
    return {
      ...as,
      bytes: row.size_bytes,
      direct: isDirect ? store.link(org_id, sha256, { ...as, seconds: directSeconds }) : null,
      open: (range?: Range) => store.open(org_id, sha256, range),
    };
  };
}
