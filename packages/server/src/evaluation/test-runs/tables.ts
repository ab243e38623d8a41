import type { Api } from '@vestra/contract/api';
import type { Mode, ResponseOf } from '@vestra/contract/route';
import { boolean, integer, json, micros, moment, type RowOf, table, text } from '../../platform/db/table.ts';
import type { ScenarioRow } from '../scenarios/tables.ts';

export type TestRun = ResponseOf<Api['testRuns']['get']>;
export type TestRunResult = TestRun['results'][number];

/** A scenario as it was when its run was made. */
export type PlayedScenario = Pick<
  ScenarioRow,
  'name' | 'persona' | 'goal' | 'success_criteria' | 'must_never' | 'tool_results' | 'recorded_calls' | 'approves'
>;

export const testRuns = table('test_runs', {
  id: text(),
  org_id: text(),
  deployment_id: text(),
  version: integer(),
  mode: text<Mode>(),
  status: text<TestRun['status']>().withDefault(),
  promote_on_pass: boolean(),
  resumes: integer().withDefault(),
  error_code: text().nullable(),
  /** What a reader of the run should know besides its results. */
  note: text().nullable(),
  created_at: moment().withDefault(),
  started_at: moment().nullable(),
  finished_at: moment().nullable(),
});

export const testRunResults = table('test_run_results', {
  run_id: text(),
  scenario_id: text(),
  org_id: text(),
  scenario: json<PlayedScenario>(),
  status: text<TestRunResult['status']>().withDefault(),
  criteria: json<TestRunResult['criteria']>().withDefault(),
  must_never: json<TestRunResult['must_never']>().withDefault(),
  conversation_id: text().nullable(),
  judged_by: text().nullable(),
  transcript: json<TestRunResult['transcript']>().withDefault(),
  duration_ms: integer().withDefault(),
  cost_micros: micros().withDefault(),
  error_code: text().nullable(),
  error_message: text().nullable(),
  started_at: moment().nullable(),
});

export type TestRunRow = RowOf<typeof testRuns>;
export type ResultRow = RowOf<typeof testRunResults>;
