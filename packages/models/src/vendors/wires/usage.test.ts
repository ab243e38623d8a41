import type { Usage } from '@vestra/agent/model';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { outcomeOf, type RawVendor, sse, startRawEndpoint, writing } from '../raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

/** [input, output, cache reads, cache writes, writes to the longer cache] */
type Counts = [number, number, number?, number?, number?];
type Case = { vendor: RawVendor; of: string; events: object[]; expected: Counts };

const begun = (usage: object) => ({ type: 'message_start', message: { usage } });
const ended = (usage?: object) => [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, ...(usage && { usage }) },
  { type: 'message_stop' },
];
const responded = (usage: object) => [{ type: 'response.completed', response: { usage } }];
const generated = (usageMetadata: object, more: object = { finishReason: 'STOP' }) => ({
  candidates: [{ content: { parts: [{ text: 'Hi' }] }, ...more }],
  usageMetadata,
});

const cases: Case[] = [
  {
    vendor: 'anthropic',
    of: 'counts at the start and the end, thoughts in the output',
    events: [
      begun({ input_tokens: 25, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }),
      ...ended({ output_tokens: 415 }),
    ],
    expected: [25, 415],
  },
  {
    vendor: 'anthropic',
    of: 'an end that does not repeat the output',
    events: [begun({ input_tokens: 25, output_tokens: 7 }), ...ended({ input_tokens: 25 })],
    expected: [25, 7],
  },
  {
    vendor: 'anthropic',
    of: 'an end without counts',
    events: [begun({ input_tokens: 25, output_tokens: 7 }), ...ended()],
    expected: [25, 7],
  },
  {
    vendor: 'anthropic',
    of: 'both caches',
    events: [
      begun({
        input_tokens: 3,
        output_tokens: 1,
        cache_read_input_tokens: 1800,
        cache_creation_input_tokens: 556,
        cache_creation: { ephemeral_5m_input_tokens: 456, ephemeral_1h_input_tokens: 100 },
      }),
      ...ended({ output_tokens: 503 }),
    ],
    expected: [3, 503, 1800, 456, 100],
  },
  {
    vendor: 'anthropic',
    of: 'counts that grow until the end, as after server tools',
    events: [
      begun({ input_tokens: 10, output_tokens: 1 }),
      ...ended({ input_tokens: 10_682, output_tokens: 510, cache_read_input_tokens: 20 }),
    ],
    expected: [10_682, 510, 20],
  },
  {
    vendor: 'openai',
    of: 'reasoning in the output, and cache reads',
    events: responded({
      input_tokens: 328,
      input_tokens_details: { cached_tokens: 28 },
      output_tokens: 352,
      output_tokens_details: { reasoning_tokens: 320 },
      total_tokens: 680,
    }),
    expected: [300, 352, 28],
  },
  {
    vendor: 'openai',
    of: 'cache writes',
    events: responded({
      input_tokens: 5_000,
      input_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 3_500 },
      output_tokens: 9,
      total_tokens: 5_009,
    }),
    expected: [500, 9, 1_000, 3_500],
  },
  {
    vendor: 'openai',
    of: 'reasoning in the total alone',
    events: responded({
      input_tokens: 12,
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 290 },
      total_tokens: 303,
    }),
    expected: [12, 291],
  },
  {
    vendor: 'google',
    of: 'thoughts beside the candidates',
    events: [
      generated({ promptTokenCount: 8, candidatesTokenCount: 5, thoughtsTokenCount: 311, totalTokenCount: 324 }),
    ],
    expected: [8, 316],
  },
  {
    vendor: 'google',
    of: 'thoughts without a total',
    events: [generated({ promptTokenCount: 8, candidatesTokenCount: 5, thoughtsTokenCount: 311 })],
    expected: [8, 316],
  },
  {
    vendor: 'google',
    of: 'thoughts alone, without candidates and a total',
    events: [generated({ promptTokenCount: 8, thoughtsTokenCount: 311 })],
    expected: [8, 311],
  },
  {
    vendor: 'google',
    of: 'thoughts in the total alone',
    events: [generated({ promptTokenCount: 8, candidatesTokenCount: 5, totalTokenCount: 324 })],
    expected: [8, 316],
  },
  {
    vendor: 'google',
    of: 'cached content, and the results of its own tools',
    events: [
      generated({
        promptTokenCount: 2_000,
        cachedContentTokenCount: 1_500,
        toolUsePromptTokenCount: 40,
        candidatesTokenCount: 5,
        totalTokenCount: 2_045,
      }),
    ],
    expected: [540, 5, 1_500],
  },
  {
    vendor: 'google',
    of: 'counts in every event, the last one complete',
    events: [
      generated({ promptTokenCount: 8, totalTokenCount: 8 }, {}),
      generated({ promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 }, {}),
      generated({ promptTokenCount: 8, candidatesTokenCount: 6, thoughtsTokenCount: 2, totalTokenCount: 16 }),
    ],
    expected: [8, 8],
  },
];

it.each(cases)('$vendor: bills $of [MOD-736]', async ({ vendor, events, expected }) => {
  endpoint.respond(writing([sse(...events)]));
  const { end } = await outcomeOf(endpoint.stream(vendor));
  const [inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, long] = expected;
  const usage: Usage = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
  expect(end).toMatchObject({ usage: { ...usage, ...(long !== undefined && { cacheWriteLongTokens: long }) } });
});
