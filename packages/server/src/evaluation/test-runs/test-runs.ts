import { isDeepStrictEqual } from 'node:util';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { microsToUsd } from '@vestra/contract/money';
import type { Mode } from '@vestra/contract/route';
import { emit, recordAudit } from '../../account/index.ts';
import { type DeploymentRow, lockDeployment, lockVersions, type VersionRow } from '../../agents/deployments/index.ts';
import { eraseHiddenConversations } from '../../engine/conversations/index.ts';
import { assertPayable, type Engine, usableModel } from '../../engine/index.ts';
import type { Origin, Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { recordCostsOfCancelled, stopPlaying } from '../player/player.ts';
import { type FileScenario, hasScenarios, scenariosOfVersion } from '../scenarios/scenarios.ts';
import type { EndedPlay, PlayedScenario, TestRun, TestRunResult, TestRunRow } from '../tables.ts';
import {
  asPlayed,
  cancelRun,
  findRun,
  insertRun,
  latestPromotingRun,
  lockRun,
  removeRun,
  resultsOf,
  setCost,
  type TalliedRun,
} from './store.ts';

/**
 * Creates a run of the newest version that promotes nothing, whatever its verdict. If it could not start, it is refused
 * as a message would be.
 */
export async function createTestRun(
  tx: Transaction,
  {
    engine,
    jobs,
    upToDateVersion,
  }: { engine: Pick<Engine, 'models'>; jobs: JobSender; upToDateVersion: UpToDateVersion },
  origin: Origin,
  reference: string,
): Promise<TestRun> {
  await lockVersions(tx, origin.orgId);
  const found = await lockDeployment(tx, origin.orgId, reference);
  if (found.status === 'archived') throw fail('deployment_archived');
  const { deployment, version, fileScenarios } = await upToDateVersion(tx, { origin, deployment: found });
  if (!(await hasScenarios(tx, deployment.id, fileScenarios))) {
    throw fail('invalid_request', {
      message: 'This deployment has no scenarios to play. Add one, or declare `tests` in its file.',
    });
  }
  usableModel(engine.models, origin.mode, version.manifest.model);
  await assertPayable(tx, origin);
  const run = { deployment, version: version.version, mode: origin.mode, promoteOnPass: false, fileScenarios };
  return startRun(tx, jobs, origin, run);
}

/** Returns the newest version. If notebooks or skills changed since it was saved, another one is saved first. */
export type UpToDateVersion = (
  tx: Transaction,
  of: { origin: Origin; deployment: DeploymentRow },
) => Promise<{ deployment: DeploymentRow; version: VersionRow; fileScenarios: readonly FileScenario[] }>;

/** Creates a queued run of all scenarios that gate the version, and its job. */
export async function startRun(
  tx: Transaction,
  jobs: JobSender,
  origin: Origin,
  { deployment, version, mode, promoteOnPass, fileScenarios }: NewTestRun,
): Promise<TestRun> {
  const run = {
    id: newId('trun'),
    org_id: deployment.org_id,
    deployment_id: deployment.id,
    version,
    mode,
    promote_on_pass: promoteOnPass,
  };
  const scenarios = await scenariosOfVersion(tx, deployment, fileScenarios);
  await insertRun(tx, run, scenarios);
  await jobs.send(tx, 'test_run.play', { org_id: run.org_id, run_id: run.id });
  await recordAudit(tx, origin, {
    action: 'test_run.created',
    target: { type: 'test_run', id: run.id },
    details: { deployment_id: deployment.id, version, promote_on_pass: promoteOnPass, scenarios: scenarios.length },
  });
  return presentTestRun((await findRun(tx, run.org_id, run.id)) as TalliedRun);
}

export type NewTestRun = {
  deployment: DeploymentRow;
  version: number;
  mode: Mode;
  promoteOnPass: boolean;
  /** The tests of the file that the version was saved from. */
  fileScenarios: readonly FileScenario[];
};

/**
 * The latest run that was to promote the version in this mode, if it was judged and did not pass, and if the tests are
 * the same today. Playing it again until it passes by chance must take a decision, not only a repeated request.
 */
export async function redRunOf(
  tx: Transaction,
  { deployment, version, mode, fileScenarios }: Omit<NewTestRun, 'promoteOnPass'>,
): Promise<TestRun | null> {
  const run = await latestPromotingRun(tx, { deployment_id: deployment.id, version, mode });
  if (!run || !(run.status === 'failed' || run.error_code === 'no_verdict')) return null;
  const played = (await resultsOf(tx, run.id)).map(({ scenario }) => scenario);
  const today = (await scenariosOfVersion(tx, deployment, fileScenarios)).map(asPlayed);
  if (!isDeepStrictEqual(comparable(played), comparable(today))) return null;
  return (await findTestRun(tx, deployment.org_id, run.id)) ?? null;
}

/** Copies of an earlier release lack fields that are null today, and ids of dropped tests are new each time. */
const comparable = (scenarios: readonly PlayedScenario[]) =>
  scenarios
    .toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)))
    .map((each) => Object.fromEntries(Object.entries(each).filter(([, value]) => value !== null)));

const keyOf = ({ name, goal, persona }: PlayedScenario) => JSON.stringify([name, goal, persona]);

/**
 * Cancels a run and its unplayed scenarios. A run that has ended stays as it is: cancelling twice is safe, and a late
 * cancel returns the verdict. The completion event is emitted for cancelled runs too.
 */
