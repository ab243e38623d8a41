import { createHash } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { FileStore } from '../../adapters/files/file-store.ts';
import type { Tenant } from '../../caller.ts';
import type { Database, Transaction } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { mediaTypeOf } from './media-type.ts';
import { insertFile, isContentUsed, lockContent } from './store.ts';
import type { FileRow } from './tables.ts';

export type NewFile = Pick<FileRow, 'user_id' | 'source' | 'task_id' | 'conversation_id'> & {
  filename: string;
  bytes: Uint8Array;
};

/** The bytes are in the store before the row can be seen. */
export async function keepFile(
  tx: Transaction,
  store: FileStore,
  tenant: Tenant,
  { filename, bytes, ...rest }: NewFile,
): Promise<FileRow> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await lockContent(tx, tenant.orgId, sha256);
  await store.put(tenant.orgId, sha256, bytes);
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

/** After the rows are gone: removes the bytes that no other file of the org shares. */
export async function dropContent(db: Database, store: FileStore, rows: readonly FileRow[]): Promise<void> {
  for (const { org_id, sha256 } of rows) {
    await transaction(db, async (tx) => {
      await lockContent(tx, org_id, sha256);
      if (!(await isContentUsed(tx, org_id, sha256))) await store.remove(org_id, sha256);
    });
  }
}
