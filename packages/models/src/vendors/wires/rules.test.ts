import type { Message, ToolDefinition } from '@vestra/agent/message';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownModels } from '../../catalogue/own-models.ts';
import { createModels } from '../../models.ts';
import type { ModelSettings } from '../../settings.ts';
import { refusalByRule, vendorRules } from '../../testing/vendor-rules.ts';
import { outcomeOf, type RawVendor, sse, startRawEndpoint, weather, writing } from '../raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const answers = {
  openai: sse({ type: 'response.output_text.delta', delta: 'Hi' }, { type: 'response.completed', response: {} }),
  compatible: sse({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }),
};
const user = (...texts: string[]): Message => ({ role: 'user', parts: texts.map((text) => ({ kind: 'text', text })) });
const agent = (text: string): Message => ({ role: 'agent', text, calls: [] });
const called = (...ids: string[]): Message => ({
  role: 'agent',
  text: '',
  calls: ids.map((id) => ({ id, name: 'get_weather', arguments: {} })),
});
const results = (...ids: string[]): Message => ({
  role: 'tool',
  results: ids.map((callId) => ({ callId, name: 'get_weather', output: `result ${callId}`, isError: false })),
});

async function ask(vendor: 'openai' | 'compatible', request: Parameters<typeof endpoint.stream>[1]) {
  endpoint.respond(writing([answers[vendor]]));
  const outcome = await outcomeOf(endpoint.stream(vendor as RawVendor, request, { attempts: 1 }));
  return { outcome, bodies: [...endpoint.bodies] };
}

type ChatMessage = { role: string; content: unknown };
const messagesIn = (body: Record<string, unknown>) => body.messages as ChatMessage[];

