import { routes } from '@vestra/contract/api';
import { impliedErrors } from '@vestra/contract/derive/implied-errors';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  for (const name of ['desk', 'archived']) {
    await server.call('PUT', `/v1/deployments/${name}?promote=now`, { body: { name, instructions: 'Be kind.' } });
  }
  await server.call('POST', '/v1/deployments/archived/archive');
  await server.call('PUT', '/v1/deployments/draft', { body: { name: 'draft', instructions: 'Be kind.' } });
});
afterAll(() => server.stop());

const wrongSchema = { type: 'object', properties: { city: { type: 'nonsense' } } };

/** A call of each edge that answers refusals by HTTP: what it says, to which deployment, and with which tools. */
const edges = {
  'openai.chat': ({ model = 'desk', text = 'Hello', schema }: Said) => ({
    path: '/v1/openai/chat/completions',
    body: {
      model,
      messages: [{ role: 'user', content: text }],
      ...(schema && { tools: [{ type: 'function', function: { name: 'weather', parameters: schema } }] }),
    },
  }),
  'openai.respond': ({ model = 'desk', text = 'Hello', schema }: Said) => ({
    path: '/v1/openai/responses',
    body: { model, input: text, ...(schema && { tools: [{ type: 'function', name: 'weather', parameters: schema }] }) },
  }),
  'openai.createConversation': ({ model = 'desk', text = 'Hello' }: Said) => ({
    path: '/v1/openai/conversations',
    body: { metadata: { model, text } },
  }),
  'agUi.run': ({ model = 'desk', text = 'Hello', schema }: Said) => ({
    path: `/v1/agui/${model}`,
    body: {
      threadId: crypto.randomUUID(),
      runId: crypto.randomUUID(),
      messages: [{ role: 'user', content: text }],
      tools: schema ? [{ name: 'weather', description: 'The weather.', parameters: schema }] : [],
    },
  }),
};
type Said = { model?: string; text?: string; schema?: object };
const talking = ['openai.chat', 'openai.respond', 'agUi.run'] as const;
const all = [...talking, 'openai.createConversation'] as const;

/** `call` also holds the code against those that the route declares. */
const refusal = async (edge: keyof typeof edges, said: Said, given: { key?: string; idempotencyKey?: string } = {}) => {
  const { path, body } = edges[edge](said);
  const { key = server.testKey, idempotencyKey } = given;
  const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
  const answer = await server.call('POST', path, { body, key, headers });
  return [answer.status, answer.body?.error?.code];
};

it.each(all)('%s refuses a deployment that answers nobody, by a declared code [OAI-707]', async (edge) => {
  expect(await refusal(edge, { model: 'archived' })).toEqual([409, 'deployment_archived']);
  expect(await refusal(edge, { model: 'draft' }, { key: server.liveKey })).toEqual([409, 'deployment_not_live']);
});

it.each(all)('%s declares the Idempotency-Key and its refusals [OAI-707]', async (edge) => {
  expect(await refusal(edge, {}, { idempotencyKey: 'k'.repeat(256) })).toEqual([400, 'invalid_idempotency_key']);
  const idempotencyKey = crypto.randomUUID();
  await refusal(edge, { text: 'One' }, { idempotencyKey });
  expect(await refusal(edge, { text: 'Other' }, { idempotencyKey })).toEqual([409, 'idempotency_key_reused']);
});

it.each(talking)('%s refuses a message without words, by a declared code [OAI-707]', async (edge) => {
  expect(await refusal(edge, { text: ' ' })).toEqual([400, 'message_required']);
});

it.each(talking)('%s refuses a function whose schema is wrong, by a declared code [OAI-707]', async (edge) => {
  const [status, code] = await refusal(edge, { schema: wrongSchema });
  expect([status, code]).toEqual([400, 'invalid_tool_input']);
});

it('the upload of a file declares the Idempotency-Key and its refusals [OAI-707]', async () => {
  const upload = (text: string, key: string) => {
    const raw = new FormData();
    raw.append('file', new Blob([text], { type: 'text/plain' }), 'a.txt');
    return server.call('POST', '/v1/openai/files', { raw, headers: { 'idempotency-key': key } });
  };
  expect((await upload('One', 'k'.repeat(256))).body.error.code).toBe('invalid_idempotency_key');
  await upload('One', 'a-key');
  expect((await upload('Other', 'a-key')).body.error.code).toBe('idempotency_key_reused');
});

it('every edge that passes the key on declares what it may be refused for [OAI-707]', () => {
  const passing = routes.filter(({ route }) => route.passesIdempotencyKey);
  expect(passing.map(({ name }) => name).sort()).toEqual([...all, 'openai.createFile'].sort());
  for (const { route } of passing) expect(impliedErrors(route)).toContain('idempotency_in_progress');
});
