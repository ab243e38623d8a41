import type { FileStore } from '../../adapters/files/file-store.ts';
import type { Database } from '../../db/pool.ts';
import { findLinkedFile } from './store.ts';

/** What a signed link leads to; null where the file or its bytes are gone. */
export function downloadSource(db: Database, store: FileStore) {
  return async (fileId: string) => {
    const row = await findLinkedFile(db, fileId);
    const bytes = row && (await store.read(row.org_id, row.sha256));
    if (!row || !bytes) return null;
    return {
      filename: row.filename ?? row.id,
      mediaType: row.mime_type ?? 'application/octet-stream',
      bytes,
    };
  };
}
