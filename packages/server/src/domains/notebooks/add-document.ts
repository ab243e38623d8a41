import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { recordAudit } from '../audit/api.ts';
import { assertRoomFor, type PreparedDocument } from './notebook.ts';
import { addToSums, insertDocument, lockNotebook } from './store.ts';
import type { DocumentRow } from './tables.ts';

export async function addDocument(
  tx: Transaction,
  origin: Origin,
  notebookId: string,
  document: PreparedDocument,
): Promise<DocumentRow> {
  const { orgId } = origin;
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  assertRoomFor(notebook, document.bytes);
  const row = await insertDocument(tx, { id: newId('doc'), orgId, notebookId }, document);
  await addToSums(tx, notebookId, { documents: 1, bytes: row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.created',
    target: { type: 'document', id: row.id },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  return row;
}
