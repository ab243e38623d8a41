import { fail } from '@vestra/contract/errors';
import type { PricedModel } from '@vestra/models/prices';
import { emit } from '../../account/index.ts';
import { versionOf } from '../../agents/versions/index.ts';
import { costOf } from '../../billing/index.ts';
import {
  type Exchange,
  holdConversation,
  latestTurn,
  readTalk,
  type TurnRow,
} from '../../engine/conversations/index.ts';
import { ask, judgeLine, paidByOrg } from '../../engine/index.ts';
import { mapLimited } from '../../platform/async/map-limited.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { holdRun, type Run, RunTakenOver, releaseRun, takeExpiredRuns } from '../../platform/jobs/run-owner.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { openOnStage, type Stage, sayOnStage, untilTurnIsOver } from '../player/sandbox-conversation.ts';
import type { ReplayedExchange, ReplayRow, TalkRow } from '../tables.ts';
import { breakOf } from '../test-runs/converse.ts';
import { type Fault, judgeModelOf } from '../test-runs/judge.ts';
import { faultOf, isInterrupted, type Player } from '../test-runs/playing.ts';
import { type Compared, compareExchange, recordedAnswer, talkStatusOf } from './comparison.ts';
import { presentReplay } from './replays.ts';
import {
  endOpenTalks,
  findReplay,
  lockReplay,
  talksOf,
  unplayedReplays,
  updateReplay,
  updateTalk,
  type WholeReplay,
} from './store.ts';

const sideBySide = 4;

/**
 * The job. It may be called again after any crash: talks that have a result keep it, one that was being replayed goes on
 * in its conversation from where that stands, and the others are begun.
 */
export async function playReplay(replayer: Replayer, replayId: string, signal: AbortSignal): Promise<void> {
  const { db, runner } = replayer.engine;
  const taken = await transaction(db, async (tx) => {
    const found = await lockReplay(tx, replayId, 'update');
    if (found?.status !== 'queued' && found?.status !== 'running') return null;
    const run = await runner.take(tx, replayId);
    const row = await updateReplay(tx, replayId, {
      status: 'running',
      started_at: found.started_at ?? new Date(),
      resumes: found.resumes + (found.status === 'running' ? 1 : 0),
    });
    return { row, run };
  });
  if (!taken) return;
  const of = { ...taken.row, user_id: null };
  await runner.perform(taken.run, of, (ended) => play(replayer, taken, AbortSignal.any([signal, ended])));
}

async function play(replayer: Replayer, replaying: Replaying, signal: AbortSignal): Promise<void> {
  const { engine } = replayer;
  const { row } = replaying;
  try {
    const { manifest } = await versionOf(engine.db, row.deployment_id, row.version);
    const judge = judgeModelOf(engine, row, manifest.model);
    const talks = await talksOf(engine.db, [row.id]);
    const open = talks.filter(({ status }) => status === 'queued' || status === 'running');
    await mapLimited(sideBySide, open, (talk) => replayTalk(replayer, replaying, { talk, judge }, signal));
    await finish(replayer, replaying, null);
  } catch (error) {
    if (isInterrupted(error, signal)) throw error;
    await finish(replayer, replaying, faultOf(engine.log, error));
  }
}

/** The end and the event that tells of it are one transaction. */
async function finish({ engine }: Replayer, { row, run }: Replaying, fault: Fault | null): Promise<void> {
  const tenant = { orgId: row.org_id, mode: row.mode };
  await transaction(engine.db, async (tx) => {
    await holdReplay(tx, run, 'update');
    if (fault) await endOpenTalks(tx, row.id, { status: 'failed', ...fault });
    await updateReplay(tx, row.id, {
      status: fault ? 'error' : 'completed',
      error_code: fault?.code ?? null,
      finished_at: new Date(),
    });
    await releaseRun(tx, run);
    const shown = presentReplay((await findReplay(tx, tenant, row.id)) as WholeReplay);
    // An event goes to other systems, and is kept when the person is erased: whose talks they were is not for it to say.
    await emit(tx, {
      ...tenant,
      type: 'replay.completed',
      deploymentId: row.deployment_id,
      data: { ...shown, talks: [] },
    });
  });
  engine.announcer.notify('test_run', row.id);
}

