import type { Ask } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import { transaction } from '../../db/transaction.ts';
import { openConversation } from '../conversations/api.ts';
import { findDeployment } from '../deployments/api.ts';
import {
  acceptMessage,
  admit,
  announce,
  changeConversation,
  changing,
  findInteraction,
  findTurn,
  type InteractionRow,
  isOver,
  latestTurn,
  lockOwnConversation,
  pendingInteractions,
  questionText,
  readAnswer,
  readTranscript,
  type Settlement,
  settleInteraction,
  type Transcript,
  type TurnRow,
} from '../engine/api.ts';
import { holdPlay, type Player, type Playing } from './playing.ts';
import { nextLine } from './pretend-user.ts';
import { standInAnswer } from './stand-in-answer.ts';
import { beginResult } from './store.ts';
import type { PlayedScenario, ResultRow } from './tables.ts';
import type { Fault } from './verdict.ts';

const mostExchanges = 12;
/** A ring that was missed costs this much at most. */
const lookAgainMs = 15_000;

/**
 * Opens the conversation of a scenario and says its first line, which is the goal in the user's own words. Nobody is
 * named as its user: the play has no memory, files or routines of anyone, and its cost is the org's own.
 */
export async function beginConversation(
  { engine }: Player,
  { row, run }: Playing,
  result: ResultRow,
  startedAt: Date,
): Promise<string> {
  const tenant = { orgId: row.org_id, mode: row.mode };
  const { conversation, committed } = await transaction(engine.db, async (tx) => {
    await holdPlay(tx, run, 'share');
    const found = await findDeployment(tx, row.org_id, row.deployment_id);
    if (!found) throw fail('deployment_not_found');
    const { deployment } = found;
    const place = { tenant, userId: null, deployment, pinned: row.version, metadata: {}, isHidden: true };
    const opened = await openConversation(tx, place, async (change) => {
      const admission = await admit(engine, tx, change.conversation, deployment);
      return acceptMessage(engine, change, admission, messageOf(result.scenario, result.scenario.goal));
    });
    await beginResult(tx, result, { conversationId: opened.conversation.id, startedAt });
    return opened;
  });
  announce(engine.announcer, committed);
  engine.announcer.ring('test_run', row.id);
  return conversation.id;
}

type Play = {
  result: ResultRow;
  conversationId: string;
  ask: Ask;
  /** Told what was said so far, after each exchange. */
  onExchange: (transcript: Transcript) => Promise<void>;
};

type Follower = ReturnType<Player['followers']['follow']>;

/**
 * The pretend user and the agent talk until the user has nothing more to say. The rows of the conversation are all that
 * it goes by, so it goes on from wherever a process that died has left them. Says what broke it, or null.
 */
export async function converse(
  player: Player,
  playing: Playing,
  play: Play,
  signal: AbortSignal,
): Promise<Fault | null> {
  const { db } = player.engine;
  const { scenario } = play.result;
  const follower = player.followers.follow(play.conversationId, 0);
  signal.addEventListener('abort', follower.close, { once: true });
  try {
    let turn = await latestTurn(db, play.conversationId);
    while (turn) {
      turn = await untilOver(player, play, turn, follower, signal);
      const transcript = await readTranscript(db, play.conversationId);
      await play.onExchange(transcript);
      const brokenBy = breakOf(turn);
      if (brokenBy !== null) return brokenBy;
      if (turn.ordinal >= mostExchanges) return null;
      const line = await nextLine(play.ask, scenario, transcript.said);
      if (line === null) return null;
      turn = await sayLine(player, playing, { scenario, conversationId: play.conversationId, line });
    }
    throw fail('conversation_not_found');
  } finally {
    follower.close();
  }
}

/** Says a further line, unless the run has ended meanwhile. */
async function sayLine(
  { engine }: Player,
  { row, run }: Playing,
  { scenario, conversationId, line }: { scenario: PlayedScenario; conversationId: string; line: string },
): Promise<TurnRow> {
  const tenant = { orgId: row.org_id, mode: row.mode };
  const { result, committed } = await transaction(engine.db, async (tx) => {
    await holdPlay(tx, run, 'share');
    const conversation = await lockOwnConversation(tx, tenant, conversationId);
    const found = await findDeployment(tx, row.org_id, row.deployment_id);
    if (!found) throw fail('deployment_not_found');
    return changing(tx, conversation, async (change) => {
      const admission = await admit(engine, tx, change.conversation, found.deployment);
      return acceptMessage(engine, change, admission, messageOf(scenario, line));
    });
  });
  announce(engine.announcer, committed);
  return result;
}

const messageOf = ({ tool_results }: PlayedScenario, text: string) => ({
  text,
  context: null,
  attachments: [],
  request: { hand_off: 'auto' as const, plan: false, test: { tool_results: tool_results ?? {} } },
  origin: 'test' as const,
});

/** A limit of the version is how the agent behaves, and is judged; money that ran out or a model that failed is not. */
function breakOf({ state, error_code, error_message }: TurnRow): Fault | null {
  if (state === 'settled') return null;
  if (state === 'failed') return { code: error_code ?? 'model_error', message: error_message };
  if (error_code === 'max_turns' || error_code === 'hook_blocked') return null;
  return { code: error_code ?? 'stopped', message: error_message };
}

async function untilOver(
  player: Player,
  play: Play,
  { id }: TurnRow,
  follower: Follower,
  signal: AbortSignal,
): Promise<TurnRow> {
  const { db } = player.engine;
  for (;;) {
    signal.throwIfAborted();
    const turn = await findTurn(db, id);
    if (!turn) throw fail('conversation_not_found');
    if (isOver(turn.state)) return turn;
    const waits = await pendingInteractions(db, [play.conversationId]);
    for (const wait of waits) await answerWait(player, play, wait);
    if (waits.length === 0) await somethingHappened(follower, signal);
  }
}

const telling = new Set(['interaction.created', 'turn.settled', 'conversation.status']);

/** Text that streams in says nothing about the state of a turn. */
async function somethingHappened(follower: Follower, signal: AbortSignal): Promise<void> {
  for (;;) {
    const entries = await follower.next(lookAgainMs);
    if (entries.length === 0 || signal.aborted || entries.some(({ type }) => telling.has(type))) return;
  }
}

async function answerWait({ engine }: Player, play: Play, wait: InteractionRow): Promise<void> {
  const decided = standInAnswer(wait, play.result.scenario);
  const settlement = decided === 'ask the user' ? await answerQuestions(engine.db, play, wait) : decided;
  await changeConversation(engine, play.conversationId, null, async (change) => {
    const row = await findInteraction(change.tx, { orgId: wait.org_id, mode: wait.mode }, wait.id);
    if (row?.status === 'pending') await settleInteraction(engine, change, row, settlement);
  });
}

/** Each question is put to the pretend user as something that the agent says; one without an answer declines them all. */
async function answerQuestions(
  db: Player['engine']['db'],
  { conversationId, ask, result }: Play,
  wait: InteractionRow,
): Promise<Settlement> {
  const { said } = await readTranscript(db, conversationId);
  const answers: string[] = [];
  for (const question of wait.questions ?? []) {
    const text = questionText(question);
    const answer = await nextLine(ask, result.scenario, [...said, { role: 'agent', text }]);
    if (answer === null) return readAnswer(wait, { approve: false });
    answers.push(answer);
    said.push({ role: 'agent', text }, { role: 'user', text: answer });
  }
  return readAnswer(wait, { answers });
}
