import type { Api } from '@vestra/contract/api';
import type { Mode, ResponseOf } from '@vestra/contract/route';
import type { actsAs } from '@vestra/contract/scenario-fields';
import type { z } from 'zod';
import type { RecordedCall } from '../engine/conversations/index.ts';
import { boolean, integer, json, micros, moment, type RowOf, table, text, textArray } from '../platform/db/table.ts';

export type ActsAs = z.output<typeof actsAs>;

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
  acts_as: json<ActsAs>().nullable(),
  /** Null: once. */
  runs: integer().nullable(),
  managed_by: text<'file'>().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type ScenarioRow = RowOf<typeof scenarios>;

export type TestRun = ResponseOf<Api['testRuns']['get']>;
export type TestRunResult = TestRun['results'][number];

/** A copy of the scenario at the time of the run. */
export type PlayedScenario = Pick<
  ScenarioRow,
  | 'name'
  | 'persona'
  | 'goal'
  | 'success_criteria'
  | 'must_never'
  | 'tool_results'
  | 'recorded_calls'
  | 'approves'
  | 'runs'
  | 'acts_as'
>;

/** A play of a scenario that has ended, if it is played several times. */
export type EndedPlay = Pick<
  TestRunResult,
  'criteria' | 'must_never' | 'judged_by' | 'conversation_id' | 'error_code' | 'error_message'
> & { status: 'passed' | 'failed' | 'error'; cost_micros: number };

export const testRuns = table('test_runs', {
  id: text(),
  org_id: text(),
  deployment_id: text(),
  version: integer(),
  mode: text<Mode>(),
  status: text<TestRun['status']>().withDefault(),
  promote_on_pass: boolean(),
  /** The improvement that it belongs to, which plays it and reports its end. */
  improvement_id: text().nullable(),
  /** Null before the end, and for runs of releases before 0.3.0. */
  promoted: boolean().nullable(),
  resumes: integer().withDefault(),
  error_code: text().nullable(),
  /** A remark for readers of the run, such as an incomplete index. */
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
  /** In their order. Empty for a scenario that is played once. */
  plays: json<EndedPlay[]>().withDefault(),
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

export type Replay = ResponseOf<Api['replays']['get']>;
export type ReplayedTalk = Replay['talks'][number];
export type ReplayedExchange = ReplayedTalk['exchanges'][number];

export const replays = table('replays', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  version: integer(),
  /** As for test runs. */
  improvement_id: text().nullable(),
  status: text<Replay['status']>().withDefault(),
  resumes: integer().withDefault(),
  error_code: text().nullable(),
  created_at: moment().withDefault(),
  started_at: moment().nullable(),
  finished_at: moment().nullable(),
});

export const replayTalks = table('replay_talks', {
  replay_id: text(),
  position: integer(),
  org_id: text(),
  mode: text<Mode>(),
  /** The original conversation. */
  source_id: text(),
  user_id: text().nullable(),
  status: text<ReplayedTalk['status']>().withDefault(),
  /** The hidden conversation of the replay. */
  conversation_id: text().nullable(),
  exchanges: json<ReplayedExchange[]>().withDefault(),
  judged_by: text().nullable(),
  duration_ms: integer().withDefault(),
  cost_micros: micros().withDefault(),
  error_code: text().nullable(),
  error_message: text().nullable(),
  started_at: moment().nullable(),
});

export type ReplayRow = RowOf<typeof replays>;
export type TalkRow = RowOf<typeof replayTalks>;

export type Improvement = ResponseOf<Api['improvements']['get']>;

/** Replays have their own rows, which are deleted with their conversations. */
export type AttemptResults = {
  /** Ids of scenarios that passed in every run. */
  fixed: string[];
  not_fixed: Improvement['not_fixed'];
  /** Scenarios that passed before. */
  regressions: Improvement['regressions'];
  /** The number of replayed conversations whose answer changed. */
  changed_conversations: number;
};

/** A proposal and its results, which are null until it was proven. */
export type Attempt = {
  /** Null if the model proposed nothing that can be saved. */
  version: number | null;
  change: NonNullable<Improvement['change']> | null;
  /** Why the model could not fix a scenario, by scenario id. */
  cannot_fix: Record<string, string>;
  proof_run_id: string | null;
  replay_id: string | null;
  /** Plays conversations that changed with the current version: those that change there too show nothing. */
  control_replay_id: string | null;
  results: AttemptResults | null;
};

export const improvements = table('improvements', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  base_version: integer(),
  source: json<Improvement['from']>(),
  author: json<{ type: 'key' | 'member' | 'mcp_grant' | 'system'; id: string; name: string }>(),
  /** Shown as its phase while it runs, and `error` as `failed`. */
  status: text<'queued' | 'running' | 'completed' | 'error' | 'cancelled'>().withDefault(),
  phase: text<'reproducing' | 'proposing' | 'proving' | 'ended'>().withDefault(),
  outcome: text<NonNullable<Improvement['outcome']>>().nullable(),
  budget_micros: micros(),
  /** The cost of model calls outside conversations. The ledger has the cost of `conversation_ids`. */
  cost_micros: micros().withDefault(),
  conversation_ids: textArray().withDefault(),
  rounds: integer(),
  reproduction_run_id: text().nullable(),
  baseline_run_id: text().nullable(),
  attempts: json<Attempt[]>().withDefault(),
  flags: json<Improvement['flags']>().withDefault(),
  resumes: integer().withDefault(),
  error_code: text().nullable(),
  created_at: moment().withDefault(),
  started_at: moment().nullable(),
  finished_at: moment().nullable(),
});

export const improvementScenarios = table('improvement_scenarios', {
  improvement_id: text(),
  position: integer(),
  org_id: text(),
  mode: text<Mode>(),
  /** The real conversation. */
  source_id: text(),
  user_id: text().nullable(),
  scenario_id: text(),
  /** Null until it is drafted. It has replaced values only. */
  scenario: json<PlayedScenario>().nullable(),
  is_left_out: boolean().withDefault(),
});

export type ImprovementRow = RowOf<typeof improvements>;
export type ImprovementScenarioRow = RowOf<typeof improvementScenarios>;

export const messageFeedback = table('message_feedback', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  conversation_id: text(),
  message_id: text(),
  deployment_id: text(),
  deployment_version: integer(),
  rater_type: text<'user' | 'member' | 'key'>(),
  rater_id: text(),
  rating: text<'good' | 'bad'>(),
  note: text().nullable(),
  created_at: moment().withDefault(),
  updated_at: moment().withDefault(),
});

export type FeedbackRow = RowOf<typeof messageFeedback>;

export const insightNames = table('insight_names', {
  org_id: text(),
  mode: text<Mode>(),
  deployment_id: text(),
  insight_id: text(),
  digest: text(),
  name: text(),
  conversation_ids: textArray(),
  created_at: moment().withDefault(),
  naming_until: moment().nullable().withDefault(),
});
