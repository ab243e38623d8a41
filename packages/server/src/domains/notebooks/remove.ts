import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { deleteNotebook } from './store.ts';

export async function removeNotebook(tx: Transaction, origin: Origin, notebookId: string): Promise<void> {
  const row = await deleteNotebook(tx, origin.orgId, notebookId);
  if (!row) throw fail('notebook_not_found');
  await recordAudit(tx, origin, {
    action: 'notebook.deleted',
    target: { type: 'notebook', id: notebookId },
    details: { slug: row.slug, document_count: row.document_count },
  });
}
