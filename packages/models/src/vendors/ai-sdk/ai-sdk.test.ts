import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Message } from '@vestra/agent/message';
import type { ModelEvent, ModelFailure, ModelRequest } from '@vestra/agent/model';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCatalogue } from '../../catalogue/catalogue.ts';
import { OwnModelsFault, ownModels } from '../../catalogue/own-models.ts';
import { createModels } from '../../models.ts';
import type { ModelSettings } from '../../settings.ts';
import type { NormalisedRequest, ScriptedAnswer } from '../../testing/scripted-answer.ts';
import { type ScriptedModelServer, startScriptedModelServer } from '../../testing/scripted-server.ts';
import type { Timing } from '../timing.ts';
import { findProviderPackage } from './provider-package.ts';

/** Published packages, in the three versions of the interface and the formats of three vendors. */
const packages = {
  '@ai-sdk/mistral': { vendor: 'compatible', version: 'v4' },
  'ai-sdk-mistral-3': { vendor: 'compatible', version: 'v3' },
  'ai-sdk-mistral-2': { vendor: 'compatible', version: 'v2' },
  '@ai-sdk/anthropic': { vendor: 'anthropic', version: 'v4' },
  '@ai-sdk/google': { vendor: 'google', version: 'v4' },
} as const;
type PackageName = keyof typeof packages;
const names = Object.keys(packages) as PackageName[];

let server: ScriptedModelServer;
let script: (request: NormalisedRequest) => ScriptedAnswer;
let requests: NormalisedRequest[];
beforeAll(async () => {
  server = await startScriptedModelServer({
    // These packages write their own requests, so our rules for requests do not apply.
    checksRules: false,
    respond(request) {
      requests.push(request);
      return { usageInLastChoice: true, ...script(request) };
    },
  });
});
afterAll(() => server.close());
beforeEach(() => {
  requests = [];
});

const none: ModelSettings = {
  anthropic: null,
  openai: null,
  google: null,
  compatible: null,
  own: [],
  defaultModel: null,
};
const key = 'sk-package-0123456789abcdef';

/** The address in the form that the package expects. */
function addressOf(name: PackageName): string {
  const base = server.baseUrls[packages[name].vendor];
  return packages[name].vendor === 'anthropic' ? `${base}/v1` : base;
}

const entryOf = (name: PackageName, more: object = {}) => ({
  id: 'plugged/one',
  package: name,
  model: name === '@ai-sdk/google' ? 'gemini-2.5-flash' : 'scripted',
  base_url: addressOf(name),
  api_key_env: 'PLUGGED_KEY',
  price: { input: 2, output: 6 },
  takes: ['text', 'image', 'pdf'],
  ...(name.includes('mistral') && { factory: 'createMistral' }),
  ...more,
});

const settingsOf = (entry: object): ModelSettings => ({
  ...none,
  own: ownModels([entry], (variable) => (variable === 'PLUGGED_KEY' ? key : undefined)),
});

