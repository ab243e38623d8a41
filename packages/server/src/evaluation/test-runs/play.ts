import { setTimeout as sleep } from 'node:timers/promises';
import type { Ask } from '@vestra/agent/question';
import type { PricedModel } from '@vestra/models/prices';
import { emit } from '../../account/index.ts';
import type { IndexState } from '../../agents/notebooks/index.ts';
import { type FixedContent, type Manifest, versionOf } from '../../agents/versions/index.ts';
import { costOf } from '../../billing/index.ts';
import { readTranscript, type Transcript } from '../../engine/conversations/index.ts';
import { ask } from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/limiter.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { isBudgetReached, payerOfPlay } from '../improvements/spending.ts';
import {
  faultOf,
  isInterrupted,
  type Play,
  type Player,
  type PlayFault,
  type PlayKind,
  runPlay,
} from '../player/player.ts';
import { isOpenStatus, testRunQueue } from '../player/plays.ts';
import type { ResultRow, TestRunRow } from '../tables.ts';
import { beginConversation, converse } from './converse.ts';
import { endOfRun, judgeModelOf, judgeScenario, type Verdict, verdictOf, verdictOfFault } from './judge.ts';
import { failOpenResults, findRun, recordResult, resultsOf, setNote, type TalliedRun } from './store.ts';
import { costOfPlays, presentTestRun, shownPlay } from './test-runs.ts';

const concurrency = 4;

const noJudgeModel: PlayFault = {
  code: 'no_judge_model',
  message:
    'The built-in `offline` model does not judge what goes live. Set the key of a model provider, such as ' +
    'ANTHROPIC_API_KEY, or name a model with VESTRA_DEFAULT_MODEL, and start the server again.',
};

export const playTestRun = (player: Player, runId: string, signal: AbortSignal): Promise<void> =>
  runPlay(player, testRunKind, runId, signal);

const testRunKind: PlayKind<TestRunRow> = {
  ...testRunQueue,
  playItems: playScenarios,
  endOf,
  failOpenItems: failOpenResults,
  async emitCompleted(tx, { org_id: orgId, mode, deployment_id: deploymentId, id, improvement_id }) {
    // The improvement reports its end itself.
    if (improvement_id !== null) return;
    const data = presentTestRun((await findRun(tx, orgId, id)) as TalliedRun);
    await emit(tx, { orgId, mode, type: 'test_run.completed', deploymentId, data });
  },
};

async function playScenarios(player: Player, play: Play<TestRunRow>, signal: AbortSignal): Promise<PlayFault | null> {
  const { engine } = player;
  const { row } = play;
  engine.announcer.notify('test_run', row.id);
  const version = await versionOf(engine.db, row.deployment_id, row.version);
  const model = judgeModelOf(engine, row, version.manifest.model);
  if (!model) return noJudgeModel;
  const functions = version.manifest.tools.map((tool) => tool.function);
  const open = (await resultsOf(engine.db, row.id)).filter(({ status }) => isOpenStatus(status));
  const readers = new Set(open.map(({ scenario }) => scenario.acts_as?.user_id ?? null));
  await waitForIndex(player, play, { ...version, readers: [...readers] }, signal);
  // The budget of an improvement is exact only if one call runs at a time.
  const atOnce = row.improvement_id === null ? concurrency : 1;
  await mapLimited(atOnce, open, (result) => playScenario(player, { ...play, model, functions }, result, signal));
  return null;
}

/**
 * Ends a run by its results, or by the fault that kept it from having them. The promotion is in the same transaction as
 * the verdict: a run that was cancelled meanwhile promotes nothing, and none promotes twice.
 */
