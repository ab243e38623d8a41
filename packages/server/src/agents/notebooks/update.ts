import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockVersions } from '../deployments/store.ts';
import { assertNotLive } from '../versions/change-live.ts';
import { type Access, readersOf } from './notebook.ts';
import { findNotebook, updateNotebook } from './store.ts';
import type { NotebookRow } from './tables.ts';

export async function changeNotebook(
  tx: Transaction,
  origin: Origin,
  notebookId: string,
  changes: { name?: string | undefined; description?: string | undefined; access?: Access | undefined },
): Promise<NotebookRow> {
  const { name, description, access } = changes;
  const changed = Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (changed.length === 0) {
    const row = await findNotebook(tx, origin.orgId, notebookId);
    if (!row) throw fail('notebook_not_found');
    return row;
  }
  // Name, description and readers are not part of a version: they hold at once wherever the notebook is read.
  await lockVersions(tx, origin.orgId);
  if (!(await findNotebook(tx, origin.orgId, notebookId))) throw fail('notebook_not_found');
  await assertNotLive(tx, origin, notebookId, 'notebook_live');
  const row = await updateNotebook(tx, origin.orgId, notebookId, {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(access !== undefined && { reader_ids: readersOf(access) }),
  });
  if (!row) throw fail('notebook_not_found');
  await recordAudit(tx, origin, {
    action: 'notebook.updated',
    target: { type: 'notebook', id: notebookId },
    details: { changed },
  });
  return row;
}
