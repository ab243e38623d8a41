import type { VersionTests } from '../../agents/deployments/index.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, integer, json, text } from '../../platform/db/table.ts';
import type { PlayFault } from '../player/player.ts';
import { cancelPlay, isOpen } from '../player/plays.ts';
import type { ScenarioToPlay } from '../scenarios/scenarios.ts';
import {
  type EndedPlay,
  type PlayedScenario,
  type ResultRow,
  type TestRun,
  type TestRunResult,
  type TestRunRow,
  testRunResults,
  testRuns,
} from '../tables.ts';
import type { Verdict } from './judge.ts';

/** A run with its counts and results, read in one statement so that they are consistent. */
export type TalliedRun = TestRunRow & { tally: Tally };

type Tally = {
  counts: TestRun['counts'];
  cost_micros: number;
  results: (Omit<TestRunResult, 'cost_usd' | 'runs' | 'flaky'> & {
    cost_micros: number;
    runs: number | null;
    plays: Pick<EndedPlay, 'status'>[];
  })[];
};

/** Both modes of an org share test runs. */
export async function findRun(db: Executor, orgId: string, runId: string): Promise<TalliedRun | undefined> {
  const [row] = await selectRuns(db, sql`run.org_id = ${orgId} AND run.id = ${runId}`, 1, withTranscripts);
  return row;
}

/** Without the transcripts, which may be megabytes for each run. */
export function listRuns(
  db: Executor,
  deploymentId: string,
  { limit, below }: { limit: number; below: string | null },
): Promise<TalliedRun[]> {
  const which = sql.and(
    sql`run.deployment_id = ${deploymentId} AND run.improvement_id IS NULL`,
    below && sql`run.id < ${below}`,
  );
  return selectRuns(db, which, limit + 1, withoutTranscripts);
}

const selectRuns = (db: Executor, which: Sql, limit: number, transcript: Sql): Promise<TalliedRun[]> =>
  rowsOf(
    db,
    { ...testRuns.columns, tally: json<Tally>() },
    sql`SELECT ${columnsOf(testRuns, 'run')}, ${tallyWith(transcript)} AS tally
        FROM ${testRuns} run WHERE ${which} ORDER BY run.id DESC LIMIT ${limit}`,
  );

const withTranscripts = sql`result.transcript`;
const withoutTranscripts = sql`json_build_array()`;

/** Results are in the order of creation of their scenarios. */
const tallyWith = (transcript: Sql) => sql`(
  SELECT json_build_object(
    'counts', json_build_object(
      'total', count(*),
      'queued', count(*) FILTER (WHERE result.status = 'queued'),
      'running', count(*) FILTER (WHERE result.status = 'running'),
      'passed', count(*) FILTER (WHERE result.status = 'passed'),
      'failed', count(*) FILTER (WHERE result.status = 'failed'),
      'error', count(*) FILTER (WHERE result.status = 'error')
    ),
    'cost_micros', coalesce(sum(result.cost_micros), 0),
    'results', coalesce(json_agg(json_build_object(
      'scenario_id', result.scenario_id,
      'name', result.scenario -> 'name',
      'status', result.status,
      'runs', result.scenario -> 'runs',
      'plays', result.plays,
      'criteria', result.criteria,
      'must_never', result.must_never,
      'judged_by', result.judged_by,
      'conversation_id', result.conversation_id,
      'transcript', ${transcript},
      'duration_ms', result.duration_ms,
      'cost_micros', result.cost_micros,
      'error_code', result.error_code,
      'error_message', result.error_message
    ) ORDER BY result.scenario_id), '[]')
  ) FROM ${testRunResults} result WHERE result.run_id = run.id)`;

/** Inserts the run and a queued result for each scenario, with a copy of it. */
export async function insertRun(
  tx: Transaction,
  row: Pick<TestRunRow, 'id' | 'org_id' | 'deployment_id' | 'version' | 'mode' | 'promote_on_pass'> &
    Partial<Pick<TestRunRow, 'improvement_id'>>,
  scenarios: readonly ScenarioToPlay[],
): Promise<void> {
  await insert(tx, testRuns, row);
  const results = scenarios.map((scenario) => ({
    run_id: row.id,
    org_id: row.org_id,
    scenario_id: scenario.id,
    scenario: asPlayed(scenario),
  }));
  await insertMany(tx, testRunResults, results);
}

export const asPlayed = (row: ScenarioToPlay): PlayedScenario => ({
  name: row.name,
  persona: row.persona,
  goal: row.goal,
  success_criteria: row.success_criteria,
  must_never: row.must_never,
  tool_results: row.tool_results,
  recorded_calls: row.recorded_calls,
  approves: row.approves,
  runs: row.runs,
  acts_as: row.acts_as,
});

/** Ends a run that has not ended, and its open results. Returns whether there was anything to end. */
export async function cancelRun(tx: Transaction, orgId: string, runId: string): Promise<boolean> {
  if (!(await cancelPlay(tx, testRuns, sql`org_id = ${orgId}`, runId))) return false;
  await run(tx, sql`UPDATE ${testRunResults} SET status = 'cancelled' WHERE run_id = ${runId} AND ${isOpen}`);
  return true;
}

