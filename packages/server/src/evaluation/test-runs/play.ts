import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from '@vestra/agent/question';
import type { PricedModel } from '@vestra/models/prices';
import { emit } from '../../account/index.ts';
import type { IndexState } from '../../agents/notebooks/index.ts';
import { type FixedContent, type Manifest, versionOf } from '../../agents/versions/index.ts';
import { costOf } from '../../billing/index.ts';
import { readTranscript, type Transcript } from '../../engine/conversations/index.ts';
import { ask, paidByOrg } from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/map-limited.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { releaseRun, takeExpiredRuns } from '../../platform/jobs/run-owner.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import type { ResultRow } from '../tables.ts';
import { beginConversation, converse } from './converse.ts';
import { brokenBy, endOfRun, type Fault, judgeModelOf, judgeScenario, type Verdict, verdictOf } from './judge.ts';
import { faultOf, holdPlay, isInterrupted, type Player, type Playing } from './playing.ts';
import {
  endOpenResults,
  findRun,
  lockRun,
  recordResult,
  resultsOf,
  type TalliedRun,
  unplayedRuns,
  updateRun,
} from './store.ts';
import { presentTestRun } from './test-runs.ts';

const sideBySide = 4;

const noJudgeModel: Fault = {
  code: 'no_judge_model',
  message:
    'The built-in `offline` model does not judge what goes live. Set the key of a model provider, such as ' +
    'ANTHROPIC_API_KEY, or name a model with VESTRA_DEFAULT_MODEL, and start the server again.',
};

/**
 * The job. It may be called again after any crash: scenarios that have a verdict keep it, one that was being played goes
 * on in its conversation from where that stands, and the others are begun.
 */
export async function playTestRun(player: Player, runId: string, signal: AbortSignal): Promise<void> {
  const { db, runner, announcer } = player.engine;
  const taken = await transaction(db, async (tx) => {
    const found = await lockRun(tx, runId, 'update');
    if (found?.status !== 'queued' && found?.status !== 'running') return null;
    const run = await runner.take(tx, runId);
    const row = await updateRun(tx, runId, {
      status: 'running',
      started_at: found.started_at ?? new Date(),
      resumes: found.resumes + (found.status === 'running' ? 1 : 0),
    });
    return { row, run };
  });
  if (!taken) return;
  announcer.notify('test_run', runId);
  const of = { ...taken.row, user_id: null };
  await runner.perform(taken.run, of, (ended) => play(player, taken, AbortSignal.any([signal, ended])));
}

async function play(player: Player, playing: Playing, signal: AbortSignal): Promise<void> {
  const { engine } = player;
  const { row } = playing;
  try {
    const version = await versionOf(engine.db, row.deployment_id, row.version);
    const model = judgeModelOf(engine, row, version.manifest.model);
    if (!model) return await finishRun(player, playing, noJudgeModel);
    await waitForIndex(player, playing, version, signal);
    const open = (await resultsOf(engine.db, row.id)).filter(
      ({ status }) => status === 'queued' || status === 'running',
    );
    await mapLimited(sideBySide, open, (result) => playScenario(player, { ...playing, model }, result, signal));
    await finishRun(player, playing, null);
  } catch (error) {
    if (isInterrupted(error, signal)) throw error;
    await finishRun(player, playing, faultOf(engine.log, error));
  }
}

/**
 * Ends a run by its results, or by what kept it from having them. The promotion, the verdict and the event that tells of
 * it are one transaction: a run that was cancelled meanwhile promotes nothing, and none promotes twice.
 */
async function finishRun({ engine, promote }: Player, { row, run }: Playing, brokenBy: Fault | null): Promise<void> {
  const { org_id: orgId, mode, deployment_id: deploymentId, id } = row;
  await transaction(engine.db, async (tx) => {
    const end =
      brokenBy === null ? endOfRun(await resultsOf(tx, id)) : { status: 'error' as const, error_code: brokenBy.code };
    // Before the run's own row is held: whoever promotes holds the deployment first, and an apply that holds it may then
    // read the run.
    const outcome = end.status === 'passed' && row.promote_on_pass ? await promote(tx, { orgId, run: row }) : null;
    await holdPlay(tx, run, 'update');
    if (brokenBy !== null) await endOpenResults(tx, id, brokenBy);
    // A later decision of the org is no fault; a version that passed and could not go live for another reason says so.
    const hindered = outcome?.promoted === false && outcome.reason !== 'superseded' ? outcome.reason : null;
    await updateRun(tx, id, { ...end, error_code: end.error_code ?? hindered, finished_at: new Date() });
    await releaseRun(tx, run);
    const shown = presentTestRun((await findRun(tx, orgId, id)) as TalliedRun);
    await emit(tx, { orgId, mode, type: 'test_run.completed', deploymentId, data: shown });
  });
  engine.announcer.notify('test_run', id);
}

