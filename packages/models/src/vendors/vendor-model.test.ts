import { setTimeout as delay } from 'node:timers/promises';
import type { Message, ToolDefinition } from '@vestra/agent/message';
import { type ModelEvent, ModelFailure, type ModelRequest } from '@vestra/agent/model';
import { afterEach, describe, expect, it } from 'vitest';
import { createModels } from '../models.ts';
import type { NormalisedRequest, ScriptedAnswer } from '../testing/scripted-answer.ts';
import { type ScriptedModelServer, startScriptedModelServer } from '../testing/scripted-server.ts';
import type { Timing } from './timing.ts';

const vendors = [
  ['anthropic', 'claude-sonnet-4-5'],
  ['openai', 'gpt-5'],
  ['google', 'gemini-2.5-flash'],
  ['compatible', 'compatible/scripted'],
] as const;

const quick: Partial<Timing> = { firstPauseMs: 5, longestPauseMs: 20 };
const servers: ScriptedModelServer[] = [];
afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.close()))));

const weather: ToolDefinition = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

async function scripted(respond: (request: NormalisedRequest) => ScriptedAnswer, timing: Partial<Timing> = quick) {
  const seen: NormalisedRequest[] = [];
  const server = await startScriptedModelServer({
    respond: (request) => {
      seen.push(request);
      return respond(request);
    },
  });
  servers.push(server);
  const models = createModels(server.settings, timing);
  return {
    seen,
    server,
    call: (id: string, request: Partial<ModelRequest> = {}) => call(models.model(id), id, request),
  };
}

function call(model: ReturnType<ReturnType<typeof createModels>['model']>, id: string, request: Partial<ModelRequest>) {
  return model.stream({
    model: id,
    system: ['You are helpful.'],
    messages: [user('Hello')],
    tools: [],
    signal: new AbortController().signal,
    ...request,
  });
}

async function collect(stream: AsyncIterable<ModelEvent>) {
  const events: ModelEvent[] = [];
  let failure: unknown = null;
  try {
    for await (const event of stream) events.push(event);
  } catch (error) {
    failure = error;
  }
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  const calls = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  return { events, text, calls, end: events.find((event) => event.type === 'end'), failure };
}