/** Locks the row until the transaction ends. */
export const lockRun = (tx: Transaction, orgId: string, runId: string): Promise<TestRunRow | undefined> =>
  maybeOne(
    tx,
    testRuns,
    sql`SELECT ${columnsOf(testRuns)} FROM ${testRuns} WHERE org_id = ${orgId} AND id = ${runId} FOR UPDATE`,
  );

/** Deletes the run. Its results go with it. */
export async function removeRun(tx: Transaction, { org_id, id }: Pick<TestRunRow, 'org_id' | 'id'>): Promise<void> {
  await run(tx, sql`DELETE FROM ${testRuns} WHERE org_id = ${org_id} AND id = ${id}`);
}

/** The latest run of each version that has one. Each version costs one index probe, however many runs it has. */
export async function latestRuns(
  db: Executor,
  deploymentId: string,
  versions: readonly number[],
): Promise<ReadonlyMap<number, VersionTests>> {
  const rows = await rowsOf(
    db,
    { version: integer(), run_id: text(), status: testRuns.columns.status },
    sql`SELECT latest.version, latest.id AS run_id, latest.status
        FROM unnest(${versions}::integer[]) AS wanted (version)
        CROSS JOIN LATERAL (
          SELECT id, version, status FROM ${testRuns}
          WHERE deployment_id = ${deploymentId} AND version = wanted.version AND improvement_id IS NULL ORDER BY id DESC LIMIT 1) AS latest`,
  );
  return new Map(rows.map(({ version, run_id, status }) => [version, { run_id, status }]));
}

/** The latest run that was to promote the version in this mode. */
export const latestPromotingRun = (
  db: Executor,
  { deployment_id, version, mode }: Pick<TestRunRow, 'deployment_id' | 'version' | 'mode'>,
): Promise<TestRunRow | undefined> =>
  maybeOne(
    db,
    testRuns,
    sql`SELECT ${columnsOf(testRuns)} FROM ${testRuns}
        WHERE deployment_id = ${deployment_id} AND version = ${version} AND mode = ${mode} AND promote_on_pass
        ORDER BY id DESC LIMIT 1`,
  );

export async function setNote(tx: Transaction, runId: string, note: string | null): Promise<void> {
  await run(tx, sql`UPDATE ${testRuns} SET note = ${note} WHERE id = ${runId}`);
}

/** In the order of creation of the scenarios. */
export const resultsOf = (db: Executor, runId: string): Promise<ResultRow[]> =>
  rowsOf(
    db,
    testRunResults,
    sql`SELECT ${columnsOf(testRunResults)} FROM ${testRunResults} WHERE run_id = ${runId} ORDER BY scenario_id`,
  );

type ResultKey = Pick<ResultRow, 'run_id' | 'scenario_id'>;

const named = ({ run_id, scenario_id }: ResultKey) => sql`run_id = ${run_id} AND scenario_id = ${scenario_id}`;

/** Returns false if the result is gone, because the conversation of its scenario was deleted. */
export async function beginResult(
  tx: Transaction,
  key: ResultKey,
  { conversationId, startedAt }: { conversationId: string; startedAt: Date },
): Promise<boolean> {
  const begun = await run(
    tx,
    sql`UPDATE ${testRunResults} SET status = 'running', conversation_id = ${conversationId}, started_at = ${startedAt}
        WHERE ${named(key)}`,
  );
  return begun === 1;
}

/** Stores the progress of a scenario: after an exchange, after one of several plays, or at its end. */
export async function recordResult(
  tx: Transaction,
  key: ResultKey,
  {
    transcript,
    duration_ms,
    cost_micros,
    plays,
    conversation_id,
  }: Pick<ResultRow, 'transcript' | 'duration_ms' | 'cost_micros' | 'plays' | 'conversation_id'>,
  verdict: Verdict | null,
): Promise<void> {
  const end =
    verdict &&
    sql`, status = ${verdict.status}, criteria = ${sql.json(verdict.criteria)},
        must_never = ${sql.json(verdict.must_never)}, judged_by = ${verdict.judged_by},
        error_code = ${verdict.error_code}, error_message = ${verdict.error_message}`;
  await run(
    tx,
    sql`UPDATE ${testRunResults}
        SET transcript = ${sql.json(transcript)}, duration_ms = ${duration_ms}, cost_micros = ${cost_micros},
          plays = ${sql.json(plays)}, conversation_id = ${conversation_id}
          ${end ?? sql.empty}
        WHERE ${named(key)}`,
  );
}

export async function setCost(tx: Transaction, key: ResultKey, costMicros: bigint): Promise<void> {
  await run(tx, sql`UPDATE ${testRunResults} SET cost_micros = ${costMicros} WHERE ${named(key)}`);
}

/** Fails all open results with the fault that stopped the whole run. */
export async function failOpenResults(tx: Transaction, runId: string, { code, message }: PlayFault): Promise<void> {
  await run(
    tx,
    sql`UPDATE ${testRunResults} SET status = 'error', error_code = ${code}, error_message = ${message}
        WHERE run_id = ${runId} AND ${isOpen}`,
  );
}