describe('[MOD-631] the order of roles on chat completions', () => {
  const system = ['You are kind.', 'Answer in Dutch.', 'It is Tuesday.'];

  it.each<[string, Message[], string[]]>([
    ['a first message', [user('Hi')], ['system', 'user']],
    ['a message in two parts', [user('Hi', 'Time: 9:00')], ['system', 'user']],
    ['two messages of the user', [user('Hi'), user('Are you there?')], ['system', 'user']],
    ['two answers', [user('Hi'), agent('One.'), agent('Two.'), user('Go')], ['system', 'user', 'assistant', 'user']],
    [
      'an answer before a call',
      [user('Hi'), agent('I look.'), called('a'), results('a')],
      ['system', 'user', 'assistant', 'tool'],
    ],
    [
      'a note after results',
      [user('Hi'), called('a', 'b'), results('a', 'b'), user('A note.')],
      ['system', 'user', 'assistant', 'tool', 'tool', 'assistant', 'user'],
    ],
    [
      'a conversation that begins with a call',
      [called('a'), results('a'), user('Do it')],
      ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
    ],
    ['an agent that speaks first and last', [agent('Welcome.')], ['system', 'user', 'assistant', 'user']],
  ])('is one that every chat template accepts: %s', async (_what, messages, roles) => {
    const { outcome, bodies } = await ask('compatible', { system, messages, tools: [weather] });
    expect(outcome).toMatchObject({ text: 'Hi', failure: null });
    expect(bodies.map((body) => messagesIn(body).map(({ role }) => role))).toEqual([roles]);
    const [first] = bodies.flatMap(messagesIn);
    expect(first?.content).toBe('You are kind.\n\nAnswer in Dutch.\n\nIt is Tuesday.');
  });

  it('holds for every conversation and loses no text', async () => {
    let count = 0;
    const text = fc.constant(null).map(() => `text ${++count};`);
    const exchange = fc.oneof(
      text.map((words) => [user(words)]),
      text.map((words) => [agent(words)]),
      fc.constantFrom(1, 2).map((calls) => {
        const ids = Array.from({ length: calls }, () => `call_${++count}`);
        return [called(...ids), results(...ids)];
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(exchange, { minLength: 1, maxLength: 8 }), async (exchanges) => {
        const messages = exchanges.flat();
        const { outcome, bodies } = await ask('compatible', { system, messages, tools: [weather] });
        expect(outcome).toMatchObject({ text: 'Hi', failure: null });
        const said = JSON.stringify(messages).match(/text \d+;|result call_\d+/g) ?? [];
        expect(JSON.stringify(bodies[0]).match(/text \d+;|result call_\d+/g) ?? []).toEqual(said);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps the parts of a message with a picture, and one text otherwise', async () => {
    const image = { kind: 'file' as const, filename: 'a.png', mediaType: 'image/png', bytes: new Uint8Array(4) };
    const { bodies } = await ask('compatible', { messages: [user('One', 'two'), user('three')] });
    expect(bodies[0]?.messages).toEqual([{ role: 'user', content: 'One\n\ntwo\n\nthree' }]);
    const shown = await ask('compatible', { messages: [user('One'), { role: 'user', parts: [image] }] });
    expect(shown.outcome.failure).toBeNull();
  });
});

describe('[MOD-632] the schema of a tool', () => {
  const tool = (inputSchema: ToolDefinition['inputSchema']) => ({ ...weather, inputSchema });
  const nested = {
    type: 'object',
    properties: {
      type: { type: 'string' },
      filter: { type: 'object', additionalProperties: { type: 'object' } },
      list: { type: 'array', items: { type: ['object', 'null'] } },
      either: { anyOf: [{ type: 'object' }, { type: 'string' }] },
      referred: { $ref: '#/$defs/bare' },
    },
    $defs: { bare: { type: 'object' } },
  };

  it.each([
    ['openai', 'without parameters', { type: 'object' }],
    ['openai', 'with bare objects inside', nested],
    ['openai', 'without a type', {}],
    ['openai', 'with properties and without a type', { properties: { a: { type: 'string' } } }],
    ['compatible', 'without parameters', { type: 'object' }],
    ['compatible', 'with bare objects inside', nested],
    ['compatible', 'without a type', {}],
  ] as const)('is accepted by %s: a tool %s', async (vendor, _what, inputSchema) => {
    const { outcome, bodies } = await ask(vendor, { tools: [tool(inputSchema)] });
    expect([outcome.failure, bodies.length]).toEqual([null, 1]);
    type SentTool = { parameters?: object; function?: { parameters: object } };
    const [sent] = bodies.flatMap(({ tools }) => tools as SentTool[]);
    expect(sent?.parameters ?? sent?.function?.parameters).toMatchObject({ type: 'object', properties: {} });
  });
});

describe('[MOD-633] encrypted reasoning', () => {
  const none = { anthropic: null, openai: null, google: null, compatible: null, own: [], defaultModel: null };
  const named = (id: string): ModelSettings => ({
    ...none,
    openai: { apiKey: () => 'sk-x', baseUrl: `${endpoint.url}/v1` },
    own: ownModels([{ id, provider: 'openai' }], () => undefined),
  });
  const asking = (id: string) => {
    const model = createModels(named(id), { attempts: 1 }).model(id);
    return () =>
      outcomeOf(
        model.stream({
          model: id,
          system: [],
          messages: [user('Hi')],
          tools: [],
          signal: new AbortController().signal,
        }),
      );
  };
  const includes = () => endpoint.bodies.map(({ include }) => include !== undefined);

  it.each([
    ['gpt-4.1', false],
    ['gpt-4o-mini', false],
    ['gpt-5-chat-latest', false],
    ['gpt-5-mini', true],
    ['o4-mini', true],
  ])('is requested from %s only if it reasons: %s', async (id, isAsked) => {
    endpoint.respond(writing([answers.openai]));
    expect(await asking(id)()).toMatchObject({ text: 'Hi', failure: null });
    expect(includes()).toEqual([isAsked]);
  });

  /** A deployment whose name does not identify the model. */
  const refusing = (message: string) =>
    endpoint.respond((request, response) => {
      const { include } = endpoint.bodies.at(-1) ?? {};
      if (include === undefined) return void writing([answers.openai])(request, response);
      const error = { message, type: 'invalid_request_error', param: 'include', code: null };
      response.writeHead(400).end(JSON.stringify({ error }));
    });

  it('is not requested again from a model that rejected it once', async () => {
    refusing('Encrypted content is not supported with this model.');
    const ask = asking('prod');
    for (let turn = 0; turn < 2; turn++) expect(await ask()).toMatchObject({ text: 'Hi', failure: null });
    expect(includes()).toEqual([true, false, false]);
  });

  it('is requested again from a model that rejected only earlier reasoning', async () => {
    refusing('The encrypted content gAAA could not be verified.');
    const ask = asking('prod');
    for (let turn = 0; turn < 2; turn++) expect(await ask()).toMatchObject({ text: 'Hi', failure: null });
    expect(includes()).toEqual([true, false, true, false]);
  });
});

type RuleCase = [keyof typeof vendorRules, string, Record<string, unknown>];
const said = { role: 'user', content: 'x' };
const withProperty = (node: object) => ({ type: 'object', properties: { a: node } });
const openaiTool = (parameters: object, description = '') => ({
  messages: [said],
  tools: [{ name: 'x', parameters, description }],
});
const anthropicTool = (input_schema: object) => ({ tools: [{ name: 'x', input_schema }] });
const strictAnswer = (node: object) => ({
  text: { format: { strict: true, schema: { ...withProperty(node), required: ['a'], additionalProperties: false } } },
});
const googlePath = '/v1beta/models/gemini-3:streamGenerateContent?alt=sse';

it.each<RuleCase>([
  [
    'vertexKnowsNoCallIds',
    '/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    { contents: [{ parts: [{ functionCall: { id: 'a', name: 'b' } }] }] },
  ],
  ['systemComesFirst', '/v1/chat/completions', { messages: ['system', 'system', 'user'].map((role) => ({ role })) }],
  ['aUserSpeaks', '/v1/chat/completions', { messages: [{ role: 'system', content: 'x' }] }],
  ['rolesAlternate', '/v1/chat/completions', { messages: ['user', 'user'].map((role) => ({ role, content: 'x' })) }],
  [
    'assistantFollowsTools',
    '/v1/chat/completions',
    {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'assistant', tool_calls: [{}] },
        { role: 'tool', content: 'x' },
        { role: 'user', content: 'x' },
      ],
    },
  ],
  [
    'assistantIsNotLast',
    '/v1/chat/completions',
    { messages: ['user', 'assistant'].map((role) => ({ role, content: 'x' })) },
  ],
  ['contentIsNotEmpty', '/v1/chat/completions', { messages: [{ role: 'user', content: ' ' }] }],
  ['objectsHaveProperties', '/v1/responses', { tools: [{ name: 'x', parameters: { type: 'object' } }] }],
  [
    'descriptionsAreShort',
    '/v1/responses',
    { tools: [{ name: 'x', description: 'x'.repeat(1025), parameters: { type: 'object', properties: {} } }] },
  ],
  ['reasoningIsOfReasoningModels', '/v1/responses', { model: 'gpt-4o', include: ['reasoning.encrypted_content'] }],
  ['openaiRoots', '/v1/responses', openaiTool({ type: 'object', properties: {}, anyOf: [{}] })],
  ['openaiArraysHaveItems', '/v1/chat/completions', openaiTool(withProperty({ type: 'array' }))],
  ['openaiDescriptionsAreShort', '/v1/responses', openaiTool(withProperty({}), 'x'.repeat(1_025))],
  ['openaiKnowsNineFormats', '/v1/responses', openaiTool(withProperty({ type: 'string', format: 'uri' }))],
  ...[
    { format: 'uri' },
    { minLength: 1 },
    { $ref: '#/$defs/b', description: 'x' },
    { type: 'object', properties: {} },
  ].map((node): RuleCase => ['strictSchemas', '/v1/responses', strictAnswer({ type: 'string', ...node })]),
  [
    'strictSchemas',
    '/v1/chat/completions',
    { messages: [said], response_format: { json_schema: { strict: true, schema: { const: 1 } } } },
  ],
  ['anthropicRoots', '/v1/messages', anthropicTool({ type: 'object', oneOf: [{}] })],
  ['anthropicRoots', '/model/x/invoke-with-response-stream', anthropicTool({ properties: {} })],
  ['anthropicKeys', '/v1/models/claude:streamRawPredict', anthropicTool({ type: 'object', properties: { $top: {} } })],
  ...[{ items: [{}] }, { exclusiveMinimum: true }, { required: true }, { type: 'any' }, { $ref: '#/$defs/none' }].map(
    (node): RuleCase => ['anthropicDraft', '/v1/messages', anthropicTool(withProperty(node))],
  ),
  ['anthropicPatterns', '/v1/messages', anthropicTool(withProperty({ patternProperties: { '^(.*)$': {} } }))],
  [
    'googleReferences',
    googlePath,
    { generationConfig: { responseJsonSchema: withProperty({ $ref: '#/$defs/b', title: 'x' }) } },
  ],
  [
    'googleRequired',
    googlePath,
    { tools: [{ functionDeclarations: [{ parametersJsonSchema: { ...withProperty({}), required: ['b'] } }] }] },
  ],
  ['mistralKnowsNoStreamOptions', '/mistral/v1/chat/completions', { messages: [said], stream_options: {} }],
  [
    'mistralCallIds',
    '/mistral/v1/chat/completions',
    { messages: [said, { role: 'assistant', tool_calls: [{ id: 'call_1' }] }] },
  ],
  ['reasoningModelsCountCompletionTokens', '/v1/chat/completions', { messages: [said], model: 'gpt-5', max_tokens: 1 }],
])('a test server refuses what breaks the rule %s [MOD-635]', (rule, path, body) => {
  const broken = vendorRules[rule].fault(body);
  expect(broken).not.toBeNull();
  expect(refusalByRule(path, body)?.status).toBe(vendorRules[rule].status);
});