describe.each(vendors)('%s', (vendor, id) => {
  it('streams text, one event per arrival, and counts the usage [MOD-150]', async () => {
    const { call, seen } = await scripted(() => ({
      text: ['Good ', 'morning'],
      usage: { inputTokens: 12, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 },
    }));
    const { events } = await collect(call(id));
    expect(events).toEqual([
      { type: 'text', text: 'Good morning' },
      { type: 'end', usage: { inputTokens: 12, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 }, cut: false },
    ]);
    expect(seen[0]).toMatchObject({
      vendor,
      model: id.replace('compatible/', ''),
      system: ['You are helpful.'],
      messages: [{ role: 'user', text: 'Hello' }],
    });
  });

  it('yields words that arrive separately as they arrive [MOD-150]', async () => {
    const { call } = await scripted(() => ({ text: ['Good ', 'morning'], chunkDelayMs: 30 }));
    const { events } = await collect(call(id));
    expect(events).toMatchObject([{ text: 'Good ' }, { text: 'morning' }, { type: 'end' }]);
  });

  it('counts cached tokens once', async () => {
    const { call } = await scripted(() => ({
      text: 'ok',
      usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 900, cacheWriteTokens: 0 },
    }));
    const { end } = await collect(call(id));
    expect(end).toMatchObject({
      usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 900, cacheWriteTokens: 0 },
    });
  });

  it('yields parallel tool calls after the text and sends their results back', async () => {
    const { call, seen } = await scripted(() => ({
      text: 'Looking.',
      calls: [
        { id: 'call_a', name: 'get_weather', arguments: { city: 'Oslo' } },
        { id: 'call_b', name: 'get_weather', arguments: { city: 'Łódź' } },
      ],
    }));
    const first = await collect(call(id, { tools: [weather] }));
    expect(first.calls).toEqual([
      { id: 'call_a', name: 'get_weather', arguments: { city: 'Oslo' } },
      { id: 'call_b', name: 'get_weather', arguments: { city: 'Łódź' } },
    ]);
    expect(first.events.map(({ type }) => type)).toEqual(['text', 'call', 'call', 'end']);
    expect(seen[0]?.tools).toMatchObject([{ name: 'get_weather', description: 'The weather of a city.' }]);

    const results = [
      { callId: 'call_a', name: 'get_weather', output: 'rain', isError: false },
      { callId: 'call_b', name: 'get_weather', output: 'no such city', isError: true },
    ];
    await collect(
      call(id, {
        tools: [weather],
        messages: [
          user('Weather?'),
          { role: 'agent', text: first.text, calls: first.calls },
          { role: 'tool', results },
        ],
      }),
    );
    expect(seen[1]?.messages.slice(0, 2)).toMatchObject([
      { role: 'user', text: 'Weather?' },
      { role: 'agent', text: 'Looking.', calls: [{ arguments: { city: 'Oslo' } }, { arguments: { city: 'Łódź' } }] },
    ]);
    const answered = JSON.stringify(seen[1]?.messages.slice(2));
    expect(answered).toContain('rain');
    expect(answered).toContain('no such city');
  });

  it("requests structured output in the vendor's own way", async () => {
    const outputSchema = {
      type: 'object',
      properties: { total: { type: 'number' } },
      required: ['total'],
      additionalProperties: false,
    };
    const { call, seen } = await scripted(() => ({ text: '{"total":3}' }));
    const { text } = await collect(call(id, { outputSchema }));
    expect(JSON.parse(text)).toEqual({ total: 3 });
    expect(seen[0]?.outputSchema).toMatchObject({ properties: { total: { type: 'number' } } });
  });

  it('describes a schema that no vendor accepts to the model', async () => {
    const { call, seen } = await scripted(() => ({ text: '[1]' }));
    await collect(call(id, { outputSchema: { type: 'array', items: { type: 'integer' } } }));
    expect(seen[0]?.outputSchema).toBeNull();
    expect(seen[0]?.system.join('\n')).toContain('"items":{"type":"integer"}');
  });

  it('marks a cut answer and drops its last call', async () => {
    const { call } = await scripted(() => ({
      text: 'Half of',
      calls: [{ name: 'get_weather', arguments: '{"city":"Os' }],
      stop: 'length',
    }));
    const { end, calls } = await collect(call(id, { tools: [weather] }));
    expect(end).toMatchObject({ cut: true });
    expect(calls).toEqual([]);
  });

  it('fails with the usage when the vendor filtered the answer', async () => {
    const { call } = await scripted(() => ({
      text: 'Well',
      stop: 'filter',
      usage: { inputTokens: 8, outputTokens: 2 },
    }));
    const { failure } = await collect(call(id));
    expect(failure).toMatchObject({ reason: 'refused', usage: { inputTokens: 8, outputTokens: 2 } });
  });

  it.each([429, 500, 503, 529])('retries after %i', async (status) => {
    const { call, seen } = await scripted(({ count }) => (count < 3 ? { fail: status } : { text: 'there' }));
    const { text } = await collect(call(id));
    expect(text).toBe('there');
    expect(seen).toHaveLength(3);
  });

  it('waits as long as the vendor asks', async () => {
    const { call } = await scripted(({ count }) =>
      count === 1 ? { fail: 429, headers: { 'retry-after-ms': '250' } } : { text: 'there' },
    );
    const begun = performance.now();
    expect((await collect(call(id))).text).toBe('there');
    expect(performance.now() - begun).toBeGreaterThanOrEqual(250);
  });

  it('fails at once if the vendor asks for too long a pause', async () => {
    const { call, seen } = await scripted(() => ({ fail: 429, headers: { 'retry-after': '3600' } }));
    expect((await collect(call(id))).failure).toMatchObject({ reason: 'rate_limited' });
    expect(seen).toHaveLength(1);
  });

  it('gives up after four calls', async () => {
    const { call, seen } = await scripted(() => ({ fail: 500 }));
    const { failure } = await collect(call(id));
    expect(failure).toBeInstanceOf(ModelFailure);
    expect(failure).toMatchObject({ reason: 'unavailable' });
    expect(seen).toHaveLength(4);
  });

  it.each([
    [400, undefined, 'scripted', 'refused'],
    [401, undefined, 'scripted', 'unavailable'],
    [404, undefined, 'scripted', 'unavailable'],
    [400, undefined, 'prompt is too long: 210000 tokens > 200000 maximum', 'too_long'],
    [400, 'context_length_exceeded', 'This model has a maximum context length of 8192 tokens', 'too_long'],
  ])('does not repeat %i %s (%s): %s', async (fail, failCode, failMessage, reason) => {
    const { call, seen } = await scripted(() => ({ fail, failMessage, ...(failCode && { failCode }) }));
    expect((await collect(call(id))).failure).toMatchObject({ reason });
    expect(seen).toHaveLength(1);
  });

  it('ends a silent call after one retry', async () => {
    const { call, seen } = await scripted(() => ({ fail: 'hang' }), { ...quick, idleTimeoutMs: 400 });
    expect((await collect(call(id))).failure).toMatchObject({ reason: 'timeout' });
    expect(seen).toHaveLength(2);
  });

  it('ends an answer that falls silent and does not repeat it', async () => {
    const { call, seen } = await scripted(() => ({ text: 'One moment', fail: 'hang' }), {
      ...quick,
      idleTimeoutMs: 600,
    });
    const { text, failure } = await collect(call(id));
    expect(text).toBe('One moment');
    expect(failure).toMatchObject({ reason: 'timeout' });
    expect(seen).toHaveLength(1);
  });

  it('retries when the connection is lost before the first word', async () => {
    const { call } = await scripted(({ count }) => (count < 3 ? { fail: 'cut' } : { text: 'back' }));
    expect((await collect(call(id))).text).toBe('back');
  });

  it('never repeats an answer that was lost in the middle', async () => {
    const { call, seen } = await scripted(() => ({
      text: ['The first ', 'half'],
      calls: [{ name: 'get_weather', arguments: {} }],
      fail: 'cut',
    }));
    const { text, calls, end, failure } = await collect(call(id, { tools: [weather] }));
    expect(text).toBe('The first half');
    expect(calls).toEqual([]);
    expect(end).toBeUndefined();
    expect(failure).toMatchObject({ reason: 'unavailable' });
    expect(seen).toHaveLength(1);
  });

  it('fails if nothing listens', async () => {
    const { call, server } = await scripted(() => ({ text: 'unheard' }));
    await server.close();
    expect((await collect(call(id))).failure).toMatchObject({ reason: 'unavailable' });
  });

  it.each([
    ['before the first byte', { fail: 'hang' }],
    ['in the middle of the answer', { text: 'Never', fail: 'hang' }],
    ['in the pause between two calls', { fail: 429, headers: { 'retry-after': '30' } }],
  ] as const)('stops at once %s', async (_when, answer) => {
    const { call } = await scripted(() => answer);
    const controller = new AbortController();
    const stop = new Error('stopped by the user');
    setTimeout(() => controller.abort(stop), 100);
    const begun = performance.now();
    const { failure } = await collect(call(id, { signal: controller.signal }));
    expect(failure).toBe(stop);
    expect(performance.now() - begun).toBeLessThan(1000);
  });

  it('uses one connection for successive calls', async () => {
    const { call, server } = await scripted(() => ({ text: ['a', 'b'], lingerMs: 20 }));
    for (let turn = 0; turn < 5; turn++) {
      expect((await collect(call(id))).text).toBe('ab');
      await delay(40);
    }
    expect(server.connectionCount()).toBeLessThanOrEqual(2);
  });

  it('reads an answer of a megabyte', async () => {
    const chunk = 'abcdefghij'.repeat(100);
    const { call } = await scripted(() => ({ text: Array.from({ length: 1049 }, () => chunk) }));
    expect((await collect(call(id))).text).toBe(chunk.repeat(1049));
  });

  it('keeps invalid JSON arguments as the model wrote them', async () => {
    const { call, seen } = await scripted(() => ({ calls: [{ name: 'get_weather', arguments: '{"city": Oslo' }] }));
    const { calls } = await collect(call(id, { tools: [weather] }));
    expect(calls).toMatchObject([{ name: 'get_weather', arguments: '{"city": Oslo' }]);
    const results = [{ callId: calls[0]?.id ?? '', name: 'get_weather', output: 'not JSON', isError: true }];
    const again = call(id, {
      tools: [weather],
      messages: [user('Weather?'), { role: 'agent', text: '', calls }, { role: 'tool', results }],
    });
    expect((await collect(again)).failure).toBeNull();
    expect(JSON.stringify(seen[1]?.messages)).toContain('Oslo');
  });

  it('joins characters that arrive in pieces', async () => {
    const { call } = await scripted(() => ({
      text: ['Grüße 👩‍👩‍👧 ', '日本語'],
      calls: [{ name: 'get_weather', arguments: { city: '東京 🗼' } }],
      bytesPerWrite: 3,
    }));
    const { text, calls } = await collect(call(id, { tools: [weather] }));
    expect(text).toBe('Grüße 👩‍👩‍👧 日本語');
    expect(calls[0]?.arguments).toEqual({ city: '東京 🗼' });
  });

  it('shows no key, header or request in its errors', async () => {
    const key = `sk-scripted-${vendor}-0123456789abcdef`;
    const secret = 'my card number is 4242';
    for (const fail of [400, 401, 429, 500] as const) {
      const { call } = await scripted(() => ({
        fail,
        failMessage: `Incorrect API key provided: ${key}. You sent: ${secret}`,
        failCode: key,
        headers: { 'retry-after': '900', 'x-echo': key },
      }));
      const { failure } = await collect(call(id, { messages: [user(secret)] }));
      expect(failure).toBeInstanceOf(ModelFailure);
      const shown = inspectDeep(failure);
      expect(shown).not.toContain(key);
      expect(shown).not.toContain('4242');
    }
  });

  it('translates names and ids that the vendor would reject', async () => {
    const name = `mcp__files__${'read.the.document.'.repeat(8)}`;
    const { call, seen } = await scripted(({ tools }) => ({ calls: [{ name: tools[0]?.name ?? '', arguments: {} }] }));
    const { calls } = await collect(call(id, { tools: [{ ...weather, name }] }));
    expect(calls).toMatchObject([{ name }]);
    expect(seen[0]?.tools[0]?.name).toMatch(
      vendor === 'anthropic' ? /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/ : /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    );
    const odd = 'functions.read:0';
    await collect(
      call(id, {
        messages: [
          user('Read'),
          { role: 'agent', text: '', calls: [{ id: odd, name, arguments: {} }] },
          { role: 'tool', results: [{ callId: odd, name, output: 'text', isError: false }] },
        ],
      }),
    );
    expect(JSON.stringify(seen[1]?.body)).not.toContain(odd);
  });

  it('sends images that the model reads, and a note for files that it does not', async () => {
    const { call, seen } = await scripted(() => ({ text: 'seen' }));
    const file = (filename: string, mediaType: string, size = 16) =>
      ({ kind: 'file', filename, mediaType, bytes: new Uint8Array(size) }) as const;
    await collect(
      call(id, {
        messages: [
          {
            role: 'user',
            parts: [
              { kind: 'text', text: 'Look' },
              file('photo.png', 'image/png'),
              file('paper.pdf', 'application/pdf'),
              file('film.mp4', 'video/mp4'),
              file('huge.png', 'image/png', 21 * 1_048_576),
            ],
          },
        ],
      }),
    );
    const [message] = seen[0]?.messages ?? [];
    expect(message).toMatchObject({
      role: 'user',
      text: expect.stringContaining('"film.mp4" (video/mp4) is attached, but this model cannot read it'),
      files: vendor === 'compatible' ? [] : [{ mediaType: 'image/png' }, { mediaType: 'application/pdf' }],
    });
    expect(message).toMatchObject({ text: expect.stringContaining('"huge.png"') });
  });
});

/** Everything that a logger could reach from an error. */
function inspectDeep(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (seen.has(value)) return '';
  seen.add(value);
  return Object.getOwnPropertyNames(value)
    .map((name) => `${name}: ${inspectDeep((value as Record<string, unknown>)[name], seen)}`)
    .join('\n');
}
