import type { Message } from '@vestra/agent/message';
import type { ModelEvent, ModelRequest } from '@vestra/agent/model';
import { afterEach, expect, it } from 'vitest';
import { createCatalogue } from '../catalogue/catalogue.ts';
import { createModels } from '../models.ts';
import type { NormalisedRequest, ScriptedAnswer } from '../testing/scripted-answer.ts';
import { type ScriptedModelServer, startScriptedModelServer } from '../testing/scripted-server.ts';

const servers: ScriptedModelServer[] = [];
afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.close()))));

const user = (text: string): Message => ({ role: 'user', parts: [{ kind: 'text', text }] });

async function ask(
  id: string,
  request: Partial<ModelRequest>,
  respond: (request: NormalisedRequest) => ScriptedAnswer = () => ({ text: '{}' }),
) {
  const seen: NormalisedRequest[] = [];
  const server = await startScriptedModelServer({
    respond: (each) => {
      seen.push(each);
      return respond(each);
    },
  });
  servers.push(server);
  const stream = createModels(server.settings, { firstPauseMs: 5 })
    .model(id)
    .stream({
      model: id,
      system: [],
      messages: [user('Hi')],
      tools: [],
      signal: new AbortController().signal,
      ...request,
    });
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return { seen, events, body: seen[0]?.body as Record<string, unknown> };
}

const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const open = { type: 'object', properties: { a: { type: 'string' } } };

it('marks what Anthropic may cache: the ends of the system prompt, what stands before what is said once, and the end', async () => {
  const { body } = await ask('claude-sonnet-4-5', {
    system: ['one', 'two', 'three', 'four', 'five'],
    messages: [
      user('first'),
      { role: 'agent', text: 'yes', calls: [] },
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'asked' },
          { kind: 'text', text: 'now', isPassing: true },
        ],
      },
      { role: 'agent', text: 'done', calls: [] },
      user('last'),
    ],
  });
  const marked = (body.system as { text: string; cache_control?: unknown }[])
    .filter((block) => block.cache_control)
    .map((block) => block.text);
  expect(marked).toEqual(['four', 'five']);
  const blocks = (body.messages as { content: { text: string; cache_control?: unknown }[] }[]).flatMap(
    ({ content }) => content,
  );
  expect(blocks.filter((block) => block.cache_control).map((block) => block.text)).toEqual(['asked', 'last']);
});

it('counts tokens that Anthropic newly caches as input', async () => {
  const { events } = await ask('claude-sonnet-4-5', {}, () => ({
    text: 'ok',
    usage: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 300, cacheWriteTokens: 50 },
  }));
  expect(events.at(-1)).toMatchObject({
    usage: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 300, cacheWriteTokens: 50 },
  });
});

it('leaves nothing with OpenAI beyond the call', async () => {
  expect((await ask('gpt-5', {})).body.store).toBe(false);
});

it.each([
  ['a schema that is closed in every object', closed, true],
  ['an open schema', open, false],
  ['an open schema inside a list', { ...closed, properties: { a: { type: 'array', items: open } } }, false],
  ['a schema with oneOf', { ...closed, properties: { a: { oneOf: [closed] } } }, false],
])('asks OpenAI to be strict only where it would take the schema: %s', async (_name, outputSchema, strict) => {
  const { body } = await ask('gpt-5', { outputSchema });
  expect(body.text).toMatchObject({ format: { type: 'json_schema', strict } });
});

it('falls back to words where a compatible endpoint knows no schemas', async () => {
  const { seen, events } = await ask('compatible/scripted', { outputSchema: open }, ({ outputSchema }) =>
    outputSchema ? { fail: 400, failMessage: 'response_format not supported' } : { text: '{"a":"b"}' },
  );
  expect(events[0]).toEqual({ type: 'text', text: '{"a":"b"}' });
  expect(seen).toHaveLength(2);
  expect(seen[1]?.body.response_format).toEqual({ type: 'json_object' });
  expect(seen[1]?.system.join()).toContain(JSON.stringify(open));
});

it('estimates what was used where an endpoint does not say', async () => {
  const { events } = await ask('compatible/scripted', { system: ['x'.repeat(400)] }, () => ({
    text: 'y'.repeat(40),
    usage: null,
  }));
  const end = events.at(-1) as Extract<ModelEvent, { type: 'end' }>;
  expect(end.usage.inputTokens).toBeGreaterThanOrEqual(100);
  expect(end.usage.outputTokens).toBeGreaterThanOrEqual(10);
});

it('sends images to a compatible model whose name says that it sees', async () => {
  const seen: NormalisedRequest[] = [];
  const server = await startScriptedModelServer({
    respond: (request) => {
      seen.push(request);
      return { text: 'a cat' };
    },
  });
  servers.push(server);
  const compatible = {
    apiKey: null,
    baseUrl: server.baseUrls.compatible,
    models: ['qwen2.5-vl:7b'],
    price: null,
    maxOutputTokens: null,
  };
  const model = createModels({ ...server.settings, compatible }).model('compatible/qwen2.5-vl:7b');
  const parts = [{ kind: 'file' as const, filename: 'cat.png', mediaType: 'image/png', bytes: new Uint8Array(8) }];
  const request = { model: '', system: [], messages: [{ role: 'user' as const, parts }], tools: [] };
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ ...request, signal: new AbortController().signal })) events.push(event);
  expect(events.at(-1)?.type).toBe('end');
  expect(seen[0]?.messages).toMatchObject([{ files: [{ mediaType: 'image/png' }] }]);
  expect(seen[0]?.headers.authorization).toBeUndefined();
});

it('[MOD-001] [MOD-016] lists the models of every configured provider as available', () => {
  const none = { anthropic: null, openai: null, google: null, compatible: null, own: [], defaultModel: null };
  const endpoint = { apiKey: () => 'key', baseUrl: null };
  expect(createCatalogue(none).list('test')).toMatchObject([{ id: 'offline', available: true }]);
  expect(createCatalogue(none).list('live')).toMatchObject([{ id: 'offline', available: false }]);
  const open = createCatalogue({ ...none, google: endpoint })
    .list('live')
    .filter(({ available }) => available);
  expect(new Set(open.map(({ provider }) => provider))).toEqual(new Set(['google']));
});

it('opens the default model by that name, and refuses one that nobody has', () => {
  const none = { anthropic: null, openai: null, google: null, compatible: null, own: [] };
  const models = createModels({ ...none, defaultModel: null });
  expect(models.model('default')).toBe(models.model('offline'));
  expect(() => models.model('gpt-5')).toThrow('No configured provider has the model gpt-5.');
  expect(() => createModels({ ...none, defaultModel: 'gpt-9' }).model('default')).toThrow('VESTRA_DEFAULT_MODEL');
});

it('shows no key in settings that are printed or serialised', async () => {
  const server = await startScriptedModelServer({ respond: () => ({}) });
  servers.push(server);
  expect(JSON.stringify(server.settings)).not.toContain('sk-');
});

it('says when the end of a model was announced that its vendor no longer has [MOD-205]', async () => {
  await expect(ask('claude-sonnet-4-5', {}, () => ({ fail: 404 }))).rejects.toThrow(
    'Anthropic has no model claude-sonnet-4-5 at its address (404 invalid_request_error). Its end was announced for 2026-11-30. Use claude-sonnet-5-5.',
  );
});
