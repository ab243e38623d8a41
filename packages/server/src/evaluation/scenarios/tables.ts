import type { RecordedCall } from '../../engine/conversations/index.ts';
import { boolean, json, moment, type RowOf, table, text, textArray } from '../../platform/db/table.ts';

export const scenarios = table('scenarios', {
  id: text(),
  org_id: text(),
  deployment_id: text(),
  name: text(),
  persona: text(),
  goal: text(),
  success_criteria: textArray(),
  must_never: textArray(),
  tool_results: json<Record<string, unknown>>().nullable(),
  recorded_calls: json<RecordedCall[]>().nullable(),
  approves: boolean().nullable(),
  managed_by: text<'file'>().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type ScenarioRow = RowOf<typeof scenarios>;