async function endOf(
  tx: Transaction,
  { promote }: Player,
  row: TestRunRow,
  fault: PlayFault | null,
): Promise<Pick<TestRunRow, 'status' | 'error_code' | 'promoted' | 'note'>> {
  // The row that the play began with is older than the note about its index.
  const note = (await findRun(tx, row.org_id, row.id))?.note ?? null;
  if (fault) return { status: 'error', error_code: fault.code, promoted: false, note };
  const end = endOfRun(await resultsOf(tx, row.id));
  if (end.status !== 'passed' || !row.promote_on_pass) return { ...end, promoted: false, note };
  // Before the row of the run is locked: a promotion locks the deployment first, and an apply that holds that lock may
  // read the run.
  const outcome = await promote(tx, { orgId: row.org_id, run: row });
  // A later decision of the org is no fault. A version that passed and could not go live for another reason shows it.
  const isHindered = !outcome.promoted && outcome.reason !== 'superseded';
  return {
    ...end,
    error_code: end.error_code ?? (isHindered ? outcome.reason : null),
    promoted: outcome.promoted,
    note: outcome.promoted ? note : [note, hindranceNote(outcome.reason)].filter((each) => each !== null).join(' '),
  };
}

const hindrances: Readonly<Record<string, string>> = {
  superseded: 'a later apply, promotion or rollback went before it.',
  deployment_archived: 'the deployment was archived.',
  deployment_not_found: 'the deployment was deleted.',
  version_incomplete: 'something that the version uses was deleted or changed.',
  secret_missing: 'a secret is not stored in this mode.',
  memory_endpoint_required: 'the org has no `memory_endpoint` in this mode.',
  invalid_manifest: 'its model cannot be billed in this mode.',
};

const hindranceNote = (reason: string) =>
  `The tests passed, and nothing was promoted: ${hindrances[reason] ?? `${reason}.`}`;

/** Plays one scenario as often as it asks for, or resumes it, until it has a verdict. */
async function playScenario(
  player: Player,
  play: Play<TestRunRow> & { model: PricedModel; functions: readonly string[] },
  result: ResultRow,
  signal: AbortSignal,
): Promise<void> {
  let current = { ...result, started_at: result.started_at ?? new Date() };
  for (let isOver = false; !isOver; ) {
    const { conversationId, transcript, verdict } = await playOnce(player, play, current, signal);
    const { status, criteria, must_never, judged_by, error_code, error_message } = verdict;
    const ended = {
      ...{ status, criteria, must_never, judged_by, error_code, error_message },
      conversation_id: conversationId,
      cost_micros: Number(await costOfConversation(player.engine.db, conversationId)),
    };
    const plays = [...current.plays, ended];
    isOver = plays.length >= (result.scenario.runs ?? 1);
    if (isOver) await recordEnd(player, play, { ...current, plays }, transcript);
    else await record(player, play, { ...current, plays, conversation_id: null }, transcript, null);
    current = { ...current, plays, conversation_id: null };
  }
}

type Played = { conversationId: string | null; transcript: Transcript; verdict: Verdict };

async function playOnce(
  player: Player,
  play: Play<TestRunRow> & { model: PricedModel; functions: readonly string[] },
  result: ResultRow & { started_at: Date },
  signal: AbortSignal,
): Promise<Played> {
  const { engine } = player;
  const { row, model, functions } = play;
  const tenant = { orgId: row.org_id, mode: row.mode };
  let conversationId = result.conversation_id;
  try {
    conversationId ??= await beginConversation(player, play, result, result.started_at);
    const current = { ...result, conversation_id: conversationId };
    const payer = payerOfPlay(engine, row, { tenant, model, deploymentId: row.deployment_id, conversationId });
    const asking: Ask = (question) => ask({ ...question, payer, signal });
    const onExchange = (transcript: Transcript) => record(player, play, current, transcript, null);
    const scene = { result, conversationId, functions, ask: asking, onExchange };
    const broken = await converse(player, play, scene, signal);
    const transcript = await readTranscript(engine.db, conversationId);
    if (broken !== null) return { conversationId, transcript, verdict: verdictOfFault(broken) };
    const judge = { ask: asking, judgedBy: model.id };
    const verdict = verdictOf(await judgeScenario(judge, result.scenario, transcript.witnessed));
    return { conversationId, transcript, verdict };
  } catch (error) {
    if (isInterrupted(error, signal) || isBudgetReached(error)) throw error;
    const transcript = conversationId === null ? nothing : await readTranscript(engine.db, conversationId);
    return { conversationId, transcript, verdict: verdictOfFault(faultOf(engine.log, error)) };
  }
}

