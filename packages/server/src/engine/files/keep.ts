import { createHash } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import { mediaTypeOf } from './media-type.ts';
import { forgetUnused, insertFile, lockContent, noteUnused } from './store.ts';
import type { FileRow } from './tables.ts';

/** What lies in the store already; a file of it is yet to be recorded. */
type StoredContent = { sha256: string; bytes: Uint8Array };

export type NewFile = Pick<FileRow, 'user_id' | 'source' | 'task_id' | 'conversation_id'> & {
  filename: string;
  content: StoredContent;
};

/**
 * Puts bytes into the store, outside of any transaction: a store that is slow or away holds no connection and no lock.
 * They are noted first, so that those which nobody records in the end are found and removed.
 */
export async function storeContent(
  db: Database,
  store: FileStore,
  orgId: string,
  bytes: Uint8Array,
): Promise<StoredContent> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await noteUnused(db, orgId, sha256);
  await store.put(orgId, sha256, bytes);
  return { sha256, bytes };
}

/** Records a file of what was stored. The bytes are in the store before the row can be seen. */
export async function keepFile(
  tx: Transaction,
  store: FileStore,
  tenant: Tenant,
  { filename, content, ...rest }: NewFile,
): Promise<FileRow> {
  const { sha256, bytes } = content;
  await lockContent(tx, tenant.orgId, sha256);
  // Since they were put, the last file that had the same bytes may have been deleted, and the bytes with it.
  if (!(await store.has(tenant.orgId, sha256))) await store.put(tenant.orgId, sha256, bytes);
  await forgetUnused(tx, tenant.orgId, sha256);
  return insertFile(tx, {
    id: newId('file'),
    org_id: tenant.orgId,
    mode: tenant.mode,
    filename,
    mime_type: await mediaTypeOf(bytes, filename),
    size_bytes: bytes.byteLength,
    sha256,
    ...rest,
  });
}