export async function cancelTestRun(tx: Transaction, origin: Origin, runId: string): Promise<TestRun> {
  const before = await findRun(tx, origin.orgId, runId);
  if (!before || !isVisible(before, origin)) throw fail('test_run_not_found');
  // A live run spends live money, and a live version may wait for it.
  if (before.mode === 'live' && origin.mode === 'test') throw fail('live_key_required');
  const wasOpen = await cancelRun(tx, origin.orgId, runId);
  if (wasOpen) {
    await recordCostsOfCancelled(tx, await resultsOf(tx, runId), (result, cost) =>
      setCost(tx, result, cost + costOfPlays(result.plays)),
    );
  }
  const row = await findRun(tx, origin.orgId, runId);
  if (!row) throw fail('test_run_not_found');
  const run = presentTestRun(row);
  if (!wasOpen) return run;
  await recordAudit(tx, origin, {
    action: 'test_run.cancelled',
    target: { type: 'test_run', id: runId },
    details: { deployment_id: run.deployment_id, version: run.version },
  });
  await emit(tx, {
    orgId: origin.orgId,
    mode: run.mode,
    type: 'test_run.completed',
    deploymentId: run.deployment_id,
    data: run,
  });
  return run;
}

/** Deletes a run that has ended, with the conversations of its plays. */
export async function deleteTestRun(tx: Transaction, origin: Origin, runId: string): Promise<void> {
  const row = await lockRun(tx, origin.orgId, runId);
  if (!row || !isVisible(row, origin)) throw fail('test_run_not_found');
  if (row.mode === 'live' && origin.mode === 'test') throw fail('live_key_required');
  if (!row.finished_at) throw fail('still_running', { message: 'This test run has not ended.' });
  if (row.improvement_id !== null) throw fail('still_running', { message: 'An improvement reads this test run.' });
  const results = await resultsOf(tx, runId);
  await removeRun(tx, row);
  await eraseHiddenConversations(
    tx,
    results.flatMap(({ conversation_id, plays }) =>
      [conversation_id, ...plays.map((play) => play.conversation_id)].flatMap((id) => id ?? []),
    ),
  );
  await recordAudit(tx, origin, {
    action: 'test_run.deleted',
    target: { type: 'test_run', id: runId },
    details: { deployment_id: row.deployment_id, version: row.version },
  });
}

/** Both modes share test runs, except those with scenarios from the conversations of one mode. */
export const isVisible = ({ improvement_id, mode }: TestRunRow, tenant: Tenant): boolean =>
  improvement_id === null || mode === tenant.mode;

/** Stops the process that plays a cancelled run, and the agent in its conversations. */
export const stopTestRun = (engine: Engine, run: TestRun): Promise<void> =>
  stopPlaying(
    engine,
    run,
    run.results.map(({ status, conversation_id }) => ({ status, conversationId: conversation_id })),
  );

export async function findTestRun(db: Executor, orgId: string, runId: string): Promise<TestRun | undefined> {
  const row = await findRun(db, orgId, runId);
  return row && presentTestRun(row);
}

/** Runs of earlier releases did not record whether they promoted, so a passed one may have. */
const hasPromotedNothing = ({ status, promote_on_pass }: Pick<TestRun, 'status' | 'promote_on_pass'>) =>
  ['failed', 'error', 'cancelled'].includes(status) || (status === 'passed' && !promote_on_pass);

export const presentTestRun = ({ tally, ...row }: TalliedRun): TestRun => ({
  object: 'test_run',
  id: row.id,
  deployment_id: row.deployment_id,
  version: row.version,
  mode: row.mode,
  status: row.status,
  promote_on_pass: row.promote_on_pass,
  promoted: row.promoted ?? (hasPromotedNothing(row) ? false : null),
  counts: tally.counts,
  results: tally.results.map(
    ({ scenario_id, name, status, runs, plays, cost_micros, error_code, error_message, ...result }) => ({
      scenario_id,
      name,
      status,
      ...runsOf(status, runs, plays),
      ...result,
      cost_usd: microsToUsd(BigInt(cost_micros)),
      error_code,
      error_message,
    }),
  ),
  resumes: row.resumes,
  error_code: row.error_code,
  note: row.note,
  cost_usd: microsToUsd(BigInt(tally.cost_micros)),
  created_at: row.created_at.toISOString(),
  started_at: row.started_at?.toISOString() ?? null,
  finished_at: row.finished_at?.toISOString() ?? null,
});

/** The play whose verdict and conversation stand for the scenario: the first that did not pass, else the last. */
export function shownPlay(plays: readonly EndedPlay[]): EndedPlay {
  const shown =
    plays.find(({ status }) => status === 'failed') ?? plays.find(({ status }) => status === 'error') ?? plays.at(-1);
  if (!shown) throw new TypeError('A scenario that has ended was played.');
  return shown;
}

const ends = ['passed', 'failed', 'error'] as const;

/** A scenario that is played once has no list of plays: its status is that of its play. */
export function runsOf(
  status: TestRunResult['status'],
  total: number | null,
  plays: readonly Pick<EndedPlay, 'status'>[],
): Pick<TestRunResult, 'runs' | 'flaky'> {
  const ended: readonly { status: string }[] = plays.length > 0 ? plays : [{ status }];
  const countOf = (end: (typeof ends)[number]) => ended.filter((play) => play.status === end).length;
  const [passed, failed, error] = [countOf('passed'), countOf('failed'), countOf('error')];
  return { runs: { total: total ?? 1, passed, failed, error }, flaky: passed > 0 && failed > 0 };
}

export const costOfPlays = (plays: readonly Pick<EndedPlay, 'cost_micros'>[]): bigint =>
  plays.reduce((sum, { cost_micros }) => sum + BigInt(cost_micros), 0n);