const nothing: Transcript = { said: [], witnessed: [] };

/** One play is the verdict itself. Of several the worst is shown, with its conversation. */
async function recordEnd(
  player: Player,
  play: Play<TestRunRow>,
  result: ResultRow & { started_at: Date },
  last: Transcript,
): Promise<void> {
  const shown = shownPlay(result.plays);
  const { conversation_id } = shown;
  const isLast = shown === result.plays.at(-1);
  const transcript =
    isLast || conversation_id === null ? last : await readTranscript(player.engine.db, conversation_id);
  const costMicros = costOfPlays(result.plays);
  const plays = result.plays.length === 1 ? [] : result.plays;
  await record(player, play, { ...result, plays, conversation_id }, transcript, { ...shown, costMicros });
}

/** Records the progress of a scenario, or its verdict and what all of its plays cost. */
async function record(
  { engine }: Player,
  { hold }: Play<TestRunRow>,
  { plays, conversation_id, started_at, ...key }: ResultRow & { started_at: Date },
  { said }: Transcript,
  end: (Verdict & { costMicros: bigint }) | null,
): Promise<void> {
  await transaction(engine.db, async (tx) => {
    await hold(tx, 'share');
    const played = {
      plays,
      conversation_id,
      transcript: said,
      duration_ms: Math.max(0, Date.now() - started_at.getTime()),
      cost_micros: end?.costMicros ?? costOfPlays(plays) + (await costOfConversation(tx, conversation_id)),
    };
    await recordResult(tx, key, played, end);
  });
  engine.announcer.notify('test_run', key.run_id);
}

const costOfConversation = async (db: Executor, conversationId: string | null): Promise<bigint> =>
  conversationId === null ? 0n : (await costOf(db, { conversationId })).totalMicros;

/** Indexing the largest notebook takes this long on two cores. After it the run starts anyway, with a note. */
const maxWaitMs = 3 * 60_000;
const maxBetweenMs = 1_000;

/**
 * Waits for the index: with keyword search alone the agent answers differently than it will for users, so a verdict
 * would be chance.
 */
async function waitForIndex(
  player: Player,
  { row, hold }: Play<TestRunRow>,
  { manifest, content, readers }: { manifest: Manifest; content: FixedContent; readers: readonly (string | null)[] },
  signal: AbortSignal,
): Promise<void> {
  const { notebooks } = manifest;
  if (notebooks.length === 0) return;
  const reader = { orgId: row.org_id, notebookIds: notebooks, revisions: content.notebooks };
  const until = Date.now() + maxWaitMs;
  let { note } = row;
  for (let betweenMs = 250; ; betweenMs = Math.min(betweenMs * 2, maxBetweenMs)) {
    const states = await Promise.all(readers.map((userId) => player.indexStateOf({ ...reader, userId })));
    const state = states.find(({ indexed, total }) => indexed < total) ?? allIndexed;
    const isOver = Date.now() >= until;
    const now = noteOf(state, isOver);
    if (now !== note) await tell(now);
    note = now;
    if (isOver || state.indexed === state.total) return;
    await sleep(betweenMs, undefined, { signal });
  }

  async function tell(now: string | null): Promise<void> {
    await transaction(player.engine.db, async (tx) => {
      await hold(tx, 'update');
      await setNote(tx, row.id, now);
    });
    player.engine.announcer.notify('test_run', row.id);
  }
}

const allIndexed: IndexState = { indexed: 0, total: 0 };

function noteOf({ indexed, total }: IndexState, isOver: boolean): string | null {
  if (indexed === total) return null;
  const documents = `${indexed} of ${total} ${total === 1 ? 'document' : 'documents'}`;
  return isOver
    ? `Played while only ${documents} of its notebooks were indexed: the agent may have missed the others.`
    : `Waiting for the index of its notebooks: ${documents} so far.`;
}
