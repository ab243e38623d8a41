import { and, asc, desc, eq, getTableColumns, inArray, lt, type SQL, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../db/pool.ts';
import type { VersionTests } from '../deployments/api.ts';
import type { ScenarioRow } from '../scenarios/api.ts';
import type { Fault } from './fault.ts';
import {
  type PlayedScenario,
  type ResultRow,
  type TestRun,
  type TestRunResult,
  type TestRunRow,
  testRunResults,
  testRuns,
} from './tables.ts';

/** A run with what its results come to, read by one statement so that the counts fit the results beside them. */
export type TalliedRun = TestRunRow & { tally: Tally };

type Tally = {
  counts: TestRun['counts'];
  cost_micros: number;
  results: (Omit<TestRunResult, 'cost_usd'> & { cost_micros: number })[];
};

const open = ['queued', 'running'] as const;

/** Test runs are shared by both modes of their org. */
export async function findRun(db: Executor, orgId: string, runId: string): Promise<TalliedRun | undefined> {
  const [row] = await selectRuns(db, and(eq(testRuns.org_id, orgId), eq(testRuns.id, runId)), 1, withTranscripts);
  return row;
}

/** Without what was said, which may be megabytes a run. */
export function listRuns(
  db: Executor,
  deploymentId: string,
  page: { limit: number; below: string | null },
): Promise<TalliedRun[]> {
  const below = page.below === null ? undefined : lt(testRuns.id, page.below);
  return selectRuns(db, and(eq(testRuns.deployment_id, deploymentId), below), page.limit + 1, withoutTranscripts);
}

function selectRuns(db: Executor, which: SQL | undefined, limit: number, transcript: SQL): Promise<TalliedRun[]> {
  return db
    .select({ ...getTableColumns(testRuns), tally: tallyWith(transcript) })
    .from(testRuns)
    .where(which)
    .orderBy(desc(testRuns.id))
    .limit(limit);
}

const withTranscripts = sql`result.transcript`;
const withoutTranscripts = sql`json_build_array()`;

/** Results stand in the order in which their scenarios were made. */
const tallyWith = (transcript: SQL) => sql<Tally>`(
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
      'criteria', result.criteria,
      'must_never', result.must_never,
      'conversation_id', result.conversation_id,
      'transcript', ${transcript},
      'duration_ms', result.duration_ms,
      'cost_micros', result.cost_micros,
      'error_code', result.error_code,
      'error_message', result.error_message
    ) ORDER BY result.scenario_id), '[]')
  ) FROM test_run_results AS result WHERE result.run_id = test_runs.id)`;

export async function insertRun(
  tx: Transaction,
  run: Pick<TestRunRow, 'id' | 'org_id' | 'deployment_id' | 'version' | 'mode' | 'promote_on_pass'>,
): Promise<void> {
  await tx.insert(testRuns).values(run);
}

/** As two arrays: a deployment may have more scenarios than a statement may have parameters. */
export async function insertResults(
  tx: Transaction,
  { id, org_id }: Pick<TestRunRow, 'id' | 'org_id'>,
  scenarios: readonly ScenarioRow[],
): Promise<void> {
  await tx.execute(sql`
    INSERT INTO test_run_results (run_id, org_id, scenario_id, scenario)
    SELECT ${id}, ${org_id}, scenario_id, scenario
    FROM unnest(${sql.param(scenarios.map((scenario) => scenario.id))}::text[],
      ${sql.param(scenarios.map((scenario) => JSON.stringify(asPlayed(scenario))))}::json[]) AS given (scenario_id, scenario)`);
}

const asPlayed = (row: ScenarioRow): PlayedScenario => ({
  name: row.name,
  persona: row.persona,
  goal: row.goal,
  success_criteria: row.success_criteria,
  must_never: row.must_never,
  tool_results: row.tool_results,
  approves: row.approves,
});

/**
 * Ends a run that has not ended, with what it has not finished playing; says whether there was anything to end. Whoever
 * writes to a run takes its row first and its results after, so that none waits for the other.
 */
export async function cancelRun(tx: Transaction, orgId: string, runId: string): Promise<boolean> {
  const ended = await tx
    .update(testRuns)
    .set({ status: 'cancelled', finished_at: sql`now()` })
    .where(and(eq(testRuns.org_id, orgId), eq(testRuns.id, runId), inArray(testRuns.status, open)))
    .returning({ id: testRuns.id });
  if (ended.length === 0) return false;
  // From the commit on nobody plays it any more.
  await tx.execute(sql`DELETE FROM runs WHERE id = ${runId}`);
  await tx
    .update(testRunResults)
    .set({ status: 'cancelled' })
    .where(and(eq(testRunResults.run_id, runId), inArray(testRunResults.status, open)));
  return true;
}

/** The latest run of each of these versions that has one: one probe of the index for each, however many runs it has. */
export async function latestRuns(
  db: Executor,
  deploymentId: string,
  versions: readonly number[],
): Promise<ReadonlyMap<number, VersionTests>> {
  const { rows } = await db.execute<VersionTests & { version: number }>(sql`
    SELECT latest.version, latest.id AS run_id, latest.status
    FROM unnest(${sql.param([...versions])}::integer[]) AS wanted (version)
    CROSS JOIN LATERAL (
      SELECT id, version, status FROM test_runs
      WHERE deployment_id = ${deploymentId} AND version = wanted.version ORDER BY id DESC LIMIT 1) AS latest`);
  return new Map(rows.map(({ version, run_id, status }) => [version, { run_id, status }]));
}

/** Held until the transaction ends: whoever writes to a run takes this row first, then its ownership, then its results. */
export async function lockRun(
  tx: Transaction,
  runId: string,
  strength: 'share' | 'update',
): Promise<TestRunRow | undefined> {
  const [row] = await tx.select().from(testRuns).where(eq(testRuns.id, runId)).for(strength);
  return row;
}

export async function updateRun(tx: Transaction, runId: string, changes: Partial<TestRunRow>): Promise<TestRunRow> {
  const [row] = await tx.update(testRuns).set(changes).where(eq(testRuns.id, runId)).returning();
  return row as TestRunRow;
}

/** In the order in which their scenarios were made. */
export function resultsOf(db: Executor, runId: string): Promise<ResultRow[]> {
  return db
    .select()
    .from(testRunResults)
    .where(eq(testRunResults.run_id, runId))
    .orderBy(asc(testRunResults.scenario_id));
}

export async function updateResult(
  tx: Transaction,
  { run_id, scenario_id }: Pick<ResultRow, 'run_id' | 'scenario_id'>,
  changes: Partial<ResultRow>,
): Promise<void> {
  await tx
    .update(testRunResults)
    .set(changes)
    .where(and(eq(testRunResults.run_id, run_id), eq(testRunResults.scenario_id, scenario_id)));
}

/** What has no verdict gets the same end: why the run as a whole could not go on. */
export async function endOpenResults(tx: Transaction, runId: string, { code, message }: Fault): Promise<void> {
  await tx
    .update(testRunResults)
    .set({ status: 'error', error_code: code, error_message: message })
    .where(and(eq(testRunResults.run_id, runId), inArray(testRunResults.status, open)));
}

/** Runs that are not over and that no process plays, oldest first. */
export function unplayedRuns(db: Executor, limit: number): Promise<{ id: string; org_id: string }[]> {
  return db
    .select({ id: testRuns.id, org_id: testRuns.org_id })
    .from(testRuns)
    .where(and(inArray(testRuns.status, open), sql`NOT EXISTS (SELECT FROM runs WHERE runs.id = ${testRuns.id})`))
    .orderBy(asc(testRuns.created_at))
    .limit(limit);
}
