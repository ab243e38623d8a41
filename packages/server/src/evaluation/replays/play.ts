import { isDeepStrictEqual } from 'node:util';
import { withoutCredentials } from '@vestra/agent/credential';
import { fail } from '@vestra/contract/errors';
import type { PricedModel } from '@vestra/models/prices';
import { emit } from '../../account/index.ts';
import { versionOf } from '../../agents/versions/index.ts';
import { costOf } from '../../billing/index.ts';
import { type Exchange, holdConversation, readExchanges } from '../../engine/conversations/index.ts';
import { ask, judgeLine } from '../../engine/index.ts';
import type { InteractionResolution, InteractionRow } from '../../engine/interactions/index.ts';
import { mapLimited } from '../../platform/async/limiter.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { payerOfPlay } from '../improvements/spending.ts';
import {
  faultOf,
  isInterrupted,
  type Play,
  type Player,
  type PlayFault,
  type PlayKind,
  runPlay,
} from '../player/player.ts';
import { isOpenStatus, replayQueue } from '../player/plays.ts';
import {
  openInSandbox,
  playConversation,
  type Sandbox,
  sandboxOf,
  standInAnswer,
} from '../player/sandbox-conversation.ts';
import type { ReplayedExchange, ReplayRow, TalkRow } from '../tables.ts';
import { judgeModelOf } from '../test-runs/judge.ts';
import { presentReplay } from './replays.ts';
import { endOpenTalks, findReplay, type ReplayWithTalks, talksOf, updateTalk } from './store.ts';

const concurrency = 4;
const maxExchanges = 12;

export const playReplay = (player: Player, replayId: string, signal: AbortSignal): Promise<void> =>
  runPlay(player, replayKind, replayId, signal);

const replayKind: PlayKind<ReplayRow> = {
  ...replayQueue,
  playItems: replayTalks,
  endOf: async (_tx, _player, _row, fault) => ({
    status: fault ? 'error' : 'completed',
    error_code: fault?.code ?? null,
  }),
  failOpenItems: (tx, id, fault) => endOpenTalks(tx, id, { status: 'failed', ...fault }),
  async emitCompleted(tx, { org_id: orgId, mode, deployment_id: deploymentId, id, improvement_id }) {
    // The improvement reports its end itself.
    if (improvement_id !== null) return;
    const shown = presentReplay((await findReplay(tx, { orgId, mode }, id)) as ReplayWithTalks);
    // Without the talks: events go to other systems and stay when a user is erased, so they must not name users.
    await emit(tx, { orgId, mode, type: 'replay.completed', deploymentId, data: { ...shown, talks: [] } });
  },
};

async function replayTalks(player: Player, play: Play<ReplayRow>, signal: AbortSignal): Promise<null> {
  const { engine } = player;
  const { row } = play;
  const { manifest } = await versionOf(engine.db, row.deployment_id, row.version);
  const judge = judgeModelOf(engine, row, manifest.model);
  const open = (await talksOf(engine.db, [row.id])).filter(({ status }) => isOpenStatus(status));
  // The budget of an improvement is exact only if one call runs at a time.
  const atOnce = row.improvement_id === null ? concurrency : 1;
  await mapLimited(atOnce, open, (talk) => replayTalk(player, play, { talk, judge }, signal));
  return null;
}

