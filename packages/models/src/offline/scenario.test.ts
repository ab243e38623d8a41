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

  it('comes to an end with an agent that only asks', async () => {
    const messages: Message[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const { says, is_done } = await play(messages);
      if (is_done) return;
      messages.push(agent(says), user('Why?'));
    }
    throw new Error('the play did not end');
  });
});

describe('[MOD-012] judging a scenario', () => {
  const conversation = [
    'User: My lamp is broken.',
    'Agent: I am sorry. The refund of 20 dollars',
    'is on its way.',
    'Tool: refund_order {"status":"refunded"}',
  ].join('\n');
  const judge = (lines: string[]) => say('judge', [user([...lines, conversation].join('\n'))]);

  it.each([
    ['Criterion: The agent says that the refund is on its way', true],
    ['Criterion: A refund of 20 dollars is mentioned', true],
    ['Criterion: The agent offers a voucher for the next purchase', false],
    ['Criterion: The user says the lamp arrived in pieces yesterday', false],
    ['Criterion: The agent does not offer a voucher', true],
    ['Criterion: The agent answers', false],
  ])('%s: %s', async (line, met) => {
    const { criteria } = await judge([line]);
    expect(criteria).toMatchObject([{ text: line.replace('Criterion: ', ''), met }]);
    expect(criteria[0].reason).not.toBe('');
  });

  it.each([
    ['Must never: promise a refund', true],
    ['Must never: insult the customer', false],
  ])('%s: %s', async (line, broken) => {
    expect((await judge([line])).must_never).toMatchObject([{ broken }]);
  });

  it('gives the verdict in the shape that is asked for', async () => {
    const row = {
      type: 'object',
      properties: { met: { type: 'boolean' }, reason: { type: 'string' } },
      required: ['met', 'reason'],
      additionalProperties: false,
    };
    const outputSchema = {
      type: 'object',
      properties: {
        criteria: { type: 'array', items: { ...row, properties: { ...row.properties, text: { type: 'string' } } } },
      },
      required: ['criteria'],
      additionalProperties: false,
    };
    const prompt = `Criterion: The refund is on its way\nCriterion: A voucher is offered\n${conversation}`;
    const { criteria, ...rest } = await say('judge', [user(prompt)], { outputSchema });
    expect(criteria).toMatchObject([{ met: true }, { met: false }]);
    expect(rest).toEqual({});
  });
});
