import { Failure } from '@vestra/contract/errors';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { isSnapshotOpen } from '../../platform/db/transfer/open-snapshots.ts';
import type { FileStore } from '../../platform/files/file-store.ts';
import {
  deleteFilesOfUser,
  deleteOldOfTools,
  forgetUnused,
  isContentUsed,
  lockContent,
  oldestUnused,
} from './store.ts';

type Named = { org_id: string; name: string };

/**
 * After the rows are gone: removes the bytes that no other file of the org shares. Where the store is away they are
 * removed later: they were noted when the rows went.
 */
export async function dropContent(
  db: Database,
  store: FileStore,
  rows: readonly { org_id: string; sha256: string }[],
): Promise<void> {
  for (const { org_id, sha256 } of rows) await dropNoted(db, store, { org_id, name: sha256 });
}

/** Removes what was noted as unused, now where the store is there. */
export async function dropNoted(db: Database, store: FileStore, noted: Named): Promise<void> {
  await transaction(db, (tx) => dropUnused(tx, store, noted)).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
  });
}

/**
 * The bytes go before the commit: an erasure that dies here, or finds the store away, is begun again, and nobody is told
 * that somebody was erased whose files still lie there.
 */
export const fileEraser =
  (store: FileStore) =>
  async (tx: Transaction, tenant: Tenant, userId: string): Promise<void> => {
    const rows = await deleteFilesOfUser(tx, tenant, userId);
    for (const name of new Set(rows.map(({ sha256 }) => sha256))) {
      await dropUnused(tx, store, { org_id: tenant.orgId, name });
    }
  };

/** Each has bytes to be looked for: fewer at once than rows. */
const mostAtOnce = 100;

/** Forgets pictures that tools answered with, as their traces are forgotten; false: none was left. */
export const pruneOfTools =
  (store: FileStore) =>
  async (db: Database, before: Date, limit: number): Promise<boolean> => {
    const most = Math.min(limit, mostAtOnce);
    const rows = await transaction(db, (tx) => deleteOldOfTools(tx, before, most));
    await dropContent(db, store, rows);
    return rows.length === most;
  };

/**
 * Removes what was put and never recorded, and what could not be removed when its file was deleted. Not while a backup is
 * made: its rows may name a home of a computer that a newer one has replaced since it began.
 */
export const pruneUnused =
  (store: FileStore) =>
  async (db: Database, before: Date, limit: number): Promise<boolean> => {
    const most = Math.min(limit, mostAtOnce);
    const rows = (await isSnapshotOpen(db)) ? [] : await oldestUnused(db, before, most);
    for (const each of rows) await transaction(db, (tx) => dropUnused(tx, store, each));
    return rows.length === most;
  };

async function dropUnused(tx: Transaction, store: FileStore, { org_id, name }: Named): Promise<void> {
  await lockContent(tx, org_id, name);
  if (!(await isContentUsed(tx, org_id, name))) await store.remove(org_id, name);
  await forgetUnused(tx, org_id, name);
}