/** Replays one conversation, or resumes it, until both sides are compared. */
async function replayTalk(
  player: Player,
  play: Play<ReplayRow>,
  { talk: row, judge }: { talk: TalkRow; judge: PricedModel | null },
  signal: AbortSignal,
): Promise<void> {
  const { engine } = player;
  const { row: replay } = play;
  const talk = { ...row, started_at: row.started_at ?? new Date() };
  try {
    const before = (await readExchanges(engine.db, talk.source_id)).filter(hasEnded).slice(0, maxExchanges);
    if (before.length === 0)
      throw fail('conversation_not_found', { message: 'Nothing of this conversation is left to replay.' });
    const sandbox = sandboxOf(player, play);
    const conversationId = talk.conversation_id ?? (await begin(sandbox, talk, before[0] as Exchange));
    talk.conversation_id = conversationId;
    engine.announcer.notify('test_run', replay.id);
    const broken = await sendAll(player, sandbox, { conversationId, before }, signal);
    const after = await readExchanges(engine.db, conversationId);
    const compared = before.map((each, at) =>
      compareExchange(each, after[at], broken && at === after.length - 1 ? (broken.message ?? broken.code) : null),
    );
    const exchanges = await judged(player, sandbox, { conversationId, compared, judge }, signal);
    await end(player, play, talk, { exchanges, judge, fault: broken });
  } catch (error) {
    if (isInterrupted(error, signal)) throw error;
    await end(player, play, talk, { exchanges: [], judge: null, fault: faultOf(engine.log, error) });
  }
}

/** A turn that failed or still runs cannot be compared. */
const hasEnded = ({ turn, user }: Exchange) => turn.state === 'settled' && user.length > 0;

/** The lock makes a concurrent erasure of the user run before this or remove it too. */
function begin(sandbox: Sandbox, talk: TalkRow, first: Exchange): Promise<string> {
  return openInSandbox(sandbox, messageOf(first, talk.source_id), async (tx, conversationId) => {
    const isThere = await holdConversation(tx, sandbox.tenant, talk.source_id);
    const begun = { status: 'running' as const, conversation_id: conversationId, started_at: talk.started_at };
    if (!isThere || !(await updateTalk(tx, talk, begun))) throw fail('conversation_not_found');
  });
}

/** As sent, but without a plan, which would wait for approval, and without the trace of the original request. */
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

const sendAll = (
  { followers }: Player,
  sandbox: Sandbox,
  { conversationId, before }: { conversationId: string; before: readonly Exchange[] },
  signal: AbortSignal,
): Promise<PlayFault | null> =>
  playConversation(
    sandbox,
    followers,
    {
      conversationId,
      answer: (wait) => recordedAnswer(wait, before),
      nextMessage: async ({ ordinal }) => {
        const next = before[ordinal];
        return next ? messageOf(next, next.turn.conversation_id) : null;
      },
    },
    signal,
  );

const sameMeaning = 'The second answer tells the person the same as the first, whatever the words.';

