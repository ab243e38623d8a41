import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { lockVersions, markMissing } from '../versions/store.ts';
import { assertNotLive, type RepublishLive } from '../versions/versions.ts';
import { deleteNotebook, findNotebook, insertNotebook, type ShownDocument, updateNotebook } from './store.ts';
import type { NotebookRow } from './tables.ts';

export type NotebookAccess = { mode: 'all' } | { mode: 'users'; user_ids: string[] };

const readerIdsOf = (access: NotebookAccess): string[] | null =>
  access.mode === 'all' ? null : [...new Set(access.user_ids)];

export async function createNotebook(
  tx: Transaction,
  origin: Origin,
  wanted: { name: string; slug: string; description: string; access: NotebookAccess },
): Promise<NotebookRow> {
  const row = await insertNotebook(tx, {
    id: newId('nb'),
    org_id: origin.orgId,
    slug: wanted.slug,
    name: wanted.name,
    description: wanted.description,
    reader_ids: readerIdsOf(wanted.access),
  });
  if (!row) {
    throw fail('slug_taken', { param: 'slug', message: `Another notebook has the slug \`${wanted.slug}\`.` });
  }
  await recordAudit(tx, origin, {
    action: 'notebook.created',
    target: { type: 'notebook', id: row.id },
    details: { slug: row.slug },
  });
  return row;
}

export async function changeNotebook(
  tx: Transaction,
  origin: Origin,
  notebookId: string,
  changes: { name?: string | undefined; description?: string | undefined; access?: NotebookAccess | undefined },
): Promise<NotebookRow> {
  const { name, description, access } = changes;
  const changed = Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (changed.length === 0) {
    const row = await findNotebook(tx, origin.orgId, notebookId);
    if (!row) throw fail('notebook_not_found');
    return row;
  }
  // Name, description and readers are not part of a version, so a change applies to live traffic at once.
  await lockVersions(tx, origin.orgId);
  if (!(await findNotebook(tx, origin.orgId, notebookId))) throw fail('notebook_not_found');
  await assertNotLive(tx, origin, notebookId, 'notebook_live');
  const row = await updateNotebook(tx, origin.orgId, notebookId, {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(access !== undefined && { reader_ids: readerIdsOf(access) }),
  });
  if (!row) throw fail('notebook_not_found');
  await recordAudit(tx, origin, {
    action: 'notebook.updated',
    target: { type: 'notebook', id: notebookId },
    details: { changed },
  });
  return row;
}

/**
 * Deletes the notebook with all its revisions. Live versions get a successor without it, and older versions list it as
 * missing.
 */
export async function removeNotebook(
  tx: Transaction,
  origin: Origin,
  notebookId: string,
  { republishLive, jobs }: { republishLive: RepublishLive; jobs: JobSender },
): Promise<void> {
  const { orgId } = origin;
  await lockVersions(tx, orgId);
  const found = await findNotebook(tx, orgId, notebookId);
  if (!found) throw fail('notebook_not_found');
  await assertNotLive(tx, origin, notebookId, 'notebook_live');
  // Delete first: a transaction that saves a version with this notebook holds its row, so this waits for it.
  const row = await deleteNotebook(tx, orgId, notebookId);
  if (!row) throw fail('notebook_not_found');
  await republishLive(tx, origin, notebookId, ({ manifest, content }) => {
    const { [notebookId]: _gone, ...notebooks } = content.notebooks;
    const named = manifest.notebooks.filter((id) => id !== notebookId);
    const note = `The notebook \`${row.slug}\` was deleted.`;
    return {
      manifest: { ...manifest, notebooks: named },
      content: { ...content, notebooks },
      changed: 'knowledge',
      note,
    };
  });
  await markMissing(tx, orgId, notebookId);
  await recordAudit(tx, origin, {
    action: 'notebook.deleted',
    target: { type: 'notebook', id: notebookId },
    details: { slug: row.slug, document_count: row.document_count },
  });
  await jobs.send(tx, 'knowledge.empty', { org_id: orgId, object: 'notebook', id: notebookId });
}

export const presentNotebook = (row: NotebookRow) => ({
  object: 'notebook' as const,
  id: row.id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  access: row.reader_ids ? { mode: 'users' as const, user_ids: row.reader_ids } : { mode: 'all' as const },
  document_count: row.document_count,
  bytes: row.bytes,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

export const presentDocument = (row: ShownDocument) => ({
  object: 'document' as const,
  id: row.id,
  notebook_id: row.notebook_id,
  title: row.title,
  content_type: row.content_type,
  bytes: row.bytes,
  sha256: row.sha256,
  indexed: row.indexed,
  created_at: row.created_at.toISOString(),
});
