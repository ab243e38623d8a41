import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { lockVersions, markMissing } from '../deployments/store.ts';
import { assertNotLive, type ChangeLive } from '../versions/change-live.ts';
import { deleteNotebook, findNotebook } from './store.ts';

/** It goes with everything that versions have fixed of it. Live traffic goes on without it, and older versions say so. */
export async function removeNotebook(
  tx: Transaction,
  origin: Origin,
  notebookId: string,
  changeLive: ChangeLive,
): Promise<void> {
  const { orgId } = origin;
  await lockVersions(tx, orgId);
  const found = await findNotebook(tx, orgId, notebookId);
  if (!found) throw fail('notebook_not_found');
  await assertNotLive(tx, origin, notebookId, 'notebook_live');
  // First, so that no version that is being saved names it: whoever does holds its row.
  const row = await deleteNotebook(tx, orgId, notebookId);
  if (!row) throw fail('notebook_not_found');
  await changeLive(tx, origin, notebookId, ({ manifest, content }) => {
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
}
