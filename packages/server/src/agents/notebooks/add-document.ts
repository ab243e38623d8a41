import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { lockVersions } from '../deployments/store.ts';
import { type ContentChange, carryIntoLive, liveReaders, reachesLive } from './live-content.ts';
import { assertRoomFor, type PreparedDocument } from './notebook.ts';
import { beginChange } from './revisions.ts';
import { addToSums, bringBack, insertDocument, lockNotebook } from './store.ts';
import type { DocumentRow } from './tables.ts';

export async function addDocument(
  tx: Transaction,
  origin: Origin,
  { notebookId, document }: { notebookId: string; document: PreparedDocument },
  wanted: ContentChange & { jobs: JobSender },
): Promise<DocumentRow> {
  const { orgId } = origin;
  const isForLive = reachesLive(origin, wanted);
  if (isForLive) await lockVersions(tx, orgId);
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  assertRoomFor(notebook, document.bytes);
  const readers = isForLive ? await liveReaders(tx, orgId, notebookId) : [];
  const copied = readers.filter(({ isArchived }) => !isArchived).map(({ revision }) => revision);
  const change = await beginChange(tx, notebook, copied);
  const row =
    (await bringBack(tx, notebookId, document, change)) ??
    (await insertDocument(tx, { id: newId('doc'), orgId, notebookId }, document, change));
  await addToSums(tx, notebookId, { documents: 1, bytes: row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.created',
    target: { type: 'document', id: row.id },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  if (isForLive) await carryIntoLive(tx, origin, notebookId, change, wanted);
  await wanted.jobs.send(tx, 'document.index', { org_id: orgId, document_id: row.id });
  return row;
}
