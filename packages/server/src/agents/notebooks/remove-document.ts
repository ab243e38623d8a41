import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockVersions } from '../deployments/store.ts';
import { type ContentChange, carryIntoLive, type LiveReader, liveReaders, reachesLive } from './live-content.ts';
import { beginChange, removeUnused } from './revisions.ts';
import { revisionsWith } from './revisions-store.ts';
import { addToSums, findDocument, lockNotebook, takeOut } from './store.ts';

/** Takes a document out of the newest content; versions that were saved with it keep it. */
export async function removeDocument(
  tx: Transaction,
  origin: Origin,
  { notebookId, documentId }: { notebookId: string; documentId: string },
  wanted: ContentChange,
): Promise<void> {
  const { orgId } = origin;
  const isForLive = reachesLive(origin, wanted);
  if (isForLive) await lockVersions(tx, orgId);
  // In the order of adding, notebook before document, so that the two never wait for each other.
  const notebook = await lockNotebook(tx, orgId, notebookId);
  if (!notebook) throw fail('notebook_not_found');
  const row = await findDocument(tx, { orgId, notebookId, documentId });
  if (!row) throw fail('document_not_found');
  const readers = wanted.promote === 'now' ? await readersOf(tx, orgId, { notebookId, documentId }) : [];
  if (!isForLive && readers.length > 0) throw stillRead(readers);
  const copied = readers.filter(({ isArchived }) => !isArchived).map(({ revision }) => revision);
  const change = await beginChange(tx, notebook, copied);
  await takeOut(tx, documentId, change);
  await addToSums(tx, notebookId, { documents: -1, bytes: -row.bytes });
  await recordAudit(tx, origin, {
    action: 'document.deleted',
    target: { type: 'document', id: documentId },
    details: { notebook_id: notebookId, bytes: row.bytes },
  });
  if (isForLive) await carryIntoLive(tx, origin, notebookId, change, wanted);
  await removeUnused(tx, notebook);
}

/** The deployments whose live version has the document. */
async function readersOf(tx: Transaction, orgId: string, place: { notebookId: string; documentId: string }) {
  const readers = await liveReaders(tx, orgId, place.notebookId);
  const revisions = await revisionsWith(
    tx,
    place.documentId,
    readers.map(({ revision }) => revision),
  );
  return readers.filter(({ revision }) => revisions.has(revision));
}

const stillRead = (readers: readonly LiveReader[]) =>
  fail('notebook_live', {
    deployments: readers.map(({ slug }) => slug),
    message:
      'A live version uses this document. Delete it with a live key, or with `promote=no` to take it out of what is promoted next.',
  });
