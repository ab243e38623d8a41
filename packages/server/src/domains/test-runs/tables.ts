import type { Api } from '@vestra/contract/api';
import type { Mode, ResponseOf } from '@vestra/contract/route';
import { boolean, integer, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { micros, moment } from '../../db/columns.ts';
import type { ScenarioRow } from '../scenarios/api.ts';

export type TestRun = ResponseOf<Api['testRuns']['get']>;
export type TestRunResult = TestRun['results'][number];

/** A scenario as it was when its run was made. */
export type PlayedScenario = Pick<
  ScenarioRow,
  'name' | 'persona' | 'goal' | 'success_criteria' | 'must_never' | 'tool_results' | 'approves'
>;

export const testRuns = pgTable('test_runs', {
  id: text().primaryKey(),
  org_id: text().notNull(),
  deployment_id: text().notNull(),
  version: integer().notNull(),
  mode: text().$type<Mode>().notNull(),
  status: text().$type<TestRun['status']>().notNull().default('queued'),
  promote_on_pass: boolean().notNull(),
  resumes: integer().notNull().default(0),
  error_code: text(),
  created_at: moment().notNull().defaultNow(),
  started_at: moment(),
  finished_at: moment(),
});

export const testRunResults = pgTable(
  'test_run_results',
  {
    run_id: text().notNull(),
    scenario_id: text().notNull(),
    org_id: text().notNull(),
    scenario: json().$type<PlayedScenario>().notNull(),
    status: text().$type<TestRunResult['status']>().notNull().default('queued'),
    criteria: json().$type<TestRunResult['criteria']>().notNull().default([]),
    must_never: json().$type<TestRunResult['must_never']>().notNull().default([]),
    conversation_id: text(),
    transcript: json().$type<TestRunResult['transcript']>().notNull().default([]),
    duration_ms: integer().notNull().default(0),
    cost_micros: micros().notNull().default(0n),
    error_code: text(),
    error_message: text(),
    started_at: moment(),
  },
  (table) => [primaryKey({ columns: [table.run_id, table.scenario_id] })],
);

export type TestRunRow = typeof testRuns.$inferSelect;
export type ResultRow = typeof testRunResults.$inferSelect;
