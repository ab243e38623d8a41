import type { AgentMessage, Message, Reasoning, ToolCall } from '@vestra/agent/message';
import type { ModelEvent, ModelRequest } from '@vestra/agent/model';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createModels } from '../../models.ts';
import { flatPrice, type PlacedModel } from '../../prices.ts';
import type { NormalisedRequest, ScriptedAnswer } from '../../testing/scripted-answer.ts';
import { type ScriptedModelServer, startScriptedModelServer } from '../../testing/scripted-server.ts';
import { messagesFor } from '../messages.ts';
import { models, type RawVendor, sse, startRawEndpoint, weather, writing } from '../raw-endpoint.fixture.ts';
import { mostReasoningBytes, reasoningOf } from '../reasoning.ts';
import { openVendor } from '../vendor.ts';
import { wireNames } from '../wire-names.ts';
import { anthropicWire, bindsThinking } from './anthropic.ts';
import { emptyAnswer, type WireRequest } from './wire.ts';

let server: ScriptedModelServer;
let raw: Awaited<ReturnType<typeof startRawEndpoint>>;
let answers: ScriptedAnswer[] = [];
let seen: NormalisedRequest[] = [];
beforeAll(async () => {
  raw = await startRawEndpoint();
  server = await startScriptedModelServer({
    respond: (request) => {
      seen.push(request);
      return answers.shift() ?? { text: 'Done.' };
    },
  });
});
beforeEach(() => {
  answers = [];
  seen = [];
});
afterAll(() => Promise.all([server.close(), raw.close()]));

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

type Heard = { text: string; calls: ToolCall[]; reasoning: Reasoning | null };

async function hear(stream: AsyncIterable<ModelEvent>): Promise<Heard> {
  const heard: Heard = { text: '', calls: [], reasoning: null };
  for await (const event of stream) {
    if (event.type === 'text') heard.text += event.text;
    else if (event.type === 'call') heard.calls.push(event.call);
    else if (event.type === 'end') heard.reasoning = event.reasoning ?? null;
  }
  return heard;
}

const ask = (vendor: RawVendor, messages: readonly Message[], model = scriptedModel(vendor)) =>
  hear(createModels(server.settings, { firstPauseMs: 1 }).model(model).stream(requestOf(model, messages)));

const scriptedModel = (vendor: RawVendor) => (vendor === 'compatible' ? 'compatible/scripted' : models[vendor]);

const requestOf = (model: string, messages: readonly Message[]): ModelRequest => ({
  model,
  system: ['Be brief.'],
  messages,
  tools: [weather],
  signal: new AbortController().signal,
});

let ids = 0;
/** An answer as the loop stores it: with the run's ids, and through a database. */
function kept({ text, calls, reasoning }: Heard): AgentMessage {
  return JSON.parse(
    JSON.stringify({
      role: 'agent',
      text,
      reasoning,
      calls: calls.map((call) => ({ ...call, id: `call_own_${ids++}` })),
    }),
  ) as AgentMessage;
}

const resultsOf = ({ calls }: AgentMessage): Message => ({
  role: 'tool',
  results: calls.map(({ id, name }) => ({ callId: id, name, output: 'rain', isError: false })),
});

const call = (city: string) => ({ id: `toolu_${city}`, name: 'get_weather', arguments: { city } });

/** A turn of two steps with tools, and the answer. */
async function turn(vendor: RawVendor) {
  answers = [
    { thinking: 'Oslo first.', text: 'I look.', calls: [call('Oslo'), call('Rome')] },
    { thinking: 'Now Bonn.', calls: [call('Bonn')] },
    { thinking: 'Rain everywhere.', text: 'Rain.' },
  ];
  const messages: Message[] = [user('Where does it rain?')];
  for (let step = 0; step < 3; step++) {
    const answer = kept(await ask(vendor, messages));
    messages.push(answer, ...(answer.calls.length > 0 ? [resultsOf(answer)] : []));
  }
  return messages;
}

const vendors: RawVendor[] = ['anthropic', 'openai', 'google', 'compatible'];

