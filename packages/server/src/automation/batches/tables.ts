import type { Mode } from '@vestra/contract/route';
import { integer, json, micros, moment, type RowOf, table, text } from '../../platform/db/table.ts';

export type BatchCounts = { queued: number; running: number; succeeded: number; failed: number; cancelled: number };

export const batches = table('batches', {
  org_id: text(),
  mode: text<Mode>(),
  id: text(),
  status: text<'running' | 'cancelled' | 'completed'>().withDefault(),
  deployment_id: text().nullable(),
  concurrency: integer(),
  item_count: integer(),
  metadata: json<Record<string, string>>(),
  created_at: moment().withDefault(),
  advanced_at: moment().withDefault(),
  completed_at: moment().nullable(),
  final_counts: json<BatchCounts>().nullable(),
  final_micros: micros().nullable(),
});

export const batchItems = table('batch_items', {
  batch_id: text(),
  item_index: integer(),
  org_id: text(),
  mode: text<Mode>(),
  user_id: text().nullable(),
  status: text<keyof BatchCounts>().withDefault(),
  slot: text<'held' | 'given_up' | 'wanted'>().nullable(),
  message: text().nullable(),
  context: json<Record<string, unknown>>().nullable(),
  success_criteria: text().nullable(),
  metadata: json<Record<string, string>>(),
  conversation_id: text().nullable(),
  turn_id: text().nullable(),
  task_id: text().nullable(),
  error_code: text().nullable(),
  error_message: text().nullable(),
  cost_micros: micros().nullable(),
  finished_at: moment().nullable(),
});

export type BatchRow = RowOf<typeof batches>;
export type BatchItemRow = RowOf<typeof batchItems>;
