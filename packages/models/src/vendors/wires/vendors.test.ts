import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  called,
  freeKeys,
  outcomeOf,
  type RawVendor,
  type StreamCase,
  sse,
  startRawEndpoint,
  used,
  weather,
  writing,
} from '../raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const tools = [weather];
const opened = {
  type: 'message_start',
  message: { usage: { input_tokens: 3, output_tokens: 1, cache_read_input_tokens: 2 } },
};
const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];
const text = (index: number, words: string) =>
  block(index, { type: 'text', text: '' }, { type: 'text_delta', text: words });
const toolUse = (index: number, id: string, name: string, ...pieces: string[]) =>
  block(
    index,
    { type: 'tool_use', id, name, input: {} },
    ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );
const closed = (stop_reason: string, usage: object = {}) => [
  { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 9, ...usage } },
  { type: 'message_stop' },
];
const anthropicError = (type: string, message = '') => ({ type: 'error', error: { type, message } });

const anthropic: StreamCase[] = [
  {
    name: 'kinds of events and blocks that nobody knows yet',
    stream: sse(
      opened,
      { type: 'news', delta: { text: 'x' } },
      ...block(0, { type: 'poem' }),
      ...text(1, 'Hi'),
      ...closed('end_turn'),
    ),
    expected: { text: 'Hi', end: used(3, 9, 2) },
  },
  {
    name: 'thoughts',
    stream: sse(
      opened,
      ...block(
        0,
        { type: 'thinking' },
        { type: 'thinking_delta', thinking: 'hm' },
        { type: 'signature_delta', signature: 's' },
      ),
      ...block(1, { type: 'redacted_thinking', data: 'x' }),
      ...text(2, 'Hi'),
      ...closed('end_turn'),
    ),
    expected: { text: 'Hi', failure: null },
  },
  {
    name: 'counts that grow',
    stream: sse(opened, ...text(0, 'Hi'), ...closed('end_turn', { input_tokens: 30, cache_creation_input_tokens: 5 })),
    expected: { end: used(30, 9, 2, 5) },
  },
  {
    name: 'what was written to be kept for an hour',
    stream: sse(
      opened,
      ...text(0, 'Hi'),
      ...closed('end_turn', {
        cache_creation_input_tokens: 50,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
      }),
    ),
    expected: {
      end: {
        ...used(3, 9, 2, 20),
        usage: { inputTokens: 3, outputTokens: 9, cacheReadTokens: 2, cacheWriteTokens: 20, cacheWriteLongTokens: 30 },
      },
    },
  },
  {
    name: 'calls whose pieces come in turns',
    stream: sse(
      opened,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'a', name: 'get_weather', input: {} },
      },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'b', name: 'get_weather', input: {} },
      },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"n":1}' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"n":0}' } },
      ...closed('tool_use'),
    ),
    expected: { calls: [called('a', { n: 0 }), called('b', { n: 1 })] },
  },
  {
    name: 'arguments that come whole, and none',
    stream: sse(
      opened,
      ...block(0, { type: 'tool_use', id: 'a', name: 'get_weather', input: { n: 0 } }),
      ...toolUse(1, 'b', 'get_weather', ''),
      ...closed('tool_use'),
    ),
    expected: { calls: [called('a', { n: 0 }), called('b', {})] },
  },
  {
    name: 'a full window',
    stream: sse(opened, ...closed('model_context_window_exceeded')),
    expected: { end: { cut: true } },
  },
  {
    name: 'no last event',
    stream: sse(opened, ...text(0, 'Hi'), ...closed('end_turn').slice(0, 1)),
    expected: { text: 'Hi', failure: 'unavailable' },
  },
  { name: 'nothing at all', stream: '', expected: { failure: 'unavailable' } },
  {
    name: 'an overload',
    stream: sse(opened, ...text(0, 'H'), anthropicError('overloaded_error')),
    expected: { text: 'H', failure: 'unavailable' },
  },
  {
    name: 'a rate limit',
    stream: sse(opened, anthropicError('rate_limit_error')),
    expected: { failure: 'rate_limited' },
  },
  {
    name: 'a prompt too long',
    stream: sse(anthropicError('invalid_request_error', 'prompt is too long')),
    expected: { failure: 'too_long' },
  },
  {
    name: 'the answer as arguments, after chatter and beside another call',
    request: { outputSchema: freeKeys, tools },
    stream: sse(
      opened,
      ...text(0, 'Well'),
      ...toolUse(1, 'a', 'json', '{"a":', '{}}'),
      ...toolUse(2, 'b', 'get_weather', '{"n":1}'),
      ...closed('tool_use'),
    ),
    expected: { text: '{"a":{}}', calls: [called('b', { n: 1 })], failure: null },
  },
  {
    name: 'the answer as text where it was asked for as arguments',
    request: { outputSchema: freeKeys },
    stream: sse(opened, ...text(0, '{"a":{}}'), ...closed('end_turn')),
    expected: { text: '{"a":{}}', calls: [], failure: null },
  },
];