/** Test runs whose process has died, and those that neither a process nor a job knows of. */
export const unfinishedTestRuns: SweepSource = {
  name: 'test runs',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'trun_', limit });
    const found = await unplayedRuns(tx, limit);
    const ids = found.map(({ id }) => id);
    const withJob = await jobs.keysWithJob(tx, 'test_run.play', ids);
    const left = found.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'test_run.play',
      left.map(({ id, org_id }) => ({ org_id, run_id: id })),
    );
    return Math.max(left.length, expired.length);
  },
};

/** Plays one scenario, or goes on with it, until it has a verdict. */
async function playScenario(
  player: Player,
  playing: Playing & { model: PricedModel },
  result: ResultRow,
  signal: AbortSignal,
): Promise<void> {
  const { engine } = player;
  const { row, model } = playing;
  const tenant = { orgId: row.org_id, mode: row.mode };
  let conversationId = result.conversation_id;
  const startedAt = result.started_at ?? new Date();
  const note = (transcript: Transcript, verdict: Verdict | null) =>
    record(player, playing, { ...result, conversation_id: conversationId, started_at: startedAt }, transcript, verdict);
  try {
    conversationId ??= await beginConversation(player, playing, result, startedAt);
    const payer = paidByOrg(engine, { tenant, model, deploymentId: row.deployment_id, conversationId });
    const asking: Ask = (question) => ask({ ...question, payer, signal });
    const onExchange = (transcript: Transcript) => note(transcript, null);
    const broken = await converse(player, playing, { result, conversationId, ask: asking, onExchange }, signal);
    const transcript = await readTranscript(engine.db, conversationId);
    if (broken !== null) return await note(transcript, brokenBy(broken));
    const judge = { ask: asking, judgedBy: model.id };
    await note(transcript, verdictOf(await judgeScenario(judge, result.scenario, transcript.witnessed)));
  } catch (error) {
    if (isInterrupted(error, signal)) throw error;
    const transcript = conversationId === null ? nothing : await readTranscript(engine.db, conversationId);
    await note(transcript, brokenBy(faultOf(engine.log, error)));
  }
}

const nothing: Transcript = { said: [], witnessed: [] };

/** How far the play is, or its end. */
async function record(
  { engine }: Player,
  { run }: Playing,
  result: ResultRow,
  { said }: Transcript,
  verdict: Verdict | null,
): Promise<void> {
  const { conversation_id: conversationId, started_at: startedAt } = result;
  await transaction(engine.db, async (tx) => {
    await holdPlay(tx, run, 'share');
    const cost = conversationId === null ? null : await costOf(tx, { conversationId });
    const played = {
      transcript: said,
      duration_ms: startedAt === null ? 0 : Math.max(0, Date.now() - startedAt.getTime()),
      cost_micros: cost?.totalMicros ?? 0n,
    };
    await recordResult(tx, result, played, verdict);
  });
  engine.announcer.notify('test_run', result.run_id);
}

/** What the largest notebook takes on two cores. After it the run is played with what there is, and says so. */
const longestMs = 3 * 60_000;
const mostBetweenMs = 1_000;

/**
 * An agent that finds its documents by their words alone answers otherwise than the one that users will meet: a verdict
 * on it would be chance.
 */
async function waitForIndex(
  player: Player,
  { row, run }: Playing,
  { manifest, content }: { manifest: Manifest; content: FixedContent },
  signal: AbortSignal,
): Promise<void> {
  const { notebooks } = manifest;
  if (notebooks.length === 0) return;
  const reader = { orgId: row.org_id, notebookIds: notebooks, revisions: content.notebooks, userId: null };
  const until = Date.now() + longestMs;
  let { note } = row;
  for (let betweenMs = 250; ; betweenMs = Math.min(betweenMs * 2, mostBetweenMs)) {
    const state = await player.indexStateOf(reader);
    const isOver = Date.now() >= until;
    const now = noteOf(state, isOver);
    if (now !== note) await tell(now);
    note = now;
    if (isOver || state.indexed === state.total) return;
    await sleep(betweenMs, undefined, { signal });
  }

  async function tell(now: string | null): Promise<void> {
    await transaction(player.engine.db, async (tx) => {
      await holdPlay(tx, run, 'update');
      await updateRun(tx, row.id, { note: now });
    });
    player.engine.announcer.notify('test_run', row.id);
  }
}

function noteOf({ indexed, total }: IndexState, isOver: boolean): string | null {
  if (indexed === total) return null;
  const documents = `${indexed} of ${total} ${total === 1 ? 'document' : 'documents'}`;
  return isOver
    ? `Played while only ${documents} of its notebooks were indexed: the agent may have missed what the others say.`
    : `Waits until its notebooks are indexed: ${documents} so far.`;
}
