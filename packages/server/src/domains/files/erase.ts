import type { FileStore } from '../../adapters/files/file-store.ts';
import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { deleteFilesOfUser, isContentUsed, lockContent } from './store.ts';

/**
 * The bytes go before the commit: an erasure that dies here is begun again, and a row without bytes is gone with it,
 * while bytes without a row would stay for ever.
 */
export function fileEraser(store: FileStore) {
  return async (tx: Transaction, tenant: Tenant, userId: string): Promise<void> => {
    const rows = await deleteFilesOfUser(tx, tenant, userId);
    for (const sha256 of new Set(rows.map((row) => row.sha256))) {
      await lockContent(tx, tenant.orgId, sha256);
      if (!(await isContentUsed(tx, tenant.orgId, sha256))) await store.remove(tenant.orgId, sha256);
    }
  };
}
