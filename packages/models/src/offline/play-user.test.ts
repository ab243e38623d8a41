import type { Message } from '@vestra/agent/message';
import type { ModelRequest, Purpose } from '@vestra/agent/model';
import { describe, expect, it } from 'vitest';
import { createOfflineModel } from './offline-model.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });
const agent = (text: string): Message => ({ role: 'agent', text, calls: [] });

async function say(purpose: Purpose, messages: Message[], request: Partial<ModelRequest> = {}) {
  let text = '';
  const signal = new AbortController().signal;
  const stream = createOfflineModel().stream({
    model: 'offline',
    purpose,
    system: [],
    messages,
    tools: [],
    signal,
    ...request,
  });
  for await (const event of stream) if (event.type === 'text') text += event.text;
  return JSON.parse(text);
}

describe('[MOD-012] playing the user of a scenario', () => {
  const prompt = 'Persona: Ada, a hurried customer. Her order number is ORD-7.\nGoal: Get a refund for my broken lamp.';
  const play = (messages: Message[]) => say('pretend_user', messages, { system: [prompt] });

  it.each<[string, Message[], string | null]>([
    ['begins with the goal', [], 'Get a refund for my broken lamp.'],
    [
      'answers a question with what it knows',
      [agent('Get a refund for my broken lamp.'), user('What is your order number?')],
      'Her order number is ORD-7.',
    ],
    ['agrees', [agent('Get a refund for my broken lamp.'), user('Shall I send the money back?')], 'Yes, please.'],
    [
      'ends when nothing is asked',
      [agent('Get a refund for my broken lamp.'), user('The refund is on its way.')],
      null,
    ],
  ])('%s', async (_name, messages, line) => {
    expect(await play(messages)).toEqual({ says: line ?? '', is_done: line === null });
  });

  it('ends with an agent that only asks questions', async () => {
    const messages: Message[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const { says, is_done } = await play(messages);
      if (is_done) return;
      messages.push(agent(says), user('Why?'));
    }
    throw new Error('the play did not end');
  });
});
