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
  { of: 'whose arguments are written as `null`', pieces: [[0, 'a', name, 'null']], expected: [called('a', {})] },
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

it.each(calls)('assembles calls $of [MOD-157]', async ({ pieces, expected, reason = 'tool_calls' }) => {
  const events = pieces.map(([index, id, name, json]) =>
    chunk({ tool_calls: [{ ...(index !== null && { index }), id, function: { name, arguments: json } }] }),
  );
  endpoint.respond(writing([sse(...events, chunk({}, reason), done)]));
  const outcome = await outcomeOf(endpoint.stream('compatible'));
  expect(outcome.calls).toEqual(expected);
  expect(outcome.failure).toBe(expected.length > 0 ? null : 'invalid_answer');
});

type Counts = { input: number; output: number; read?: number; written?: number };
const usages: { of: string; chunks: object[]; expected: Counts }[] = [
  {
    of: 'OpenAI, whose completion holds its reasoning',
    chunks: [
      {
        choices: [],
        usage: {
          prompt_tokens: 100,
          completion_tokens: 300,
          total_tokens: 400,
          completion_tokens_details: { reasoning_tokens: 290 },
        },
      },
    ],
    expected: { input: 100, output: 300 },
  },
  {
    // 2809 reasoning tokens; xAI charged 0.0232856 dollars, https://github.com/Wei-Shaw/sub2api/issues/5771.
    of: 'xAI, whose total alone holds the reasoning',
    chunks: [
      {
        choices: [],
        usage: {
          prompt_tokens: 10_120,
          completion_tokens: 1_499,
          total_tokens: 14_428,
          prompt_tokens_details: { cached_tokens: 128 },
          completion_tokens_details: { reasoning_tokens: 2_809 },
        },
      },
    ],
    expected: { input: 9_992, output: 4_308, read: 128 },
  },
  {
    of: 'xAI, with one word after much reasoning',
    chunks: [{ choices: [], usage: { prompt_tokens: 12, completion_tokens: 1, total_tokens: 303 } }],
    expected: { input: 12, output: 291 },
  },
  {
    of: "Gemini's endpoint, which does not count its thoughts apart",
    chunks: [{ choices: [], usage: { prompt_tokens: 6, completion_tokens: 1, total_tokens: 58 } }],
    expected: { input: 6, output: 52 },
  },
  {
    of: 'a server without a total',
    chunks: [{ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } }],
    expected: { input: 9, output: 4 },
  },
  {
    of: 'a server whose total is too small',
    chunks: [{ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 9 } }],
    expected: { input: 9, output: 4 },
  },
  {
    of: 'a server without the count of the prompt',
    chunks: [{ choices: [], usage: { completion_tokens: 4, total_tokens: 13 } }],
    expected: { input: 9, output: 4 },
  },
  {
    of: 'a server that counts while it writes',
    chunks: [
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 } },
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 } },
    ],
    expected: { input: 9, output: 7 },
  },
  {
    // https://openrouter.ai/docs/use-cases/usage-accounting
    of: 'OpenRouter, with what was written to a cache',
    chunks: [
      {
        choices: [],
        usage: {
          prompt_tokens: 194,
          completion_tokens: 2,
          total_tokens: 196,
          prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 100, audio_tokens: 0 },
        },
      },
    ],
    expected: { input: 94, output: 2, written: 100 },
  },
  {
    // https://docs.litellm.ai/docs/completion/prompt_caching
    of: 'LiteLLM, with what was read from a cache and written to it',
    chunks: [
      {
        choices: [],
        usage: {
          prompt_tokens: 2_006,
          completion_tokens: 300,
          total_tokens: 2_306,
          prompt_tokens_details: { cached_tokens: 1_000 },
          cache_creation_input_tokens: 900,
        },
      },
    ],
    expected: { input: 106, output: 300, read: 1_000, written: 900 },
  },
  {
    // https://github.com/BerriAI/litellm/issues/15056
    of: 'a gateway whose prompt leaves out what was written to a cache',
    chunks: [
      {
        choices: [],
        usage: {
          prompt_tokens: 31,
          completion_tokens: 467,
          total_tokens: 498,
          prompt_tokens_details: { cached_tokens: 0 },
          cache_creation_input_tokens: 1_253,
        },
      },
    ],
    expected: { input: 31, output: 467, written: 1_253 },
  },
  {
    of: 'a gateway whose total counts a cache that its prompt leaves out',
    chunks: [
      { choices: [], usage: { prompt_tokens: 31, completion_tokens: 7, total_tokens: 1_038, cached_tokens: 1_000 } },
    ],
    expected: { input: 31, output: 7, read: 1_000 },
  },
  {
    of: 'DeepSeek',
    chunks: [
      {
        choices: [],
        usage: {
          prompt_tokens: 20,
          completion_tokens: 5,
          total_tokens: 25,
          prompt_cache_hit_tokens: 15,
          prompt_cache_miss_tokens: 5,
        },
      },
    ],
    expected: { input: 5, output: 5, read: 15 },
  },
  {
    of: 'Moonshot, in the choice',
    chunks: [
      {
        choices: [
          {
            delta: {},
            finish_reason: 'stop',
            usage: { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32, cached_tokens: 10 },
          },
        ],
      },
    ],
    expected: { input: 9, output: 13, read: 10 },
  },
  {
    of: 'Groq, in a place of its own',
    chunks: [
      chunk({}, 'stop', {
        x_groq: {
          id: 'req_1',
          usage: { queue_time: 0.1, prompt_tokens: 5_000, completion_tokens: 3, total_tokens: 5_003 },
        },
      }),
    ],
    expected: { input: 5_000, output: 3 },
  },
];

it.each(usages)('bills the exact usage from the counts of $of [MOD-634]', async ({ chunks, expected }) => {
  endpoint.respond(writing([sse(hi, stop, ...chunks, done)]));
  const { end } = await outcomeOf(endpoint.stream('compatible', {}, { attempts: 1 }));
  expect(end).toEqual(used(expected.input, expected.output, expected.read, expected.written));
});