describe.each(vendors)('%s', (vendor) => {
  it('accepts all its reasoning back, between steps and in the next turn, on the first attempt [RSN-001]', async () => {
    const messages = await turn(vendor);
    expect((await ask(vendor, [...messages, user('And tomorrow?')])).text).toBe('Done.');
    expect(seen.map(({ count }) => count - (seen[0]?.count ?? 0))).toEqual([0, 1, 2, 3]);
    const { body } = seen.at(-1) as NormalisedRequest;
    const thoughts = messages.flatMap((message) => (message.role === 'agent' ? [message.reasoning] : []));
    expect(thoughts.every((each) => each !== null)).toBe(true);
    const sent = JSON.stringify(body);
    const sealed = vendor === 'compatible' ? ['Oslo first.', 'Now Bonn.'] : sealsIn(thoughts);
    expect(sealed.length).toBeGreaterThanOrEqual(2);
    for (const seal of sealed) expect(sent).toContain(JSON.stringify(seal).slice(1, -1));
  });

  it('receives no reasoning of another model [RSN-002]', async () => {
    const messages = await turn(vendor);
    const changed = messages.map((message) =>
      message.role === 'agent' && message.reasoning
        ? { ...message, reasoning: { ...message.reasoning, model: 'anthropic/another' } }
        : message,
    );
    seen = [];
    await ask(vendor, [...changed, user('And tomorrow?')]);
    const thoughts = messages.flatMap((message) => (message.role === 'agent' ? [message.reasoning] : []));
    const sent = JSON.stringify(seen[0]?.body);
    for (const seal of [...sealsIn(thoughts), 'Oslo first.']) expect(sent).not.toContain(seal);
    expect(seen[0]?.messages.filter(({ role }) => role === 'tool')).toHaveLength(2);
  });

  it('stores no more than the limit, and never a part [RSN-004]', async () => {
    answers = [{ thinking: 'x'.repeat(mostReasoningBytes + 1), text: 'I look.', calls: [call('Oslo')] }];
    const answer = await ask(vendor, [user('Hi')]);
    expect(answer).toMatchObject({ text: 'I look.', calls: [{ name: 'get_weather' }], reasoning: null });
  });
});

const sealsIn = (thoughts: readonly unknown[]): string[] => [
  ...new Set(JSON.stringify(thoughts).match(/[A-Za-z0-9+/]{40,}={0,2}/g) ?? []),
];

it.each(vendors.filter((vendor) => vendor !== 'compatible'))(
  '%s: retries once without reasoning if it was rejected [RSN-003]',
  async (vendor) => {
    const messages = await turn(vendor);
    const spoilt = JSON.parse(JSON.stringify(messages).replaceAll(/[A-Za-z0-9+/]{40,}={0,2}/g, 'AAAA')) as Message[];
    const before = seen.at(-1)?.count as number;
    seen = [];
    answers = [{ text: 'Snow.' }];
    expect((await ask(vendor, [...spoilt, user('And tomorrow?')])).text).toBe('Snow.');
    expect(seen.map(({ count }) => count)).toEqual([before + 2]);
    expect(JSON.stringify(seen[0]?.body)).not.toContain('AAAA');
  },
);

it('retries once with empty reasoning if an endpoint misses it [RSN-003]', async () => {
  const messages = await turn('compatible');
  const forgotten = messages.map((message) => (message.role === 'agent' ? { ...message, reasoning: null } : message));
  answers = [{ text: 'Snow.' }];
  expect((await ask('compatible', [...forgotten, user('And tomorrow?')])).text).toBe('Snow.');
  const sent = (seen.at(-1)?.body.messages ?? []) as Record<string, unknown>[];
  expect(sent.filter(({ tool_calls }) => tool_calls).map(({ reasoning_content }) => reasoning_content)).toEqual([
    '',
    '',
  ]);
});

it('does not retry a rejection for another reason [RSN-003]', async () => {
  answers = [{ fail: 400, failMessage: 'max_tokens is too large' }, { text: 'never' }];
  await expect(ask('anthropic', [user('Hi')])).rejects.toMatchObject({ reason: 'refused' });
  expect(seen).toHaveLength(1);
});

