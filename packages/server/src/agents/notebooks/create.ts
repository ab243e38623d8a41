import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { recordAudit } from '../../account/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { type Access, readersOf } from './notebook.ts';
import { insertNotebook } from './store.ts';
import type { NotebookRow } from './tables.ts';

export async function createNotebook(
  tx: Transaction,
  origin: Origin,
  wanted: { name: string; slug: string; description: string; access: Access },
): Promise<NotebookRow> {
  const row = await insertNotebook(tx, {
    id: newId('nb'),
    org_id: origin.orgId,
    slug: wanted.slug,
    name: wanted.name,
    description: wanted.description,
    reader_ids: readersOf(wanted.access),
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
