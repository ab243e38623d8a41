import { sql } from 'drizzle-orm';
import type { Database } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { removeUnused } from './revisions.ts';
import { lockNotebook } from './store.ts';

const notebooksAtOnce = 100;

/** Removes documents that were kept for versions which are gone since, notebook by notebook. */
export async function pruneContent(db: Database, signal?: AbortSignal): Promise<void> {
  let after = '';
  for (;;) {
    const { rows } = await db.execute<{ id: string; org_id: string }>(sql`
      SELECT DISTINCT notebook_id AS id, org_id FROM documents
      WHERE NOT upper_inf(revisions) AND notebook_id > ${after} ORDER BY notebook_id LIMIT ${notebooksAtOnce}`);
    for (const { id, org_id } of rows) {
      signal?.throwIfAborted();
      await transaction(db, async (tx) => {
        const notebook = await lockNotebook(tx, org_id, id);
        if (notebook) await removeUnused(tx, notebook);
      });
    }
    if (rows.length < notebooksAtOnce) return;
    after = rows.at(-1)?.id as string;
  }
}