/** Replays whose process has died, and those that neither a process nor a job knows of. */
export const unfinishedReplays: SweepSource = {
  name: 'replays',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'rpl_', limit });
    const found = await unplayedReplays(tx, limit);
    const withJob = await jobs.keysWithJob(
      tx,
      'replay.play',
      found.map(({ id }) => id),
    );
    const left = found.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'replay.play',
      left.map(({ id, org_id }) => ({ org_id, replay_id: id })),
    );
    return Math.max(left.length, expired.length);
  },
};

/** What replaying needs of the house. */
type Replayer = Pick<Player, 'engine' | 'followers'>;

/** A replay as the process that plays it knows it. */
type Replaying = { row: ReplayRow; run: Run };

/**
 * To be called in every transaction before it writes. Throws where the replay was cancelled, or where another process
 * plays it: nothing of the transaction is written then.
 */
async function holdReplay(tx: Transaction, run: Run, strength: 'share' | 'update'): Promise<void> {
  const row = await lockReplay(tx, run.runId, strength);
  if (row?.status !== 'running') throw new RunTakenOver(run);
  await holdRun(tx, run);
}

const mostExchanges = 12;

/** Replays one talk, or goes on with it, until both sides of it are compared. */
async function replayTalk(
  replayer: Replayer,
  replaying: Replaying,
  { talk: row, judge }: { talk: TalkRow; judge: PricedModel | null },
  signal: AbortSignal,
): Promise<void> {
  const { engine } = replayer;
  const { row: replay } = replaying;
  const talk = { ...row, started_at: row.started_at ?? new Date() };
  try {
    const before = (await readTalk(engine.db, talk.source_id)).filter(hasEnded).slice(0, mostExchanges);
    if (before.length === 0)
      throw fail('conversation_not_found', { message: 'Nothing of this talk is left to replay.' });
    const stage: Stage = {
      engine,
      tenant: { orgId: replay.org_id, mode: replay.mode },
      deploymentId: replay.deployment_id,
      version: replay.version,
      hold: (tx) => holdReplay(tx, replaying.run, 'share'),
    };
    talk.conversation_id ??= await begin(stage, talk, before[0] as Exchange);
    engine.announcer.notify('test_run', replay.id);
    const broken = await sayAll(replayer, stage, { conversationId: talk.conversation_id, before }, signal);
    const after = await readTalk(engine.db, talk.conversation_id);
    const compared = before.map((each, at) =>
      compareExchange(each, after[at], broken && at === after.length - 1 ? (broken.message ?? broken.code) : null),
    );
    const exchanges = await judged(replayer, stage, { talk, compared, judge }, signal);
    await end(replayer, replaying, talk, { exchanges, judge, fault: broken });
  } catch (error) {
    if (isInterrupted(error, signal)) throw error;
    await end(replayer, replaying, talk, { exchanges: [], judge: null, fault: faultOf(engine.log, error) });
  }
}

/** What was broken off then, or goes on still, is nothing to compare with. */
const hasEnded = ({ turn, user }: Exchange) => turn.state === 'settled' && user.length > 0;

/** An erasure of the person at this moment comes before it, or takes it along. */
function begin(stage: Stage, talk: TalkRow, first: Exchange): Promise<string> {
  return openOnStage(stage, messageOf(first, talk.source_id), async (tx, conversationId) => {
    const isThere = await holdConversation(tx, stage.tenant, talk.source_id);
    const begun = { status: 'running' as const, conversation_id: conversationId, started_at: talk.started_at };
    if (!isThere || !(await updateTalk(tx, talk, begun))) throw fail('conversation_not_found');
  });
}

