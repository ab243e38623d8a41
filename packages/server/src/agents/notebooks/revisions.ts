import type { Database, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { fixedRevisions } from '../deployments/store.ts';
import {
  copyRevision,
  deleteDocumentsExcept,
  notebooksKeepingMore,
  type RevisionChange,
  setRevision,
} from './revisions-store.ts';
import { lockNotebook } from './store.ts';
import type { NotebookRow } from './tables.ts';

export async function beginChange(
  tx: Transaction,
  { id, revision }: NotebookRow,
  copied: readonly number[],
): Promise<RevisionChange> {
  const copies = new Map<number, number>();
  let last = revision;
  for (const from of new Set(copied)) {
    last += 1;
    copies.set(from, last);
    await copyRevision(tx, id, { from, to: last });
  }
  await setRevision(tx, id, last + 1);
  return { first: revision + 1, copies };
}

/** Removes the documents that are neither in the newest content nor in what any version fixes. Only of a locked notebook. */
export async function removeUnused(
  tx: Transaction,
  { id, org_id }: Pick<NotebookRow, 'id' | 'org_id'>,
): Promise<number> {
  return deleteDocumentsExcept(tx, id, await fixedRevisions(tx, org_id, id));
}

const notebooksAtOnce = 100;

/** Removes documents that were kept for versions which are gone since, notebook by notebook. */
export async function pruneContent(db: Database, signal?: AbortSignal): Promise<void> {
  let after = '';
  for (;;) {
    const found = await notebooksKeepingMore(db, { after, limit: notebooksAtOnce });
    for (const { id, org_id } of found) {
      signal?.throwIfAborted();
      await transaction(db, async (tx) => {
        const notebook = await lockNotebook(tx, org_id, id);
        if (notebook) await removeUnused(tx, notebook);
      });
    }
    if (found.length < notebooksAtOnce) return;
    after = found.at(-1)?.id as string;
  }
}