const item = (index: number, call_id: string, name: string, json: string) => [
  {
    type: 'response.output_item.added',
    output_index: index,
    item: { type: 'function_call', call_id, name, arguments: '' },
  },
  { type: 'response.function_call_arguments.delta', output_index: index, delta: json },
  {
    type: 'response.output_item.done',
    output_index: index,
    item: { type: 'function_call', call_id, name, arguments: json },
  },
];
const words = (delta: string) => ({ type: 'response.output_text.delta', output_index: 0, delta });
const usage = { input_tokens: 20, input_tokens_details: { cached_tokens: 4, cache_write_tokens: 6 }, output_tokens: 5 };
const completed = { type: 'response.completed', response: { usage } };
const incomplete = (reason: string) => ({
  type: 'response.incomplete',
  response: { usage, incomplete_details: { reason } },
});
const failedResponse = (error: object | null) => ({ type: 'response.failed', response: { error } });
const parallel = (name: string) =>
  JSON.stringify({ tool_uses: [1, 2].map((n) => ({ recipient_name: `functions.${name}`, parameters: { n } })) });

const openai: StreamCase[] = [
  {
    name: 'counts of the cache',
    stream: sse(words('Hi'), completed),
    expected: { text: 'Hi', end: used(10, 5, 4, 6) },
  },
  {
    name: 'thoughts',
    stream: sse(
      { type: 'response.reasoning_summary_text.delta', delta: 'hm' },
      words('Hi'),
      completed,
      'data: [DONE]\n\n',
    ),
    expected: { text: 'Hi', failure: null },
  },
  {
    name: 'several calls in one',
    request: { tools },
    stream: sse(...item(0, 'a', 'parallel', parallel('get_weather')), completed),
    expected: { calls: [called('a_0', { n: 1 }), called('a_1', { n: 2 })] },
  },
  {
    name: 'several calls in one, of tools that there are not',
    request: { tools },
    stream: sse(...item(0, 'a', 'parallel', parallel('nothing')), completed),
    expected: { calls: [{ id: 'a', name: 'parallel' }] },
  },
  {
    name: 'a call that the limit cut off',
    request: { tools },
    stream: sse(
      ...item(0, 'a', 'get_weather', '{"n":0}'),
      ...item(1, 'b', 'get_weather', '{"n"').slice(0, 2),
      incomplete('max_output_tokens'),
    ),
    expected: { calls: [called('a', { n: 0 })], end: { cut: true } },
  },
  {
    name: 'a refusal',
    stream: sse({ type: 'response.refusal.delta', delta: 'No' }, completed),
    expected: { text: 'No', failure: 'refused' },
  },
  {
    name: 'a refusal beside a call',
    request: { tools },
    stream: sse({ type: 'response.refusal.delta', delta: 'No' }, ...item(0, 'a', 'get_weather', '{}'), completed),
    expected: { calls: [called('a', {})], failure: null },
  },
  { name: 'a filter', stream: sse(words('Hi'), incomplete('content_filter')), expected: { failure: 'refused' } },
  {
    name: 'a failure',
    stream: sse(words('Hi'), failedResponse({ code: 'rate_limit_exceeded' })),
    expected: { text: 'Hi', failure: 'rate_limited' },
  },
  { name: 'a failure without a reason', stream: sse(failedResponse(null)), expected: { failure: 'unavailable' } },
  {
    name: 'an error',
    stream: sse({ type: 'error', error: { type: 'invalid_request_error', code: 'context_length_exceeded' } }),
    expected: { failure: 'too_long' },
  },
  {
    name: 'an error without a frame',
    stream: sse({ type: 'error', code: 'rate_limit_exceeded', message: '' }),
    expected: { failure: 'rate_limited' },
  },
  {
    name: 'an empty account',
    stream: sse({ type: 'error', error: { code: 'insufficient_quota' } }),
    expected: { failure: 'unavailable' },
  },
  { name: 'no last event', stream: sse(words('Hi')), expected: { text: 'Hi', failure: 'unavailable' } },
];