/** As it was sent; a plan would wait for somebody to approve it, and the caller's trace is none of the replay's. */
const messageOf = ({ user, turn }: Exchange, sourceId: string) => ({
  text: user.map(({ text }) => text).join('\n\n'),
  context: user[0]?.context ?? null,
  request: {
    ...turn.request,
    plan: false,
    traceparent: undefined,
    test: { tool_results: {}, replay_of: sourceId },
  },
});

/** The rows of the conversation are all that it goes by, wherever a process that died has left them. */
async function sayAll(
  { followers, engine }: Replayer,
  stage: Stage,
  { conversationId, before }: { conversationId: string; before: readonly Exchange[] },
  signal: AbortSignal,
): Promise<Fault | null> {
  const follower = followers.follow(conversationId, 0);
  signal.addEventListener('abort', follower.close, { once: true });
  const answer = (wait: Parameters<typeof recordedAnswer>[0]) => recordedAnswer(wait, before);
  try {
    let turn: TurnRow | undefined = await latestTurn(engine.db, conversationId);
    while (turn) {
      turn = await untilTurnIsOver(stage, { conversationId, turnId: turn.id }, { follower, answer }, signal);
      const broken = breakOf(turn);
      if (broken) return broken;
      const next = before[turn.ordinal];
      if (!next) return null;
      const source = next.turn.conversation_id;
      turn = await sayOnStage(stage, conversationId, messageOf(next, source));
    }
    throw fail('conversation_not_found');
  } finally {
    follower.close();
  }
}

const sameMeaning = 'The second answer tells the person the same as the first, whatever the words.';

/** Whether other words mean the same is a model's to say; without one other words are another answer. */
async function judged(
  { engine }: Replayer,
  { tenant, deploymentId }: Stage,
  { talk, compared, judge }: { talk: TalkRow; compared: readonly Compared[]; judge: PricedModel | null },
  signal: AbortSignal,
): Promise<ReplayedExchange[]> {
  const exchanges: ReplayedExchange[] = [];
  for (const { result, reason, ...shown } of compared) {
    if (result !== 'other words') exchanges.push({ ...shown, result, reason });
    else if (!judge) exchanges.push({ ...shown, result: 'different', reason });
    else {
      const account = { tenant, model: judge, deploymentId, conversationId: talk.conversation_id };
      const payer = paidByOrg(engine, account);
      const found = await judgeLine((question) => ask({ ...question, payer, signal }), {
        line: { kind: 'criterion', text: sameMeaning },
        transcript: [
          { speaker: 'User', text: shown.message },
          { speaker: 'Agent', text: `First answer: ${shown.before.text}` },
          { speaker: 'Agent', text: `Second answer: ${shown.after?.text ?? ''}` },
        ],
      });
      exchanges.push({ ...shown, result: found.holds === true ? 'same' : 'different', reason: found.reason });
    }
  }
  return exchanges;
}

async function end(
  { engine }: Replayer,
  { run }: Replaying,
  talk: TalkRow,
  { exchanges, judge, fault }: { exchanges: ReplayedExchange[]; judge: PricedModel | null; fault: Fault | null },
): Promise<void> {
  const { conversation_id: conversationId, started_at: startedAt } = talk;
  await transaction(engine.db, async (tx) => {
    await holdReplay(tx, run, 'share');
    const cost = conversationId === null ? null : await costOf(tx, { conversationId });
    await updateTalk(tx, talk, {
      status: fault ? 'failed' : talkStatusOf(exchanges),
      exchanges,
      judged_by: judge?.id ?? null,
      started_at: startedAt,
      duration_ms: startedAt ? Math.max(0, Date.now() - startedAt.getTime()) : 0,
      cost_micros: cost?.totalMicros ?? 0n,
      error_code: fault?.code ?? null,
      error_message: fault?.message ?? null,
    });
  });
  engine.announcer.notify('test_run', talk.replay_id);
}