async function ask(
  name: PackageName,
  request: Partial<ModelRequest> = {},
  timing: Partial<Timing> = {},
  entry: object = {},
) {
  const model = createModels(settingsOf(entryOf(name, entry)), { firstPauseMs: 1, longestPauseMs: 2, ...timing }).model(
    'plugged/one',
  );
  const events: ModelEvent[] = [];
  let failure: ModelFailure | null = null;
  try {
    for await (const event of model.stream({
      model: 'plugged/one',
      system: ['Be kind.', 'It is Tuesday.'],
      messages: [user('Hi')],
      tools: [],
      signal: new AbortController().signal,
      ...request,
    })) {
      events.push(event);
    }
  } catch (error) {
    failure = error as ModelFailure;
  }
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  const calls = events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
  const end = events.find((event) => event.type === 'end');
  return { text, calls, end, failure, pieces: events.filter(({ type }) => type === 'text').length };
}

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });
const weather = {
  name: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

describe.each(names)('a model of the package %s', (name) => {
  it('streams its text and is billed by its counts', async () => {
    script = () => ({ text: ['Good ', 'day.'], usage: { inputTokens: 30, outputTokens: 7, cacheReadTokens: 20 } });
    const { text, end, failure, pieces } = await ask(name);
    expect([failure, text, pieces]).toEqual([null, 'Good day.', 2]);
    const input = end?.usage.inputTokens ?? 0;
    const read = end?.usage.cacheReadTokens ?? 0;
    // Mistral's packages do not report the cache.
    expect([input + read, end?.usage.outputTokens, end?.cut]).toEqual([50, 7, false]);
    expect(requests[0]?.system.join('\n\n')).toBe('Be kind.\n\nIt is Tuesday.');
    expect(JSON.stringify(requests[0]?.headers)).toContain(key);
  });

  it('calls a tool and reads its result', async () => {
    script = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'It rains.' }
        : { text: 'I look.', calls: [{ id: 'abcDEF123', name: 'get_weather', arguments: { city: 'Bonn' } }] };
    const first = await ask(name, { tools: [weather] });
    expect([first.failure, first.text]).toEqual([null, 'I look.']);
    expect(first.calls).toMatchObject([{ name: 'get_weather', arguments: { city: 'Bonn' } }]);
    const [call] = first.calls;
    if (!call) throw new Error('no call');
    const second = await ask(name, {
      tools: [weather],
      messages: [
        user('Hi'),
        { role: 'agent', text: first.text, calls: [call], reasoning: first.end?.reasoning ?? null },
        { role: 'tool', results: [{ callId: call.id, name: call.name, output: 'rain', isError: false }] },
      ],
    });
    expect([second.failure, second.text]).toEqual([null, 'It rains.']);
    const result = requests[1]?.messages.find(({ role }) => role === 'tool');
    expect(JSON.stringify(result)).toContain('rain');
  });

  it('reads pictures and documents', async () => {
    script = () => ({ text: 'Seen.' });
    const file = (filename: string, mediaType: string) =>
      ({ kind: 'file', filename, mediaType, bytes: new Uint8Array([1, 2, 3]) }) as const;
    const isMistral = name.includes('mistral');
    const parts = [file('a.png', 'image/png'), ...(isMistral ? [] : [file('b.pdf', 'application/pdf')])];
    const { failure } = await ask(name, { messages: [{ role: 'user', parts }] });
    expect(failure).toBeNull();
    const sent = JSON.stringify(requests[0]?.body);
    expect(sent.match(/AQID/g)?.length).toBe(parts.length);
  });

  it('answers with JSON of a schema', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    };
    script = () => ({ text: '{"city":"Bonn"}' });
    const { text, failure } = await ask(name, { outputSchema: schema });
    expect([failure, JSON.parse(text)]).toEqual([null, { city: 'Bonn' }]);
    expect(JSON.stringify(requests[0]?.body)).toContain('"city"');
  });

  it.each([
    [401, 'unavailable', 1],
    [404, 'unavailable', 1],
    [400, 'refused', 1],
    [429, 'rate_limited', 3],
    [500, 'unavailable', 3],
    [529, 'unavailable', 3],
  ])('fails with %s as with our own clients: %s after %s calls', async (status, reason, attempts) => {
    script = () => ({ fail: status, failMessage: `bad ${key}` });
    const { failure } = await ask(name, {}, { attempts: 3 });
    expect([failure?.reason, requests.length]).toEqual([reason, attempts]);
    expect(failure?.message).toContain(name);
    expect(failure?.message).not.toContain(key);
  });

  it('is asked again after a passing fault, but not once it has written', async () => {
    script = () => (requests.length === 1 ? { fail: 503 } : { text: 'Back.' });
    expect(await ask(name)).toMatchObject({ failure: null, text: 'Back.' });
    requests = [];
    script = () => ({ text: 'Half', fail: 'cut' });
    const { failure, text } = await ask(name);
    expect([failure?.reason, text, requests.length]).toEqual(['unavailable', 'Half', 1]);
  });

  it('is left when it is silent for too long', async () => {
    script = () => ({ text: 'Half', fail: 'hang' });
    const { failure } = await ask(name, {}, { idleTimeoutMs: 200, attempts: 1 });
    expect(failure).toMatchObject({ reason: 'timeout' });
  });

  it('stops at once when the call is aborted', async () => {
    const controller = new AbortController();
    script = () => {
      setTimeout(() => controller.abort(new Error('The person left.')), 20);
      return { text: 'Half', fail: 'hang' };
    };
    const { failure } = await ask(name, { signal: controller.signal });
    expect(String(failure)).toContain('The person left.');
  });
});

