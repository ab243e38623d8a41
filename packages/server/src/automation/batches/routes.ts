import { fail } from '@vestra/contract/errors';
import type { Engine } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import { cancelBatch, createBatch, deleteBatch, presentBatch, presentItem, showBatches } from './batches.ts';
import { findBatch, listBatches, listItems } from './store.ts';

export function batchRoutes({ engine }: { engine: Engine }): Handlers<'batches'> {
  const { db } = engine;
  const ownBatch = async ({ orgId, mode }: Tenant, batchId: string) => {
    const row = await findBatch(db, { orgId, mode, batchId });
    if (!row) throw fail('batch_not_found');
    return row;
  };
  return {
    list: async ({ caller, page }) => {
      const rows = await listBatches(db, caller, page);
      return page.of(rows, await showBatches(db, rows.slice(0, page.limit)), (row) => [row.id]);
    },
    create: async ({ origin, body, commit }) =>
      commit(async (tx) => {
        const batch = await createBatch(engine, tx, origin, body);
        const counts = { queued: batch.item_count, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
        return presentBatch(batch, { counts, spentMicros: 0n });
      }),
    get: async ({ caller, params }) => {
      const row = await ownBatch(caller, params.batch_id);
      return (await showBatches(db, [row]))(row);
    },
    items: async ({ caller, params, page }) => {
      const batch = await ownBatch(caller, params.batch_id);
      const rows = await listItems(db, batch.id, page);
      return page.of(
        rows,
        (row) => presentItem(row, batch),
        (row) => [String(row.item_index)],
      );
    },
    cancel: async ({ origin, params }) =>
      transaction(db, async (tx) => {
        const row = await cancelBatch(tx, origin, params.batch_id);
        return (await showBatches(tx, [row]))(row);
      }),
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => deleteBatch(tx, origin, params.batch_id));
      return { object: 'batch', id: params.batch_id, deleted: true };
    },
  };
}
