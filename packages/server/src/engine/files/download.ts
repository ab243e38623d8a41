import type { Database } from '../../platform/db/pool.ts';
import type { FileStore, Range } from '../../platform/files/file-store.ts';
import { findLinkedFile } from './store.ts';

/** Shorter than any link of ours: it is followed at once. */
const directSeconds = 60;

/** What a signed link leads to; null where the file or its bytes are gone. */
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