describe('[RSN-001] recorded shapes', () => {
  const replay = async (vendor: RawVendor, stream: string) => {
    raw.respond(writing([stream]));
    const answer = kept(await hear(raw.stream(vendor, { tools: [weather] })));
    await hear(raw.stream(vendor, { tools: [weather], messages: [user('Hi'), answer, resultsOf(answer)] }));
    return raw.bodies.at(-1) as { messages: object[]; input: object[]; contents: { parts: object[] }[] };
  };

  it('Anthropic: reasoning between texts and calls, redacted, and empty', async () => {
    const blocks = [
      { type: 'thinking', thinking: '', signature: 'sig-1' },
      { type: 'text', text: 'I look. ' },
      { type: 'redacted_thinking', data: 'hidden' },
      { type: 'text', text: 'Twice.' },
      { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } },
      { type: 'thinking', thinking: 'And Rome?', signature: 'sig-2' },
      { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Rome' } },
    ];
    const { messages } = await replay('anthropic', anthropicStream(blocks));
    expect(messages[1]).toEqual({ role: 'assistant', content: blocks });
    expect(messages[2]).toMatchObject({ content: [{ tool_use_id: 'toolu_1' }, { tool_use_id: 'toolu_2' }] });
  });

  it('OpenAI: several reasoning items, and the phase of a remark', async () => {
    const done = (item: object) => ({ type: 'response.output_item.done', item });
    const { input } = await replay(
      'openai',
      sse(
        done({ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA1', status: null }),
        { type: 'response.output_text.delta', delta: 'I look.' },
        done({
          type: 'message',
          id: 'msg_1',
          status: 'completed',
          phase: 'commentary',
          content: [{ type: 'output_text', text: 'I look.', annotations: [] }],
        }),
        done({
          type: 'reasoning',
          id: 'rs_2',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: 'gAAA2',
        }),
        done({
          type: 'function_call',
          id: 'fc_1',
          call_id: 'call_1',
          name: 'get_weather',
          arguments: '{"city":"Oslo"}',
        }),
        { type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 40 } } },
      ),
    );
    expect(input.slice(1)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA1' },
      { role: 'assistant', content: 'I look.', phase: 'commentary' },
      { type: 'reasoning', id: 'rs_2', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'gAAA2' },
      { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
    ]);
  });

  it('Google: a signature on its own text part, and on the first of two calls', async () => {
    const candidate = (parts: object[], more = {}) => ({ candidates: [{ content: { parts }, ...more }] });
    const { contents } = await replay(
      'google',
      sse(
        candidate([{ text: 'hm', thought: true }]),
        candidate([{ text: 'I ' }]),
        candidate([{ text: 'look.' }]),
        candidate([{ text: '', thoughtSignature: 'sig-1' }]),
        candidate(
          [
            { functionCall: { id: 'f1', name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'sig-2' },
            { functionCall: { id: 'f2', name: 'get_weather', args: { city: 'Rome' } } },
          ],
          { finishReason: 'STOP' },
        ),
      ),
    );
    expect(contents[1]?.parts).toEqual([
      { text: 'I look.' },
      { text: '', thoughtSignature: 'sig-1' },
      { functionCall: { id: 'f1', name: 'get_weather', args: { city: 'Oslo' } }, thoughtSignature: 'sig-2' },
      { functionCall: { id: 'f2', name: 'get_weather', args: { city: 'Rome' } } },
    ]);
  });

  it('OpenRouter: details in pieces, joined by number', async () => {
    const delta = (delta: object, more = {}) => ({ choices: [{ delta, ...more }] });
    const { messages } = await replay(
      'compatible',
      sse(
        delta({
          reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'Oslo ', format: 'f', signature: null }],
        }),
        delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'first.' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, signature: 'sig-1' }] }),
        delta({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'gAAA' }] }),
        delta({ tool_calls: [{ index: 0, id: 'c', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }] }),
        delta({}, { finish_reason: 'tool_calls' }),
        'data: [DONE]\n\n',
      ),
    );
    expect(messages[1]).toMatchObject({
      role: 'assistant',
      reasoning_details: [
        { type: 'reasoning.text', index: 0, text: 'Oslo first.', format: 'f', signature: 'sig-1' },
        { type: 'reasoning.encrypted', index: 1, data: 'gAAA' },
      ],
    });
  });
});