const parts = (list: object[], more: object = {}, top: object = {}) => ({
  candidates: [{ content: { parts: list }, ...more }],
  ...top,
});
const usageMetadata = {
  promptTokenCount: 10,
  toolUsePromptTokenCount: 2,
  cachedContentTokenCount: 4,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 7,
};
const finished = (finishReason: string) => ({ candidates: [{ finishReason }], usageMetadata });

const google: StreamCase[] = [
  {
    name: 'text and counts after the reason',
    stream: sse(parts([{ text: 'H' }], { finishReason: 'STOP' }), parts([{ text: 'i' }], {}, { usageMetadata })),
    expected: { text: 'Hi', end: used(8, 12, 4) },
  },
  {
    name: 'thoughts',
    stream: sse(
      parts([
        { text: 'hm', thought: true },
        { text: 'Hi', thoughtSignature: 's' },
      ]),
      finished('STOP'),
    ),
    expected: { text: 'Hi', failure: null },
  },
  {
    name: 'calls without ids and without arguments',
    stream: sse(
      parts([
        { functionCall: { name: 'get_weather', args: { n: 0 } } },
        { functionCall: { id: 'b', name: 'get_weather' } },
      ]),
      finished('STOP'),
    ),
    expected: { calls: [called(expect.stringMatching(/^call_/), { n: 0 }), called('b', {})] },
  },
  { name: 'a filter', stream: sse(finished('RECITATION')), expected: { failure: 'refused' } },
  {
    name: 'a blocked prompt',
    stream: sse({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }),
    expected: { failure: 'refused' },
  },
  {
    name: 'a prompt that is not blocked',
    stream: sse({ promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } }, finished('STOP')),
    expected: { failure: null },
  },
  {
    name: 'a call that went wrong',
    stream: sse(finished('MALFORMED_FUNCTION_CALL')),
    expected: { failure: 'unavailable' },
  },
  {
    name: 'an error',
    stream: sse(parts([{ text: 'H' }]), { error: { code: 503, status: 'UNAVAILABLE' } }),
    expected: { text: 'H', failure: 'unavailable' },
  },
  {
    name: 'an error without a number',
    stream: sse({ error: { code: null, status: 'RESOURCE_EXHAUSTED' } }),
    expected: { failure: 'rate_limited' },
  },
  { name: 'no reason to end', stream: sse(parts([{ text: 'Hi' }])), expected: { text: 'Hi', failure: 'unavailable' } },
  {
    name: 'the answer as arguments',
    request: { outputSchema: freeKeys, tools },
    stream: sse(
      parts([{ text: 'Well' }, { functionCall: { name: 'json', args: { a: { b: 'c' } } } }]),
      finished('STOP'),
    ),
    expected: { text: '{"a":{"b":"c"}}', calls: [], failure: null },
  },
];

const all: [RawVendor, StreamCase[]][] = [
  ['anthropic', anthropic],
  ['openai', openai],
  ['google', google],
];
describe.each(all)('%s', (vendor, cases) => {
  it.each(cases)('[MOD-152] [MOD-157] reads an answer with $name', async ({ stream, expected, request }) => {
    endpoint.respond(writing([stream]));
    expect(await outcomeOf(endpoint.stream(vendor, request, { attempts: 1 }))).toMatchObject(expected);
  });
});
