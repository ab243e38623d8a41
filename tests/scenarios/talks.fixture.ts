import type { NormalisedRequest, ScriptedAnswer } from '@vestra/models/testing/scripted-answer';
import { expect } from 'vitest';
import type { Talk } from './conversations.fixture.ts';

/** One message of a conversation: the model's answers in order, and those to its interactions. */
export type Turn = {
  says: string;
  /** More of the message: attachments, tools, `hand_off`. */
  with?: Record<string, unknown>;
  /** One for each time the model is asked; a turn that needs more is a fault of the talk. */
  model: readonly ScriptedAnswer[];
  /** Results of the company's functions, in order. */
  functions?: readonly unknown[];
  /** The person's answers to interactions. */
  answers?: readonly (string | boolean)[];
  /** Once the model has been asked for the last time, and hangs. */
  isStopped?: true;
};

/** Plays the turns one after the other and answers the last request of the model, as it was sent. */
export async function play(
  talk: Talk,
  id: string,
  turns: readonly Turn[],
  key = talk.testKey,
): Promise<NormalisedRequest> {
  let last: NormalisedRequest | undefined;
  for (const turn of turns) last = await playTurn(talk, id, turn, key);
  if (!last) throw new Error('Nothing was said.');
  return last;
}

export async function playTurn(talk: Talk, id: string, turn: Turn, key: string): Promise<NormalisedRequest> {
  const asked: NormalisedRequest[] = [];
  talk.script((request) => {
    asked.push(request);
    const answer = turn.model[asked.length - 1];
    if (!answer) throw new Error(`“${turn.says}” asks the model ${asked.length} times.`);
    return answer;
  });
  const sent = await talk.send(id, { message: turn.says, ...turn.with }, { key });
  if (sent.status !== 202) throw new Error(sent.text);
  const functions = [...(turn.functions ?? [])];
  const answers = [...(turn.answers ?? [])];
  if (turn.isStopped) {
    await talk.until(`/v1/conversations/${id}`, () => asked.length === turn.model.length, key);
    await talk.call('POST', `/v1/conversations/${id}/stop`, { key });
  }
  while (functions.length > 0 || answers.length > 0) {
    const shown = await talk.until(
      `/v1/conversations/${id}`,
      ({ pending_tool_calls, open_interactions }) => pending_tool_calls.length > 0 || open_interactions.length > 0,
      key,
    );
    if (shown.pending_tool_calls.length > 0) {
      const tool_results = shown.pending_tool_calls.map(({ call_id }: { call_id: string }) => ({
        call_id,
        output: functions.shift(),
      }));
      await talk.send(id, { tool_results }, { key });
      continue;
    }
    const answer = answers.shift();
    const [{ interaction_id }] = shown.open_interactions;
    await talk.call('POST', `/v1/interactions/${interaction_id}/answer`, {
      key,
      body: typeof answer === 'boolean' ? { approve: answer, present_user: answer } : { answers: [answer] },
    });
  }
  await talk.until(`/v1/conversations/${id}`, () => asked.length >= turn.model.length, key);
  if (!turn.isStopped) await talk.until(`/v1/conversations/${id}`, isQuiet, key);
  const last = asked.at(-1);
  if (!last) throw new Error(`“${turn.says}” did not reach the model.`);
  return last;
}

/** Nothing is made any more; what waits for a person may. */
const isQuiet = ({ status }: { status: string }) => status === 'idle' || status === 'waiting';

export const called = (name: string, given: unknown = {}): ScriptedAnswer => ({ calls: [{ name, arguments: given }] });
export const says = (text: string): ScriptedAnswer => ({ text });

/** All that the model reads of the conversation, as one text. */
export const readBy = ({ messages, passing, system }: NormalisedRequest): string =>
  [
    ...messages.flatMap((message) => {
      if (message.role === 'tool') return message.results.map(({ output }) => output);
      if (message.role === 'user') return [message.text, ...message.files.map(({ mediaType }) => `[${mediaType}]`)];
      return [message.text, ...message.calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`)];
    }),
    passing,
    system.at(-1) ?? '',
  ].join('\n');

/** Every call has its result right behind it, and no result stands without its call. */
export function unpaired({ messages }: NormalisedRequest): string[] {
  return messages.flatMap((message, at) => {
    if (message.role === 'tool') {
      const before = messages[at - 1];
      const calls = before?.role === 'agent' ? before.calls.map(({ id }) => id) : [];
      return message.results.filter(({ callId }) => !calls.includes(callId)).map(({ callId }) => callId);
    }
    if (message.role !== 'agent' || message.calls.length === 0) return [];
    const after = messages[at + 1];
    const results = after?.role === 'tool' ? after.results.map(({ callId }) => callId) : [];
    return message.calls.filter(({ id }) => !results.includes(id)).map(({ id }) => id);
  });
}

/** Expects the request to contain every needed text, no forbidden one, and a result for each call. */
export function expectToKnow(
  request: NormalisedRequest,
  needed: readonly (string | RegExp)[],
  not: readonly (string | RegExp)[],
): void {
  const read = readBy(request);
  for (const each of needed) expect(read).toMatch(patternOf(each));
  for (const each of not) expect(read).not.toMatch(patternOf(each));
  expect(unpaired(request)).toEqual([]);
}

const patternOf = (wanted: string | RegExp) =>
  typeof wanted === 'string' ? new RegExp(wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : wanted;