const anthropicStream = (blocks: readonly Record<string, unknown>[]) =>
  sse(
    { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
    ...blocks.flatMap((block, index) => eventsOf(block, index)),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  );

function eventsOf(block: Record<string, unknown>, index: number): object[] {
  const delta = (each: object) => ({ type: 'content_block_delta', index, delta: each });
  const start = (content_block: object) => ({ type: 'content_block_start', index, content_block });
  const stop = { type: 'content_block_stop', index };
  if (block.type === 'text')
    return [start({ type: 'text', text: '' }), delta({ type: 'text_delta', text: block.text }), stop];
  if (block.type === 'thinking') {
    const { thinking, signature } = block;
    const words = thinking === '' ? [] : [delta({ type: 'thinking_delta', thinking })];
    const seal = delta({ type: 'signature_delta', signature });
    return [start({ type: 'thinking', thinking: '', signature: '' }), ...words, seal, stop];
  }
  if (block.type === 'redacted_thinking') return [start(block), stop];
  const json = delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) });
  return [start({ ...block, input: {} }), json, stop];
}

it('sends an answer of any blocks back to Anthropic block by block [RSN-001]', () => {
  const text = fc.record({
    type: fc.constant('text'),
    text: fc.string({ minLength: 1 }).filter((each) => each.trim() !== ''),
  });
  const thought = fc.record({
    type: fc.constant('thinking'),
    thinking: fc.string(),
    signature: fc.string({ minLength: 1 }),
  });
  const used = fc.record({
    type: fc.constant('tool_use'),
    id: fc.uuid().map((id) => `toolu_${id}`),
    name: fc.constant('get_weather'),
    input: fc.dictionary(fc.constantFrom('a', 'b'), fc.integer(), { minKeys: 1 }),
  });
  const vendor = openVendor(server.settings, { ...anyModel, model: models.anthropic });
  fc.assert(
    fc.property(fc.array(fc.oneof(text, thought, used), { maxLength: 8 }), text, (some, last) => {
      const blocks = [...some, last] as Record<string, unknown>[];
      const answer = emptyAnswer();
      const read = anthropicWire.reader(answer, {} as WireRequest);
      for (const [index, block] of blocks.entries()) for (const event of eventsOf(block, index)) read(event);
      const calls = answer.calls.map(({ id, name, arguments: json }) => ({
        id: `own_${id}`,
        name,
        arguments: JSON.parse(json),
      }));
      const reasoning = reasoningOf(`anthropic/${models.anthropic}`, answer, {
        text: answer.text,
        callCount: calls.length,
      });
      fc.pre(reasoning !== null);
      const message: Message = { role: 'agent', text: answer.text, calls, reasoning };
      const [own] = messagesFor(vendor, wireNames([weather], 64), [message]);
      const body = anthropicWire.body({
        ...wireRequest,
        messages: own ? [own, ...messagesFor(vendor, wireNames([], 64), [user('x')])] : [],
      });
      expect((body as { messages: { content: object[] }[] }).messages[0]?.content).toEqual(blocks);
    }),
    { numRuns: 60 },
  );
});

const anyModel: PlacedModel = {
  id: 'any',
  model: 'any',
  endpoint: null,
  provider: 'anthropic',
  name: '',
  context_tokens: 1,
  input_tokens: null,
  max_output_tokens: 1,
  price: flatPrice(0, 0),
  priced: true,
  takes: ['text'],
  reasons: true,
  forces_tools: true,
  retires_on: null,
  replacement: null,
};
const wireRequest: WireRequest = {
  modelId: 'm',
  system: [],
  messages: [],
  tools: [],
  mustCallTool: false,
  output: { type: 'text' },
  maxOutputTokens: 100,
  reasoning: null,
  asksForReasoning: true,
  isReasoningLeftOut: false,
};

it.each([
  ['claude-fable-5-1', true],
  ['claude-opus-5-5', true],
  ['claude-haiku-6-0', true],
  ['anthropic.claude-sonnet-5-5-v1:0', true],
  ['claude-opus-5', false],
  ['claude-opus-5-20260901', false],
  ['claude-sonnet-4-5', false],
  ['claude-sonnet-4-5-20250929', false],
])(
  'asks %s to omit reasoning that no longer matches the preceding messages: %s [RSN-005]',
  async (modelId, isAsked) => {
    expect(bindsThinking(modelId)).toBe(isAsked);
    const body = anthropicWire.body({ ...wireRequest, modelId }) as { thinking?: unknown };
    expect(body.thinking).toEqual(
      isAsked ? { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } } : undefined,
    );
    const vendor = openVendor(server.settings, { ...anyModel, model: modelId });
    const headers = await vendor.headers({ url: '', body: '' });
    expect(headers['anthropic-beta']).toBe(isAsked ? 'thinking-binding-controls-2026-08-01' : undefined);
  },
);
