import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@vestra/agent/message';
import type { Ask } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import { z } from 'zod';
import {
  latestTurn,
  questionText,
  readTranscript,
  type Transcript,
  type TurnRow,
} from '../../engine/conversations/index.ts';
import { type InteractionRow, type Resolution, readAnswer } from '../../engine/interactions/index.ts';
import { storableText } from '../../platform/db/storable-text.ts';
import { openOnStage, type Stage, sayOnStage, standInAnswer, untilTurnIsOver } from '../player/sandbox-conversation.ts';
import type { PlayedScenario, ResultRow } from '../tables.ts';
import type { Fault } from './judge.ts';
import { holdPlay, type Player, type Playing } from './playing.ts';
import { beginResult } from './store.ts';

const mostExchanges = 12;

const stageOf = ({ engine }: Player, { row, run }: Playing): Stage => ({
  engine,
  tenant: { orgId: row.org_id, mode: row.mode },
  deploymentId: row.deployment_id,
  version: row.version,
  hold: (tx) => holdPlay(tx, run, 'share'),
});

/** Opens the conversation of a scenario and says its first line, which is the goal in the user's own words. */
export async function beginConversation(
  player: Player,
  playing: Playing,
  result: ResultRow,
  startedAt: Date,
): Promise<string> {
  const message = messageOf(result.scenario, result.scenario.goal);
  const conversationId = await openOnStage(stageOf(player, playing), message, (tx, id) =>
    beginResult(tx, result, { conversationId: id, startedAt }),
  );
  player.engine.announcer.notify('test_run', playing.row.id);
  return conversationId;
}

type Play = {
  result: ResultRow;
  conversationId: string;
  ask: Ask;
  /** Told what was said so far, after each exchange. */
  onExchange: (transcript: Transcript) => Promise<void>;
};

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
  const { conversationId } = play;
  const { scenario } = play.result;
  const stage = stageOf(player, playing);
  const follower = player.followers.follow(conversationId, 0);
  const answer = (wait: InteractionRow) => answerWait(db, play, wait);
  signal.addEventListener('abort', follower.close, { once: true });
  try {
    let turn = await latestTurn(db, conversationId);
    while (turn) {
      turn = await untilTurnIsOver(stage, { conversationId, turnId: turn.id }, { follower, answer }, signal);
      const transcript = await readTranscript(db, conversationId);
      await play.onExchange(transcript);
      const brokenBy = breakOf(turn);
      if (brokenBy !== null) return brokenBy;
      if (turn.ordinal >= mostExchanges) return null;
      const line = await nextLine(play.ask, scenario, transcript.said);
      if (line === null) return null;
      turn = await sayOnStage(stage, conversationId, messageOf(scenario, line));
    }
    throw fail('conversation_not_found');
  } finally {
    follower.close();
  }
}

const messageOf = ({ tool_results, recorded_calls }: PlayedScenario, text: string) => ({
  text,
  context: null,
  request: {
    hand_off: 'auto' as const,
    plan: false,
    // A run that was made before there were recorded calls has none.
    test: { tool_results: tool_results ?? {}, recorded_calls: recorded_calls ?? [] },
  },
});

/** A limit of the version is how the agent behaves, and is judged; money that ran out or a model that failed is not. */
export function breakOf({ state, error_code, error_message }: TurnRow): Fault | null {
  if (state === 'settled') return null;
  if (state === 'failed') return { code: error_code ?? 'model_error', message: error_message };
  if (error_code === 'max_turns' || error_code === 'hook_blocked') return null;
  return { code: error_code ?? 'stopped', message: error_message };
}

async function answerWait(db: Player['engine']['db'], play: Play, wait: InteractionRow): Promise<Resolution> {
  const decided = standInAnswer(wait, play.result.scenario);
  return decided === 'ask the user' ? answerQuestions(db, play, wait) : decided;
}

/** Each question is put to the pretend user as something that the agent says; one without an answer declines them all. */
async function answerQuestions(
  db: Player['engine']['db'],
  { conversationId, ask, result }: Play,
  wait: InteractionRow,
): Promise<Resolution> {
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

const prompt = readFileSync(join(import.meta.dirname, 'pretend-user.md'), 'utf8').trim();
const schema = z.object({ says: z.string(), is_done: z.boolean() });
const longestLine = 4000;

/** What the person of the scenario says next; null where they have nothing more to say. */
async function nextLine(
  ask: Ask,
  { persona, goal }: Pick<PlayedScenario, 'persona' | 'goal'>,
  said: Transcript['said'],
): Promise<string | null> {
  const values: Record<string, string> = { persona: oneLine(persona), goal: oneLine(goal) };
  const filled = prompt.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
  const messages = fromTheOtherSide(said);
  const { says, is_done } = await ask({ purpose: 'pretend_user', prompt: filled, messages, schema, read: whatTheySay });
  const line = storableText(says).trim();
  return line === '' || is_done ? null : line.slice(0, longestLine).toWellFormed();
}

type Line = z.output<typeof schema>;

/** A model that knows no JSON has said a line all the same. */
const whatTheySay = (line: Line | null, _isLast: boolean, text: string) => ({
  value: line ?? { says: text, is_done: false },
});

/** The agent's words come as the user's and the user's as the agent's own; speakers take turns, as vendors ask for. */
function fromTheOtherSide(said: Transcript['said']): Message[] {
  const heard = [{ isOwn: false, text: '[The conversation begins. You speak first.]' }];
  for (const { role, text } of said) {
    const isOwn = role === 'user';
    const last = heard.at(-1);
    if (last && last.isOwn === isOwn) last.text += `\n\n${text}`;
    else heard.push({ isOwn, text });
  }
  if (heard.at(-1)?.isOwn) heard.push({ isOwn: false, text: '[The agent said nothing.]' });
  return heard.map(({ isOwn, text }) =>
    isOwn ? { role: 'agent', text, calls: [] } : { role: 'user', parts: [{ kind: 'text', text: text || '[nothing]' }] },
  );
}

const oneLine = (text: string) => text.replace(/\s+/gu, ' ').trim();
