import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { called, outcomeOf, type RawVendor, sse, startRawEndpoint, weather, writing } from './raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const vendors: RawVendor[] = ['anthropic', 'openai', 'google', 'compatible'];
const [first, second] = ['Grüße 👩‍👩‍👧\r\n', 'data: 日本語\n\n'];
const [city, other] = ['東京 🗼', 'a "b"\n\nc'];
const half = (value: object, part: 0 | 1) => {
  const json = JSON.stringify(value);
  return part === 0 ? json.slice(0, 6) : json.slice(6);
};

/** Two pieces of text and two calls in each vendor's format. */
const streams: Record<RawVendor, object[]> = {
  anthropic: [
    { type: 'message_start', message: { usage: { input_tokens: 3 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text' } },
    ...[first, second].map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    ...[{ city }, { city: other }].flatMap((value, at) => [
      {
        type: 'content_block_start',
        index: at + 1,
        content_block: { type: 'tool_use', id: `c${at}`, name: 'get_weather' },
      },
      { type: 'content_block_delta', index: at + 1, delta: { type: 'input_json_delta', partial_json: half(value, 0) } },
      { type: 'content_block_delta', index: at + 1, delta: { type: 'input_json_delta', partial_json: half(value, 1) } },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
    { type: 'message_stop' },
  ],
  openai: [
    ...[first, second].map((delta) => ({ type: 'response.output_text.delta', delta })),
    ...[{ city }, { city: other }].map((value, at) => ({
      type: 'response.output_item.done',
      item: { type: 'function_call', call_id: `c${at}`, name: 'get_weather', arguments: JSON.stringify(value) },
    })),
    { type: 'response.completed', response: { usage: { input_tokens: 3, output_tokens: 4 } } },
  ],
  google: [
    ...[first, second].map((text) => ({ candidates: [{ content: { parts: [{ text }] } }] })),
    ...[{ city }, { city: other }].map((args, at) => ({
      candidates: [{ content: { parts: [{ functionCall: { id: `c${at}`, name: 'get_weather', args } }] } }],
    })),
    { candidates: [{ finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 } },
  ],
  compatible: [
    ...[first, second].map((content) => ({ choices: [{ delta: { content } }] })),
    ...[{ city }, { city: other }].flatMap((value, index) => [
      {
        choices: [
          {
            delta: {
              tool_calls: [{ index, id: `c${index}`, function: { name: 'get_weather', arguments: half(value, 0) } }],
            },
          },
        ],
      },
      { choices: [{ delta: { tool_calls: [{ index, function: { arguments: half(value, 1) } }] } }] },
    ]),
    { choices: [{ delta: {}, finish_reason: 'tool_calls' }], usage: { prompt_tokens: 3, completion_tokens: 4 } },
  ],
};

describe.each(vendors)('%s', (vendor) => {
  it('returns the same text and calls however its bytes are split, and the same text before an error [MOD-151]', async () => {
    const whole = sse(...streams[vendor]);
    const broken = sse(...streams[vendor].slice(0, -3), { type: 'error', error: { code: 503, message: 'x' } });
    const framings = [whole, broken].flatMap((text) => [text, text.replaceAll('\n', '\r\n')]);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...framings.map((text, at) => ({ bytes: Buffer.from(text), isBroken: at > 1 }))),
        fc.uniqueArray(fc.noBias(fc.nat(9999)), { minLength: 4, maxLength: 12 }),
        async ({ bytes, isBroken }, shares) => {
          const cuts = [
            0,
            ...shares.map((share) => Math.floor((share / 10_000) * bytes.length)).sort((a, b) => a - b),
            bytes.length,
          ];
          const pieces = cuts.slice(1).map((cut, at) => bytes.subarray(cuts[at], cut));
          endpoint.respond(writing(pieces.filter(({ length }) => length > 0)));
          const outcome = await outcomeOf(endpoint.stream(vendor, { tools: [weather] }, { attempts: 1 }));
          expect(outcome).toMatchObject(
            isBroken
              ? { text: first + second, calls: [], end: null, failure: 'unavailable' }
              : {
                  text: first + second,
                  calls: [called('c0', { city }), called('c1', { city: other })],
                  end: { usage: { inputTokens: 3, outputTokens: 4 }, cut: false },
                  failure: null,
                },
          );
        },
      ),
      { numRuns: 30 },
    );
  });
});

const words = (content: string) => sse({ choices: [{ delta: { content } }] });
const noConnection = () => expect.poll(endpoint.isConnectionClosed).toBe(true);

it.each([
  ['before the first byte', []],
  ['in the middle of the answer', [words('Never')]],
])('leaves no connection behind when it is aborted %s [MOD-153]', async (_when, pieces) => {
  const controller = new AbortController();
  endpoint.respond(writing(pieces, () => controller.abort(new Error('stopped'))));
  if (pieces.length === 0) endpoint.respond(() => controller.abort(new Error('stopped')));
  const { failure } = await outcomeOf(endpoint.stream('compatible', { signal: controller.signal }));
  expect(failure).toEqual(new Error('stopped'));
  await noConnection();
});

it('leaves no connection behind when its reader stops [MOD-153]', async () => {
  endpoint.respond(writing([words('One'), words('Two')], () => {}));
  for await (const _event of endpoint.stream('compatible')) break;
  await noConnection();
});

it('leaves no connection behind when the vendor falls silent; comments do not count as silence [MOD-153]', async () => {
  const pings = Array.from({ length: 5 }, () => ': still there\n\n');
  let silentAt = 0;
  endpoint.respond(async (_request, response) => {
    for (const ping of pings) {
      response.write(ping);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    silentAt = performance.now();
  });
  const { failure } = await outcomeOf(endpoint.stream('compatible', {}, { idleTimeoutMs: 1_500, attempts: 1 }));
  expect(failure).toBe('timeout');
  expect(silentAt).toBeGreaterThan(0);
  await noConnection();
});

it('applies backpressure while its reader is slow [MOD-155]', async () => {
  const chunk = words('x'.repeat(65_536));
  const count = 400;
  let written = 0;
  endpoint.respond(async (_request, response) => {
    while (written < count) {
      written++;
      if (!response.write(chunk)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end(sse({ choices: [{ delta: {}, finish_reason: 'stop' }] }));
  });
  let length = 0;
  for await (const event of endpoint.stream('compatible')) {
    if (event.type !== 'text') continue;
    if (length === 0) await stillness(() => written);
    if (length === 0) expect(written).toBeLessThan(count);
    length += event.text.length;
  }
  expect(length).toBe(count * 65_536);
});

it('ends an answer with an endless event [MOD-155]', async () => {
  endpoint.respond(writing(['data: ', ...Array.from({ length: 20 }, () => 'x'.repeat(1_048_576))], () => {}));
  const { failure } = await outcomeOf(endpoint.stream('compatible'));
  expect(failure).toBe('invalid_answer');
});

it('follows no redirect, so that the key is sent nowhere else [MOD-154]', async () => {
  let isReached = false;
  const elsewhere = createServer((_request, response) => {
    isReached = true;
    response.end();
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/v1/messages`;
  endpoint.respond((_request, response) => response.writeHead(307, { location }).end());
  const stream = endpoint.stream('anthropic');
  await expect(outcomeOf(stream)).resolves.toMatchObject({ failure: 'unavailable' });
  await expect(async () => {
    for await (const _event of endpoint.stream('anthropic'));
  }).rejects.toThrow('check ANTHROPIC_BASE_URL');
  expect([isReached, endpoint.bodies.length]).toEqual([false, 2]);
  await new Promise((resolve) => elsewhere.close(resolve));
});

const tomorrow = () => new Date(Date.now() + 86_400_000).toUTCString();
it.each([
  ['in seconds', () => ({ 'retry-after': '86400' }), '{}'],
  ['as a date', () => ({ 'retry-after': tomorrow() }), '{}'],
  ['in milliseconds', () => ({ 'retry-after-ms': '86400000' }), '{}'],
  ['in the body', () => ({}), '{"error":{"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay": "86400s"}]}}'],
])('parses how long a vendor asks to wait %s [MOD-158]', async (_how, headers, body) => {
  endpoint.respond((_request, response) => response.writeHead(429, headers()).end(body));
  expect((await outcomeOf(endpoint.stream('google'))).failure).toBe('rate_limited');
  expect(endpoint.bodies).toHaveLength(1);
});

it.each([
  ['a list', 400, '[{"error":{"message":"token count exceeds","status":"INVALID_ARGUMENT"}}]', 'too_long'],
  ['no frame', 400, '{"object":"error","message":"maximum context length is 5","code":400}', 'too_long'],
  ['plain words', 400, 'the prompt is too long', 'too_long'],
  ['a page', 502, '<html>', 'unavailable'],
  ['nothing', 422, '', 'refused'],
  ['JSON of another kind', 400, '[null]', 'refused'],
])('parses a rejection with %s [MOD-157]', async (_what, status, body, reason) => {
  endpoint.respond((_request, response) => response.writeHead(status).end(body));
  expect((await outcomeOf(endpoint.stream('google', {}, { attempts: 1 }))).failure).toBe(reason);
});

it('requests no longer an answer than the catalogue allows', async () => {
  endpoint.respond(writing(['']));
  for (const maxOutputTokens of [77, 1_000_000, undefined]) {
    await outcomeOf(endpoint.stream('anthropic', maxOutputTokens ? { maxOutputTokens } : {}, { attempts: 1 }));
  }
  expect(endpoint.bodies.map(({ max_tokens }) => max_tokens)).toEqual([77, 32_768, 32_768]);
});

/** Waits until a number has stopped changing. */
async function stillness(look: () => number): Promise<void> {
  for (let before = -1; before !== look(); ) {
    before = look();
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}
