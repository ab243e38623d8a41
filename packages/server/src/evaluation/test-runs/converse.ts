import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '@vestra/agent/message';
import type { Ask } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import { z } from 'zod';
import { questionText, readTranscript, type Transcript } from '../../engine/conversations/index.ts';
import { type InteractionResolution, type InteractionRow, readAnswer } from '../../engine/interactions/index.ts';
import { storableText } from '../../platform/db/sql.ts';
import type { Play, Player, PlayFault } from '../player/player.ts';
import { openInSandbox, playConversation, sandboxOf, standInAnswer } from '../player/sandbox-conversation.ts';
import type { PlayedScenario, ResultRow, TestRunRow } from '../tables.ts';
import { beginResult } from './store.ts';

const maxExchanges = 12;

/** Opens the conversation of a scenario with its first message, which is the goal. */
export async function beginConversation(
  player: Player,
  play: Play<TestRunRow>,
  result: ResultRow,
  startedAt: Date,
): Promise<string> {
  const message = messageOf(result.scenario, result.scenario.goal);
  const conversationId = await openInSandbox(sandboxOf(player, play), message, async (tx, id) => {
    // Without a result, nothing would erase the conversation later.
    if (!(await beginResult(tx, result, { conversationId: id, startedAt }))) throw fail('conversation_not_found');
  });
  player.engine.announcer.notify('test_run', play.row.id);
  return conversationId;
}

type ScenarioPlay = {
  result: ResultRow;
  conversationId: string;
  /** Names of the functions of the version. */
  functions: readonly string[];
  ask: Ask;
  /** Receives the transcript so far after each exchange. */
  onExchange: (transcript: Transcript) => Promise<void>;
};

/** The pretend user and the agent exchange messages until the user has nothing more to say. */
export async function converse(
  player: Player,
  play: Play<TestRunRow>,
  { result, conversationId, functions, ask, onExchange }: ScenarioPlay,
  signal: AbortSignal,
): Promise<PlayFault | null> {
  const { db } = player.engine;
  const { scenario } = result;
  let transcript: Transcript = { said: [], witnessed: [] };
  return playConversation(
    sandboxOf(player, play),
    player.followers,
    {
      conversationId,
      answer: (wait) => answerWait(db, { result, conversationId, functions, ask }, wait),
      onTurnOver: async () => {
        transcript = await readTranscript(db, conversationId);
        await onExchange(transcript);
      },
      nextMessage: async ({ ordinal }) => {
        if (ordinal >= maxExchanges) return null;
        const line = await nextLine(ask, scenario, transcript.said);
        return line === null ? null : messageOf(scenario, line);
      },
    },
    signal,
  );
}

const messageOf = ({ tool_results, recorded_calls, acts_as }: PlayedScenario, text: string) => ({
  text,
  context: null,
  request: {
    hand_off: 'auto' as const,
    plan: false,
    // Runs that were created before recorded calls or users of tests existed have none.
    test: { tool_results: tool_results ?? {}, recorded_calls: recorded_calls ?? [], as: acts_as ?? null },
  },
});

type AskedPlay = Omit<ScenarioPlay, 'onExchange'>;

async function answerWait(
  db: Player['engine']['db'],
  play: AskedPlay,
  wait: InteractionRow,
): Promise<InteractionResolution> {
  const decided = standInAnswer(wait, { ...play.result.scenario, functions: play.functions });
  return decided === 'ask the user' ? answerQuestions(db, play, wait) : decided;
}

/** Asks the pretend user each question as if the agent had said it. One without an answer declines them all. */
async function answerQuestions(
  db: Player['engine']['db'],
  { conversationId, ask, result }: AskedPlay,
  wait: InteractionRow,
): Promise<InteractionResolution> {
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
const maxLine = 4000;

/** The next line of the pretend user, or null if there is nothing more to say. */
async function nextLine(
  ask: Ask,
  { persona, goal }: Pick<PlayedScenario, 'persona' | 'goal'>,
  said: Transcript['said'],
): Promise<string | null> {
  const values: Record<string, string> = { persona: oneLine(persona), goal: oneLine(goal) };
  const filled = prompt.replace(/\{\{(\w+)\}\}/g, (place, name: string) => values[name] ?? place);
  const messages = withRolesSwapped(said);
  const { says, is_done } = await ask({ purpose: 'pretend_user', prompt: filled, messages, schema, read: readLine });
  const line = storableText(says).trim();
  return line === '' || is_done ? null : line.slice(0, maxLine).toWellFormed();
}

type Line = z.output<typeof schema>;

/** Plain text from a model that writes no JSON is taken as the line. */
const readLine = (line: Line | null, _isLast: boolean, text: string) => ({
  value: line ?? { says: text, is_done: false },
});

/** Swaps the roles, since the model plays the user. Speakers alternate, as vendors require. */
function withRolesSwapped(said: Transcript['said']): Message[] {
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
