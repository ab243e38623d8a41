import { afterAll, beforeAll, expect, it } from 'vitest';
import { called, outcomeOf, type StreamCase, sse, startRawEndpoint, used, writing } from '../raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
});
const hi = chunk({ content: 'Hi' });
const stop = chunk({}, 'stop');
const done = 'data: [DONE]\n\n';
const failed = (error: unknown) => ({ error });

const answers: StreamCase[] = [
  { name: 'no mark at the end', stream: sse(hi, stop), expected: { text: 'Hi', failure: null } },
  {
    name: 'carriage returns, comments, other fields, a byte order mark',
    stream: `\ufeff: hold on\r\n\r\nid: 1\r\nretry: 5\r\ndata:${JSON.stringify(hi)}\r\n\r\n: x\n\n${sse(stop, done)}`,
    expected: { text: 'Hi', failure: null },
  },
  {
    name: 'an event over several lines',
    stream: 'data: {"choices":[{"delta":\ndata: {"content":"Hi"},"finish_reason":"stop"}]}\n\n',
    expected: { text: 'Hi', failure: null },
  },
  { name: 'nothing at all', stream: '', expected: { failure: 'unavailable', end: null } },
  { name: 'a mark, but no reason', stream: sse(hi, done), expected: { text: 'Hi', failure: 'unavailable' } },
  { name: 'no JSON', stream: sse(hi, 'data: {oops\n\n'), expected: { text: 'Hi', failure: 'invalid_answer' } },
  {
    name: 'events of other shapes',
    stream: sse(
      ...['data: 3\n\n', 'data: null\n\n', 'data: []\n\n'],
      ...[{ choices: 'x' }, { choices: [null] }, { choices: [{ delta: 1 }] }],
      chunk({ content: { a: 1 }, tool_calls: 5, refusal: false }),
      ...[hi, stop],
    ),
    expected: { text: 'Hi', failure: null },
  },
  {
    name: 'thoughts beside words',
    stream: sse(
      chunk({ reasoning_content: 'hm' }),
      chunk({
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
          { type: 'text', text: 'Hi' },
        ],
      }),
      stop,
    ),
    expected: { text: 'Hi', failure: null },
  },
  { name: 'a refusal', stream: sse(chunk({ refusal: 'No' }), stop), expected: { text: 'No', failure: 'refused' } },
  { name: 'a reason of its own', stream: sse(hi, chunk({}, 'eos')), expected: { text: 'Hi', failure: null } },
  {
    name: 'counts after the last word',
    stream: sse(hi, chunk({}, 'stop', { usage: null }), {
      choices: [],
      usage: { prompt_tokens: 15, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 5 } },
    }),
    expected: { end: used(10, 2, 5) },
  },
  {
    name: 'counts that are none',
    stream: `${sse(hi, stop)}data: {"choices":[],"usage":{"prompt_tokens":1e999,"completion_tokens":-4,"prompt_tokens_details":{"cached_tokens":"7"}}}\n\n`,
    expected: { end: used(0, 0) },
  },
  {
    name: 'an error in the middle',
    stream: sse(hi, failed({ message: 'slow', code: 429 })),
    expected: { text: 'Hi', failure: 'rate_limited' },
  },
  { name: 'an error in words', stream: sse(hi, failed('oh no')), expected: { text: 'Hi', failure: 'unavailable' } },
  {
    name: 'an error about the length',
    stream: sse(failed({ message: 'maximum context length is 5', type: 'invalid_request_error' })),
    expected: { failure: 'too_long' },
  },
];

it.each(answers)('[MOD-152] [MOD-157] reads an answer with $name', async ({ stream, expected }) => {
  endpoint.respond(writing([stream]));
  expect(await outcomeOf(endpoint.stream('compatible', {}, { attempts: 1 }))).toMatchObject(expected);
});

type Piece = [index: number | null, id: string | null, name: string | null, json: string | null];
const name = 'get_weather';
const two = [called('a', { n: 0 }), called('b', { n: 1 })];
const anyId = expect.stringMatching(/^call_/);

const calls: { of: string; pieces: Piece[]; expected: unknown[]; reason?: string }[] = [
  {
    of: 'in many pieces',
    pieces: [[0, 'a', name, ''], ...[...'{"n":0}'].map((each): Piece => [0, null, null, each])],
    expected: [called('a', { n: 0 })],
  },
  {
    of: 'in turns',
    pieces: [
      [1, 'b', name, '{"n"'],
      [0, 'a', name, '{"n"'],
      [0, null, null, ':0}'],
      [1, null, null, ':1}'],
    ],
    expected: two,
  },
  {
    of: 'without numbers',
    pieces: [
      [null, 'a', name, '{"n"'],
      [null, null, null, ':0}'],
      [null, 'b', name, '{"n":1}'],
    ],
    expected: two,
  },
  {
    of: 'that all have the number 0',
    pieces: [
      [0, 'a', name, '{"n":0}'],
      [0, 'b', name, '{"n":1}'],
    ],
    expected: two,
  },
  {
    of: 'that all have one id',
    pieces: [
      [0, 'a', name, '{"n":0}'],
      [1, 'a', name, '{"n":1}'],
    ],
    expected: [called('a', { n: 0 }), called('a_1', { n: 1 })],
  },
  {
    of: 'without ids',
    pieces: [
      [0, null, name, '{}'],
      [0, null, name, '{}'],
    ],
    expected: [called(anyId, {}), called(anyId, {})],
  },
  {
    of: 'with name and id in every piece',
    pieces: [
      [0, 'a', name, '{"n"'],
      [0, 'a', name, ':0}'],
    ],
    expected: [called('a', { n: 0 })],
  },
  {
    of: 'with blank names and ids in later pieces',
    pieces: [
      [0, 'a', name, '{"n"'],
      [0, '', '', ':0}'],
    ],
    expected: [called('a', { n: 0 })],
  },
  {
    of: 'with another id in a later piece',
    pieces: [
      [0, 'a', name, '{"n"'],
      [0, 'z', null, ':0}'],
    ],
    expected: [called('a', { n: 0 })],
  },
  {
    of: 'whose name comes late',
    pieces: [
      [0, 'a', null, '{"n"'],
      [0, null, name, ':0}'],
    ],
    expected: [called('a', { n: 0 })],
  },
  { of: 'whose name never comes', pieces: [[0, 'a', null, '{}']], expected: [] },
  { of: 'without arguments', pieces: [[0, 'a', name, null]], expected: [called('a', {})] },
  {
    of: 'that the limit cut off, one of them before its arguments began',
    pieces: [
      [0, 'a', name, '{"n":0}'],
      [1, 'b', name, '{"n"'],
      [2, 'c', name, ''],
    ],
    expected: [called('a', { n: 0 })],
    reason: 'length',
  },
];

it.each(calls)('[MOD-157] puts together calls $of', async ({ pieces, expected, reason = 'tool_calls' }) => {
  const events = pieces.map(([index, id, name, json]) =>
    chunk({ tool_calls: [{ ...(index !== null && { index }), id, function: { name, arguments: json } }] }),
  );
  endpoint.respond(writing([sse(...events, chunk({}, reason), done)]));
  const outcome = await outcomeOf(endpoint.stream('compatible'));
  expect(outcome.calls).toEqual(expected);
  expect(outcome.failure).toBe(expected.length > 0 ? null : 'invalid_answer');
});
