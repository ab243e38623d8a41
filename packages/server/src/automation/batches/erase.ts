import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, text } from '../../platform/db/table.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { EraseStep } from '../../platform/registration.ts';

/**
 * Leaves the place of a user's items in their batches and nothing else of them. What had not come to its end has failed,
 * and nobody finds it by its turn any more. Before the conversations go.
 */
export function itemEraser(jobs: JobSender): EraseStep {
  return async (tx, { orgId, mode }, userId) => {
    const rows = await rowsOf(
      tx,
      { batch_id: text(), was_open: boolean() },
      sql`UPDATE batch_items SET user_id = NULL, message = NULL, context = NULL, metadata = '{}', conversation_id = NULL,
        turn_id = NULL, slot = NULL,
        cost_micros = COALESCE(batch_items.cost_micros, (SELECT sum(amount_micros) FROM ledger_entries l
          WHERE l.account = 'spend' AND l.task_id = batch_items.task_id)),
        task_id = NULL,
        status = CASE WHEN before.is_open THEN 'failed' ELSE batch_items.status END,
        error_code = CASE WHEN before.is_open THEN 'user_disabled' ELSE batch_items.error_code END,
        error_message = CASE WHEN batch_items.error_code IS NOT NULL OR before.is_open THEN 'The user was erased.' END,
        finished_at = COALESCE(batch_items.finished_at, now())
      FROM (SELECT batch_id, item_index, status IN ('queued', 'running') AS is_open FROM batch_items
        WHERE org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId} FOR UPDATE) AS before
      WHERE batch_items.batch_id = before.batch_id AND batch_items.item_index = before.item_index
      RETURNING batch_items.batch_id, before.is_open AS was_open`,
    );
    const open = new Set(rows.filter(({ was_open }) => was_open).map(({ batch_id }) => batch_id));
    await jobs.sendMany(
      tx,
      'batch.advance',
      [...open].map((batch_id) => ({ org_id: orgId, mode, batch_id })),
    );
  };
}
