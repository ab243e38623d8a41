import type { FileStore } from '../../adapters/files/file-store.ts';
import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { dropContent } from './keep.ts';
import { deleteOldOfTools } from './store.ts';

/** Each has a file on disk to be looked for: fewer at once than rows. */
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
