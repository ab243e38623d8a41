import { microsToUsd } from '@vestra/contract/money';
import type { ShownItem, Standing } from './store.ts';
import type { BatchRow } from './tables.ts';

export const presentBatch = (row: BatchRow, { counts, spentMicros }: Standing) => ({
  object: 'batch' as const,
  id: row.id,
  status: row.status,
  deployment_id: row.deployment_id,
  concurrency: row.concurrency,
  item_count: row.item_count,
  counts,
  spend_usd: microsToUsd(spentMicros),
  metadata: row.metadata,
  created_at: row.created_at.toISOString(),
  completed_at: row.completed_at?.toISOString() ?? null,
});

export const presentItem = (row: ShownItem, { created_at }: BatchRow) => ({
  object: 'batch.item' as const,
  index: row.item_index,
  user_id: row.user_id,
  status: row.status,
  conversation_id: row.conversation_id,
  task_id: row.task_id,
  result: resultOf(row),
  error: row.status === 'failed' ? { code: row.error_code as string, message: row.error_message as string } : null,
  metadata: row.metadata,
  created_at: created_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
});

/** Nothing is left of it where the person was erased. */
function resultOf({ status, reply, text, data, outcome_met, outcome_reason }: ShownItem) {
  if (status !== 'succeeded' || reply === null) return null;
  const outcome = outcome_met === null ? null : { met: outcome_met, reason: outcome_reason ?? '' };
  return { reply, text, data: data ?? null, outcome };
}
