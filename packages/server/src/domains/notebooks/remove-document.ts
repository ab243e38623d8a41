import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { addToSums, deleteDocument, lockNotebook } from './store.ts';

export async function removeDocument(
  tx: Transaction,
  origin: Origin,
  place: { notebookId: string; documentId: string },
): Promise<void> {
  const { notebookId, documentId } = place;
  // In the order of adding, notebook before document, so that the two never wait for each other.
  if (!(await lockNotebook(tx, origin.orgId, notebookId))) throw fail('notebook_not_found');
  const row = await deleteDocument(tx, origin.orgId, notebookId, documentId);
  if (!row) throw fail('document_not_found');
  await addToSums(tx, notebookId, { documents: -1, bytes: -row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.deleted',
    target: { type: 'document', id: documentId },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
}
