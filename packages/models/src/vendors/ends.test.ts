import type { RequestListener } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { called, outcomeOf, type RawVendor, sse, startRawEndpoint, weather, writing } from './raw-endpoint.fixture.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const titles: Record<RawVendor, string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  compatible: 'The compatible endpoint',
};
const vendors = Object.keys(titles) as RawVendor[];

/** A stream of this text that ends for this reason. A null reason: the stream has none. */
const streamOf: Record<RawVendor, (text: string, reason: string | null) => string> = {
  anthropic: (text, reason) =>
    sse(
      { type: 'message_start', message: { usage: { input_tokens: 3, output_tokens: 1 } } },
      ...(text === ''
        ? []
        : [
            { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
            { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
          ]),
      ...(reason === null
        ? []
        : [
            { type: 'message_delta', delta: { stop_reason: reason }, usage: { output_tokens: 2 } },
            { type: 'message_stop' },
          ]),
    ),
  openai: (text, reason) =>
    sse(
      ...(text === '' ? [] : [{ type: 'response.output_text.delta', delta: text }]),
      ...(reason === null
        ? []
        : [
            {
              type: reason === 'completed' ? 'response.completed' : 'response.incomplete',
              response: { incomplete_details: reason === 'completed' ? null : { reason } },
            },
          ]),
    ),
  google: (text, reason) =>
    sse({
      candidates: [{ content: { parts: text === '' ? [] : [{ text }] }, ...(reason && { finishReason: reason }) }],
    }),
  compatible: (text, reason) => sse({ choices: [{ delta: { content: text }, finish_reason: reason }] }),
};

type End = [vendor: RawVendor, reason: string, withText: string | null, withNothing: string | null];
const good = null;

/** The failure of an answer with text and of one without; null if it is a good one. */
const ends: End[] = [
  ['anthropic', 'end_turn', good, good],
  ['anthropic', 'refusal', 'refused', 'refused'],
  ['anthropic', 'a_new_reason', good, 'unavailable'],
  ['openai', 'completed', good, good],
  ['openai', 'content_filter', 'refused', 'refused'],
  ['openai', 'a_new_reason', good, 'unavailable'],
  ['compatible', 'stop', good, good],
  ['compatible', 'eos', good, 'unavailable'],
  ['compatible', 'error', 'unavailable', 'unavailable'],
  ['compatible', 'insufficient_system_resource', 'unavailable', 'unavailable'],
  ['compatible', 'content_filter', 'refused', 'refused'],
  ['google', 'STOP', good, good],
  ['google', 'OTHER', good, 'unavailable'],
  ['google', 'FINISH_REASON_UNSPECIFIED', good, 'unavailable'],
  ['google', 'NO_IMAGE', good, 'unavailable'],
  ['google', 'MALFORMED_FUNCTION_CALL', 'unavailable', 'unavailable'],
  ['google', 'UNEXPECTED_TOOL_CALL', 'unavailable', 'unavailable'],
  ['google', 'TOO_MANY_TOOL_CALLS', 'unavailable', 'unavailable'],
  ['google', 'MALFORMED_RESPONSE', 'unavailable', 'unavailable'],
  ['google', 'LANGUAGE', 'refused', 'refused'],
  ['google', 'SAFETY', 'refused', 'refused'],
  ['google', 'IMAGE_PROHIBITED_CONTENT', 'refused', 'refused'],
  ['google', 'IMAGE_RECITATION', 'refused', 'refused'],
];

describe('the end of an answer [MOD-730]', () => {
  it.each(ends)('%s, %s: %s with text and %s without', async (vendor, reason, withText, withNothing) => {
    endpoint.respond(writing([streamOf[vendor]('Half', reason)]));
    expect(await outcomeOf(endpoint.stream(vendor))).toMatchObject({ text: 'Half', failure: withText });
    expect(endpoint.bodies).toHaveLength(1);

    endpoint.respond(writing([streamOf[vendor]('', reason)]));
    const { failure, message } = await outcomeOf(endpoint.stream(vendor));
    expect(failure).toBe(withNothing);
    if (failure !== null) expect(message).toContain(`(${reason}).`);
    // A broken answer is a new one next time. A filter gives the same again.
    expect(endpoint.bodies).toHaveLength(failure === 'unavailable' ? 4 : 1);
  });

  it.each(vendors)('%s: the answer after a broken one counts', async (vendor) => {
    const whole = { anthropic: 'end_turn', openai: 'completed', google: 'STOP', compatible: 'stop' }[vendor];
    let count = 0;
    endpoint.respond((request, response) => {
      const stream = ++count === 1 ? streamOf[vendor]('', 'a_new_reason') : streamOf[vendor]('Hi', whole);
      return writing([stream])(request, response);
    });
    expect(await outcomeOf(endpoint.stream(vendor))).toMatchObject({ text: 'Hi', failure: null });
  });

  it.each(vendors)('%s: [DONE] after text is an end, and without any text a failure', async (vendor) => {
    const done = 'data: [DONE]\n\n';
    endpoint.respond(writing([streamOf[vendor]('Hi', null) + done]));
    expect(await outcomeOf(endpoint.stream(vendor))).toMatchObject({ text: 'Hi', failure: null });
    endpoint.respond(writing([streamOf[vendor]('', null) + done]));
    expect((await outcomeOf(endpoint.stream(vendor))).failure).toBe('unavailable');
    // Without the mark, the connection was lost.
    endpoint.respond(writing([streamOf[vendor]('Hi', null)]));
    expect((await outcomeOf(endpoint.stream(vendor))).message).toContain('was lost');
  });

  it('shows no reason that may contain a secret', async () => {
    endpoint.respond(writing([streamOf.compatible('', 'sk-raw-0123456789')]));
    const { message } = await outcomeOf(endpoint.stream('compatible'));
    expect(message).toBe('The compatible endpoint broke off the answer.');
  });

  it('Gemini rejects its own reasoning: it is asked again without it', async () => {
    let count = 0;
    endpoint.respond((request, response) => {
      const stream = ++count === 1 ? streamOf.google('', 'MISSING_THOUGHT_SIGNATURE') : streamOf.google('Hi', 'STOP');
      return writing([stream])(request, response);
    });
    expect(await outcomeOf(endpoint.stream('google'))).toMatchObject({ text: 'Hi', failure: null });
    expect(endpoint.bodies).toHaveLength(2);
  });
});

describe('two answers in one stream [MOD-731]', () => {
  const call = (json: string) => [
    { type: 'message_start', message: { usage: { input_tokens: 3 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'a', name: 'get_weather' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } },
  ];
  const end = [
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ];

  it('of Anthropic call nothing, and the request is sent again', async () => {
    let count = 0;
    endpoint.respond((request, response) => {
      const spliced = ++count === 1 ? call('{"city":"Os') : [];
      return writing([sse(...spliced, ...call('{"city":"Oslo"}'), ...end)])(request, response);
    });
    const { calls, failure } = await outcomeOf(endpoint.stream('anthropic', { tools: [weather] }));
    expect([calls, failure, endpoint.bodies.length]).toEqual([[called('a', { city: 'Oslo' })], null, 2]);
  });

  it('of OpenAI are a failure', async () => {
    const created = { type: 'response.created', response: {} };
    const text = { type: 'response.output_text.delta', delta: 'Hi' };
    endpoint.respond(writing([sse(created, text, created, text, { type: 'response.completed', response: {} })]));
    expect(await outcomeOf(endpoint.stream('openai'))).toMatchObject({
      text: 'Hi',
      message: 'OpenAI broke off the answer (two answers in one stream).',
    });
  });

  it('a second start before any content is none', async () => {
    const start = { type: 'message_start', message: { usage: { input_tokens: 3 } } };
    endpoint.respond(writing([sse(start) + streamOf.anthropic('Hi', 'end_turn')]));
    expect(await outcomeOf(endpoint.stream('anthropic'))).toMatchObject({ text: 'Hi', failure: null });
  });
});

const answering =
  (type: string | null, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { ...(type !== null && { 'content-type': type }), ...headers }).end(body);

describe.each(vendors)('%s: a response of 200 that is no stream [MOD-732]', (vendor) => {
  const settings: Record<RawVendor, string> = {
    anthropic: 'ANTHROPIC_BASE_URL',
    openai: 'OPENAI_BASE_URL',
    google: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    compatible: 'OPENAI_COMPATIBLE_BASE_URL',
  };
  const page = `<!DOCTYPE html>\n<html><body>${'Sign in\n'.repeat(20_000)}</body></html>`;
  const sentence = (what: string) =>
    `${titles[vendor]} answered with ${what} instead of a stream: check ${settings[vendor]}.`;

  it.each([
    ['a page', 'text/html; charset=utf-8', page, 'text/html'],
    ['a page with the type of a stream', 'text/event-stream', page, 'text/event-stream'],
    ['a page without a type', null, page, 'a page'],
    ['a page with a line like an event', 'text/html', `<p>\ndata: {"choices":[]}x\n\n${page}`, 'text/html'],
    ['a text', 'text/plain', 'upstream is fine', 'text/plain'],
    ['some JSON', 'application/json', '{"status":"ok"}', 'application/json'],
    ['gzip without a header', 'text/event-stream', gzipSync(streamOf[vendor]('Hi', null)), 'compressed data'],
    ['a type that is none', '"><script>', page, 'a page'],
  ])('%s is one sentence, and no retry', async (_what, type, body, shown) => {
    endpoint.respond(answering(type, body));
    expect(await outcomeOf(endpoint.stream(vendor))).toMatchObject({
      text: '',
      failure: 'unavailable',
      message: sentence(shown),
    });
    expect(endpoint.bodies).toHaveLength(1);
  });

  it.each([
    ['of a rate', { error: { code: 429, message: 'slow down' } }, 'rate_limited', 4],
    ['of a wrong request', { error: { code: 400, message: 'no' } }, 'refused', 1],
    [
      'of the length',
      { error: { message: 'maximum context length is 5', type: 'invalid_request_error' } },
      'too_long',
      1,
    ],
    ['of a key', [{ error: { code: 401, message: 'who are you' } }], 'unavailable', 1],
  ])('an error %s in JSON is that error', async (_what, body, reason, attempts) => {
    endpoint.respond(answering('application/json', JSON.stringify(body)));
    expect((await outcomeOf(endpoint.stream(vendor))).failure).toBe(reason);
    expect(endpoint.bodies).toHaveLength(attempts);
  });

  it('an empty body is a lost connection', async () => {
    endpoint.respond(answering('text/event-stream', ''));
    expect((await outcomeOf(endpoint.stream(vendor))).message).toContain('was lost');
    expect(endpoint.bodies).toHaveLength(4);
  });

  const whole = { anthropic: 'end_turn', openai: 'completed', google: 'STOP', compatible: 'stop' }[vendor];
  const long = 'Grüße 👩‍👩‍👧 '.repeat(50_000);

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('a stream that a proxy compressed with %s is read', async (encoding, compress) => {
    const body = compress(streamOf[vendor](long, whole));
    endpoint.respond(answering('text/event-stream', body, { 'content-encoding': encoding }));
    const { text, failure } = await outcomeOf(endpoint.stream(vendor));
    expect([text === long, failure]).toEqual([true, null]);
  });

  it('damaged and unknown compressions are a sentence', async () => {
    const body = gzipSync(streamOf[vendor]('Hi', whole)).fill(7, 12);
    endpoint.respond(answering('text/event-stream', body, { 'content-encoding': 'gzip' }));
    expect((await outcomeOf(endpoint.stream(vendor))).failure).toBe('invalid_answer');
    endpoint.respond(answering('text/html', gzipSync(page), { 'content-encoding': 'gzip' }));
    expect((await outcomeOf(endpoint.stream(vendor))).message).toBe(sentence('text/html'));
    endpoint.respond(answering('text/html', 'x', { 'content-encoding': 'snappy' }));
    expect((await outcomeOf(endpoint.stream(vendor))).message).toBe(sentence('text/html'));
  });
});

it('a server that ignores `stream` is read as it answers [MOD-732]', async () => {
  const message = { role: 'assistant', content: '<think>hm</think>Hi' };
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const whole = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  endpoint.respond(answering('application/json', JSON.stringify(whole)));
  expect(await outcomeOf(endpoint.stream('compatible'))).toMatchObject({ text: 'Hi', failure: null });

  const chunks = ['Good ', 'day'].map((text, at) => ({
    candidates: [{ content: { parts: [{ text }] }, ...(at === 1 && { finishReason: 'STOP' }) }],
  }));
  endpoint.respond(answering('application/json', JSON.stringify(chunks, null, 2)));
  expect(await outcomeOf(endpoint.stream('google'))).toMatchObject({ text: 'Good day', failure: null });
});

it('Groq rejects the call that its model wrote: the next answer counts [MOD-733]', async () => {
  // https://console.groq.com/docs/tool-use#error-handling
  const error = {
    message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
    type: 'invalid_request_error',
    code: 'tool_use_failed',
    failed_generation: '<function=get_weather{"city":',
  };
  const answers = [
    (listener: Parameters<RequestListener>) => void listener[1].writeHead(400).end(JSON.stringify({ error })),
    (listener: Parameters<RequestListener>) => void writing([sse({ error })])(...listener),
    (listener: Parameters<RequestListener>) => void writing([streamOf.compatible('Hi', 'stop')])(...listener),
  ];
  let count = 0;
  endpoint.respond((...listener) => answers[count++]?.(listener));
  expect(await outcomeOf(endpoint.stream('compatible'))).toMatchObject({ text: 'Hi', failure: null });
  expect(count).toBe(3);
});

it('an address where nothing answers is a sentence that names the setting [MOD-743]', async () => {
  const gone = await startRawEndpoint();
  await gone.close();
  const { failure, message } = await outcomeOf(gone.stream('compatible'));
  expect(failure).toBe('unavailable');
  expect(message).toBe(
    'Nothing answers at the address of the compatible endpoint (ECONNREFUSED): check OPENAI_COMPATIBLE_BASE_URL and the network.',
  );
  const nowhere = await startRawEndpoint('http://nowhere.invalid');
  expect((await outcomeOf(nowhere.stream('openai', {}, { attempts: 1 }))).message).toMatch(
    /^Nothing answers at the address of OpenAI \(\w+\): check OPENAI_BASE_URL and the network\.$/,
  );
  await nowhere.close();
});
