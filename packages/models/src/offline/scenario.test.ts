import type { Message } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';
import { describe, expect, it } from 'vitest';
import { goalReached, judgesConversation, playsUser } from './markers.ts';
import { createOfflineModel } from './offline-model.ts';

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });
const agent = (text: string): Message => ({ role: 'agent', text, calls: [] });

async function say(system: string, messages: Message[], request: Partial<ModelRequest> = {}): Promise<string> {
  let text = '';
  const signal = new AbortController().signal;
  const stream = createOfflineModel().stream({
    model: 'offline',
    system: [system],
    messages,
    tools: [],
    signal,
    ...request,
  });
  for await (const event of stream) if (event.type === 'text') text += event.text;
  return text;
}

describe('[MOD-012] playing the user of a scenario', () => {
  const prompt = `${playsUser}\nPersona: Ada, a hurried customer. Her order number is ORD-7.\nGoal: Get a refund for my broken lamp.`;

  it.each<[string, Message[], string]>([
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
      goalReached,
    ],
  ])('%s', async (_name, messages, line) => {
    expect(await say(prompt, messages)).toBe(line);
  });

  it('comes to an end with an agent that only asks', async () => {
    const messages: Message[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const line = await say(prompt, messages);
      if (line === goalReached) return;
      messages.push(agent(line), user('Why?'));
    }
    throw new Error('the play did not end');
  });

  it('answers in the shape that is asked for', async () => {
    const outputSchema = {
      type: 'object',
      properties: { message: { type: 'string' }, done: { type: 'boolean' } },
      required: ['message', 'done'],
    };
    expect(JSON.parse(await say(prompt, [], { outputSchema }))).toEqual({
      message: 'Get a refund for my broken lamp.',
      done: false,
    });
  });
});

describe('[MOD-012] judging a scenario', () => {
  const conversation = [
    'User: My lamp is broken.',
    'Agent: I am sorry. The refund of 20 dollars',
    'is on its way.',
    'Tool: refund_order {"status":"refunded"}',
  ].join('\n');
  const judge = async (lines: string[]) =>
    JSON.parse(await say(judgesConversation, [user([...lines, conversation].join('\n'))]));

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
    const { criteria, ...rest } = JSON.parse(await say(judgesConversation, [user(prompt)], { outputSchema }));
    expect(criteria).toMatchObject([{ met: true }, { met: false }]);
    expect(rest).toEqual({});
  });
});