/** A model judges whether different words mean the same. Without a model they count as different. */
async function judged(
  { engine }: Player,
  { tenant, deploymentId, improvementId }: Sandbox,
  {
    conversationId,
    compared,
    judge,
  }: { conversationId: string; compared: readonly ComparedExchange[]; judge: PricedModel | null },
  signal: AbortSignal,
): Promise<ReplayedExchange[]> {
  const exchanges: ReplayedExchange[] = [];
  for (const { result, reason, ...shown } of compared) {
    if (result !== 'other words') exchanges.push({ ...shown, result, reason });
    else if (!judge) exchanges.push({ ...shown, result: 'different', reason });
    else {
      const account = { tenant, model: judge, deploymentId, conversationId };
      const payer = payerOfPlay(engine, { improvement_id: improvementId }, account);
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
  { engine }: Player,
  { hold }: Play<ReplayRow>,
  talk: TalkRow,
  { exchanges, judge, fault }: { exchanges: ReplayedExchange[]; judge: PricedModel | null; fault: PlayFault | null },
): Promise<void> {
  const { conversation_id: conversationId, started_at: startedAt } = talk;
  await transaction(engine.db, async (tx) => {
    await hold(tx, 'share');
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

type Side = NonNullable<ReplayedExchange['after']>;

/** A comparison before a model has judged whether different words mean the same. */
type ComparedExchange = Omit<ReplayedExchange, 'result' | 'reason'> & {
  result: ReplayedExchange['result'] | 'other words';
  reason: string | null;
};

/** Compares one exchange: the tool calls first, then the text. `brokenBy` is why the replay stopped here. */
function compareExchange(before: Exchange, after: Exchange | undefined, brokenBy: string | null): ComparedExchange {
  const made = after ? callsOf(after) : [];
  const then = callsOf(before);
  const shown = {
    turn_id: before.turn.id,
    message: textOf(before.user),
    before: sideOf(before, then, made),
    after: after ? sideOf(after, made, then) : null,
  };
  if (brokenBy !== null || !after) return { ...shown, result: 'failed', reason: brokenBy ?? 'It did not come so far.' };
  const differing = [...shown.before.calls, ...(shown.after?.calls ?? [])].filter(({ is_matched }) => !is_matched);
  if (differing.length > 0) {
    const tools = [...new Set(differing.map(({ tool }) => `\`${tool}\``))].join(', ');
    return { ...shown, result: 'different', reason: `Calls of ${tools} differ.` };
  }
  if (isSameText(shown.before.text, shown.after?.text ?? '')) return { ...shown, result: 'same', reason: null };
  return { ...shown, result: 'other words', reason: 'The answer has other words.' };
}

/** The worst exchange decides. */
function talkStatusOf(exchanges: readonly Pick<ReplayedExchange, 'result'>[]): ReplayedExchange['result'] {
  const results = exchanges.map(({ result }) => result);
  return results.includes('failed') ? 'failed' : results.includes('different') ? 'different' : 'same';
}

type Call = { name: string; arguments: unknown; isError: boolean };

/** Calls by which the agent organises its own work have no effect outside, so they are not compared. */
const ownToolNames = new Set(['hand_off_to_work', 'update_plan', 'tell_work']);

const callsOf = ({ reply, work }: Exchange): Call[] =>
  [...reply.calls, ...work.calls]
    .filter(({ name, output }) => output !== null && !ownToolNames.has(name))
    .map(({ name, arguments: given, is_error }) => ({ name, arguments: given, isError: is_error === true }));

/** Each call matches at most one call of the other side, so calling twice differs from calling once. */
function sideOf({ turn, agent, told }: Exchange, own: readonly Call[], others: readonly Call[]): Side {
  const left = [...others];
  return {
    version: turn.deployment_version,
    text: textOf([...agent, ...told]),
    calls: own.map((call) => {
      const at = left.findIndex(
        (other) => other.name === call.name && isDeepStrictEqual(other.arguments, call.arguments),
      );
      if (at >= 0) left.splice(at, 1);
      return {
        tool: call.name,
        arguments: withoutCredentials('', call.arguments),
        is_error: call.isError,
        is_matched: at >= 0,
      };
    }),
  };
}

const textOf = (messages: readonly { text: string }[]) => messages.map(({ text }) => text).join('\n\n');

const isSameText = (one: string, other: string) => plain(one) === plain(other);

const plain = (text: string) => text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();

/**
 * The answer to an interaction in a replay: the user's earlier decision about the same tool or question. No tool runs
 * after an approval. Interactions that the user did not have are denied.
 */
function recordedAnswer(
  wait: Pick<InteractionRow, 'type' | 'purpose' | 'details' | 'questions'>,
  exchanges: readonly Exchange[],
): InteractionResolution {
  const then = exchanges.flatMap(({ reply, work }) => [...reply.waits, ...work.waits]);
  if (wait.type === 'question') {
    const asked = JSON.stringify(wait.questions?.map(({ question }) => question));
    const same = then.find(
      ({ type, answers, questions }) =>
        type === 'question' && answers !== null && JSON.stringify(questions?.map(({ question }) => question)) === asked,
    );
    return same?.answers
      ? { status: 'resolved', decision: 'answered', answers: same.answers }
      : { status: 'resolved', decision: 'denied' };
  }
  if (wait.type === 'approval') {
    const isSame = ({ type, purpose, details }: InteractionRow) =>
      type === 'approval' && purpose === wait.purpose && details.tool_name === wait.details.tool_name;
    const decided = then.find((each) => isSame(each) && each.decision === 'approved');
    return { status: 'resolved', decision: decided ? 'approved' : 'denied' };
  }
  const decided = standInAnswer(wait, { approves: false, functions: [] });
  return decided === 'ask the user' ? { status: 'resolved', decision: 'denied' } : decided;
}