describe('reasoning of a package', () => {
  it.each([
    ['@ai-sdk/anthropic', 'claude-opus-5-5', 'signature'],
    ['@ai-sdk/google', 'gemini-3.5-flash', 'thoughtSignature'],
  ] as const)('goes back with its signature: %s', async (name, model, signature) => {
    script = ({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? { text: 'Done.' }
        : { thinking: 'First the weather.', calls: [{ name: 'get_weather', arguments: { city: 'Bonn' } }] };
    const first = await ask(name, { tools: [weather] }, {}, { model });
    const [call] = first.calls;
    if (!call) throw new Error(`no call: ${first.failure?.message}`);
    const answered: Message[] = [
      user('Hi'),
      { role: 'agent', text: first.text, calls: [call], reasoning: first.end?.reasoning ?? null },
      { role: 'tool', results: [{ callId: call.id, name: call.name, output: 'rain', isError: false }] },
    ];
    const { failure, text } = await ask(name, { tools: [weather], messages: answered }, {}, { model });
    expect([failure, text]).toEqual([null, 'Done.']);
    expect(JSON.stringify(requests[1]?.body)).toContain(`"${signature}"`);
  });
});

it('passes on how much a model should reason', async () => {
  script = () => ({ text: 'Hi.' });
  await ask('@ai-sdk/google', { reasoning: 'high' }, {}, { model: 'gemini-3.5-flash', reasons: true });
  expect(JSON.stringify(requests[0]?.body)).toMatch(/"thinkingLevel":"high"/i);
});

describe('an entry that names a package', () => {
  const faultOf = (entry: object): string => {
    try {
      settingsOf(entry);
      return 'none';
    } catch (error) {
      if (!(error instanceof OwnModelsFault)) throw error;
      return error.message;
    }
  };

  it('is a model with its price, in both modes', () => {
    const [model] = createCatalogue(settingsOf(entryOf('@ai-sdk/mistral'))).list('live');
    expect(model).toMatchObject({ id: 'plugged/one', provider: 'ai-sdk', priced: true, available: true });
    expect(model?.price).toMatchObject({ input_per_mtok: 2, output_per_mtok: 6 });
  });

  it.each([
    [{ package: '@ai-sdk/not-there' }, 'field package: @ai-sdk/not-there is not installed. Run `npm install'],
    [{ package: '../evil' }, 'field package: must be the name of an npm package'],
    [{ package: 'https://evil.example/x.js' }, 'field package: must be the name of an npm package'],
    [{ provider: 'openai' }, 'field package: is for the provider ai-sdk alone'],
    [{ provider: 'ai-sdk', package: undefined, factory: undefined }, 'field package: must name an npm package'],
    [{ api_key_env: 'MISSING_KEY' }, 'the environment variable MISSING_KEY is not set'],
    [{ options: { nested: { a: 1 } } }, 'field options.nested'],
  ])('is refused at the start: %j', (change, sentence) => {
    const entry = entryOf('@ai-sdk/mistral', change);
    expect(faultOf(JSON.parse(JSON.stringify(entry)))).toContain(sentence);
  });

  it.each([
    [{ factory: 'createNothing' }, 'The package @ai-sdk/mistral exports no function createNothing.'],
    [{ package: 'zod', factory: undefined }, 'The package zod exports no function that creates a provider.'],
    [{ package: 'zod', factory: 'string' }, 'The package zod'],
  ])('fails with one sentence if the package is none: %j', async (change, sentence) => {
    const entry = JSON.parse(JSON.stringify(entryOf('@ai-sdk/mistral', change)));
    const model = createModels(settingsOf(entry), { attempts: 1 }).model('plugged/one');
    const request = { model: 'plugged/one', system: [], messages: [user('Hi')], tools: [] };
    const stream = model.stream({ ...request, signal: new AbortController().signal });
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining(sentence),
    });
  });
});

describe('a package in the folder where the server runs', () => {
  it.each([
    ['with an import condition', { exports: { '.': { import: { types: './index.d.ts', default: './index.js' } } } }],
    ['with one export', { exports: './index.js' }],
    ['with main', { main: './index.js' }],
  ])('is found: %s', async (_what, fields) => {
    const folder = await mkdtemp(join(tmpdir(), 'vestra-package-'));
    try {
      const inside = join(folder, 'node_modules/@acme/provider');
      await mkdir(inside, { recursive: true });
      const described = { name: '@acme/provider', version: '1.0.0', type: 'module', ...fields };
      await writeFile(join(inside, 'package.json'), JSON.stringify(described));
      await writeFile(join(inside, 'index.js'), 'export const createProvider = () => ({});');
      expect(findProviderPackage('@acme/provider', folder)).toBe(pathToFileURL(join(inside, 'index.js')).href);
      expect(findProviderPackage('@acme/other', folder)).toBeNull();
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
