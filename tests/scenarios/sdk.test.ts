import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, createClient } from '@vestra/sdk/client';
import { VestraError } from '@vestra/sdk/errors';
import { pages } from '@vestra/sdk/pages';
import { followConversation, followTurn, type StreamEvent } from '@vestra/sdk/stream';
import { answerToolCalls } from '@vestra/sdk/tools';
import { verifyWebhook } from '@vestra/sdk/webhook';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';

let server: AgentServer;
let client: Client;
beforeAll(async () => {
  server = await startAgentServer();
  await server.apply({ name: 'desk', instructions: 'Answer.' });
  client = createClient({ baseUrl: server.url, key: server.testKey });
});
afterAll(() => server.stop());

type Fetch = typeof globalThis.fetch;
const clientWith = (fetch: Fetch, rest: { retries?: number } = {}) =>
  createClient({ baseUrl: server.url, key: server.testKey, fetch, sleep: async () => {}, ...rest });

/** Hands on so many chunks of each stream and then loses the connection. */
const cutting =
  (chunks: number, opened: string[]): Fetch =>
  async (address, init) => {
    const response = await globalThis.fetch(address, init);
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    opened.push(new Headers(init?.headers).get('last-event-id') ?? 'begun');
    let left = chunks;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (left-- > 0) controller.enqueue(chunk);
        else controller.error(new TypeError('terminated'));
      },
    });
    return new Response(response.body?.pipeThrough(cut), { status: response.status, headers: response.headers });
  };

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const textOf = (events: readonly StreamEvent[]) =>
  events.map((event) => (event.type === 'reply.delta' ? event.data.text : '')).join('');

describe('talking', () => {
  it('sends a message and holds for the answer', async () => {
    server.script(() => ({ text: 'Hello, Ada.' }));
    const conversation = await client.conversations.create({ user_id: 'ada' });
    const turn = await client.conversations.send({ conversation_id: conversation.id, message: 'Hello!' }, { wait: 60 });
    expect(turn).toMatchObject({ status: 'settled', reply: { text: 'Hello, Ada.' } });
    expect(await client.conversations.get({ conversation_id: conversation.id })).toMatchObject({ user_id: 'ada' });
  });

  it('streams a reply until the turn has settled', async () => {
    server.script(() => ({ text: ['One ', 'word ', 'after ', 'the other.'] }));
    const events = await all(await client.conversations.create({ message: 'Hello!', stream: true }));
    expect(events[0]?.type).toBe('turn.started');
    expect(events.at(-1)?.type).toBe('turn.settled');
    expect(textOf(events)).toBe('One word after the other.');
  });

  it('resumes a lost stream without a gap or repetition', async () => {
    const words = Array.from({ length: 12 }, (_, at) => `word${at} `);
    server.script(() => ({ text: words, chunkDelayMs: 60 }));
    const opened: string[] = [];
    const shaky = clientWith(cutting(3, opened));
    const conversation = await client.conversations.create({});
    const events = await all(
      await shaky.conversations.send({ conversation_id: conversation.id, message: 'Count.', stream: true }),
    );
    expect(textOf(events)).toBe(words.join(''));
    expect(opened.length).toBeGreaterThan(1);
    // Begun once, and from then on only what had not come yet was asked for.
    expect(opened.lastIndexOf('begun')).toBe(0);
    const { data } = await client.conversations.events({
      conversation_id: conversation.id,
      format: 'json',
      limit: 100,
    });
    const ofTurn = data.filter(({ turn_id }) => turn_id === events[0]?.turn_id).map(({ seq }) => seq);
    expect(events.map(({ seq }) => seq)).toEqual(ofTurn);
    expect((await client.conversations.messages({ conversation_id: conversation.id })).data).toHaveLength(2);
  });

  it('starts no second turn if the stream is lost before its first event', async () => {
    server.script(() => ({ text: 'Once.' }));
    let sent = 0;
    const shaky = clientWith(async (address, init) => {
      if (init?.method === 'POST') sent += 1;
      return cutting(init?.method === 'POST' && sent === 1 ? 0 : 1000, [])(address, init);
    });
    const conversation = await client.conversations.create({});
    const events = await all(
      await shaky.conversations.send({ conversation_id: conversation.id, message: 'Hello!', stream: true }),
    );
    expect([sent, textOf(events)]).toEqual([2, 'Once.']);
    expect((await client.conversations.messages({ conversation_id: conversation.id })).data).toHaveLength(2);
  });

  it('follows a turn, and a conversation for as long as it is asked to', async () => {
    server.script(() => ({ text: 'Fine.' }));
    const { id, turn_id } = await client.conversations.create({ message: 'How are you?' });
    const events = await all(followTurn(client, id, turn_id as string));
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['turn.started', 'turn.settled']);

    const following = new AbortController();
    const seen: number[] = [];
    const shaky = clientWith(cutting(2, []));
    for await (const { seq, type, turn_id: of } of followConversation(shaky, id, { signal: following.signal })) {
      seen.push(seq);
      if (type !== 'turn.settled') continue;
      if (of === turn_id) await client.conversations.send({ conversation_id: id, message: 'And now?' });
      else following.abort();
    }
    expect(seen).toEqual(seen.map((_, at) => at + 1));
  });

  it('reports an unknown conversation when following', async () => {
    const conversation_id = 'conv_000000000000000000000000';
    await expect(all(followConversation(client, conversation_id))).rejects.toMatchObject({
      name: 'VestraError',
      code: 'conversation_not_found',
    });
  });
});

describe('the functions of a caller', () => {
  const weather = { name: 'weather', description: 'The weather of a city.', read_only: true };
  const callTwice = () =>
    server.script(({ messages }) => {
      const heard = messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
      const calls = ['Oslo', 'Rome'].map((city) => ({ name: 'weather', arguments: { city } }));
      return heard.length === 0 ? { calls } : { text: `Heard: ${heard.map(({ output }) => output).join(' | ')}` };
    });

  it('are answered once each, despite exceptions and lost responses', async () => {
    callTwice();
    const asked: string[] = [];
    let lost = 0;
    const shaky = clientWith(async (address, init) => {
      const response = await cutting(2, [])(address, init);
      if (!String(address).endsWith('/answer') || lost++ > 0) return response;
      throw new TypeError('terminated');
    });
    const { id, turn_id } = await client.conversations.create({ message: 'Weather?', tools: [weather] });
    await answerToolCalls(shaky, {
      conversation_id: id,
      turn: turn_id as string,
      functions: {
        weather: ({ city }: { city: string }, { conversation_id }) => {
          asked.push(`${city} ${conversation_id}`);
          if (city === 'Rome') throw new Error('The station is down.');
          return { sky: 'clear' };
        },
      },
    });
    expect(asked.sort()).toEqual([`Oslo ${id}`, `Rome ${id}`]);
    const [reply] = (await client.conversations.messages({ conversation_id: id })).data;
    expect(reply?.text).toContain('{"sky":"clear"}');
    expect(reply?.text).toContain('The station is down.');
    expect(lost).toBeGreaterThan(1);
  });

  it('that are not named are left to others, until the signal aborts', async () => {
    callTwice();
    const { id } = await client.conversations.create({ message: 'Weather?', tools: [weather] });
    const stopping = new AbortController();
    const answering = answerToolCalls(client, {
      conversation_id: id,
      functions: { toString: () => 'no', other: () => 'no' },
      signal: stopping.signal,
    });
    await server.until(`/v1/conversations/${id}`, ({ pending_tool_calls }) => pending_tool_calls.length === 2);
    stopping.abort();
    await answering;
    expect((await client.conversations.get({ conversation_id: id })).pending_tool_calls).toHaveLength(2);
    await client.conversations.stop({ conversation_id: id });
  });
});

describe('calls', () => {
  it('that are refused carry every field of the response', async () => {
    const refused = await client.conversations.get({ conversation_id: 'conv_x' }).catch((error) => error);
    expect(refused).toBeInstanceOf(VestraError);
    expect(refused).toMatchObject({
      status: 400,
      type: 'invalid_request',
      code: 'invalid_conversation_id',
      param: 'conversation_id',
      requestId: expect.stringMatching(/^req_/),
      body: { error: { code: 'invalid_conversation_id' } },
    });
    const file = { name: 'broken', language: 'klingon?', model: 'none' };
    const faults = await client.deployments.put({ deployment_id: 'broken', ...file }).catch((error) => error);
    expect(faults.errors.map(({ param }: { param: string }) => param)).toEqual(['language', 'model']);
    const stranger = createClient({ baseUrl: server.url, key: 'vk_test_unknown' });
    await expect(stranger.me.get()).rejects.toMatchObject({ status: 401, type: 'authentication' });
  });

  it('whose response is lost are repeated and take effect once', async () => {
    let sent = 0;
    const shaky = clientWith(async (address, init) => {
      const response = await globalThis.fetch(address, init);
      if (sent++ === 0) throw new TypeError('terminated');
      return response;
    });
    expect((await shaky.users.create({ user_id: 'once' })).id).toBe('once');
    expect(sent).toBe(2);
  });

  it('list page by page', async () => {
    for (let at = 0; at < 7; at++) await client.users.create({ user_id: `listed-${at}` });
    const ids = (await all(pages(client.users.list, { limit: 3 }))).map(({ id }) => id);
    expect(ids.filter((id) => id.startsWith('listed-'))).toHaveLength(7);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('upload files, documents and zips', async () => {
    const kept = await client.files.create({
      user_id: 'ada',
      file: new File(['a,b\n'], 'table.csv', { type: 'text/csv' }),
    });
    expect(kept).toMatchObject({ filename: 'table.csv', size_bytes: 4, user_id: 'ada' });
    const { id: notebook_id } = await client.notebooks.create({ name: 'Notes', slug: 'notes' });
    const page = new File(['<h1>Care</h1>'], 'care.html', { type: 'text/html' });
    const { id: document_id } = await client.notebooks.createDocument({ notebook_id, file: page });
    expect(await client.notebooks.getDocument({ notebook_id, document_id })).toMatchObject({ text: '# Care' });
    const refused = await client.skills.create({ zip: new Blob(['no zip']) }).catch((error) => error);
    expect(refused.code).toBe('invalid_zip');
  });

  it('read a deployment as YAML and a test run as a stream', async () => {
    expect(await client.deployments.get({ deployment_id: 'desk', format: 'yaml' })).toMatch(/^name: desk$/m);
    server.script(() => ({ text: 'Good day.' }));
    await server.apply({ name: 'tested', tests: [{ name: 'Greets', ask: 'Hello', expect: 'The agent greets.' }] });
    const run = await client.testRuns.create({ deployment_id: 'tested' });
    const events = await all(await client.testRuns.events({ run_id: run.id }));
    expect(events.at(-1)?.type).toBe('test_run.completed');
  });
});

it('verify webhook deliveries', async () => {
  const deliveries: { headers: Record<string, string | string[] | undefined>; body: string }[] = [];
  const receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    deliveries.push({ headers: request.headers, body });
    response.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => receiver.once('listening', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const endpoint = await client.webhooks.create({ url, events: '*' });
  expect(await client.webhooks.test({ endpoint_id: endpoint.id })).toMatchObject({ status: 'succeeded' });
  const delivery = deliveries.find(({ body }) => body.includes('webhook.test')) as (typeof deliveries)[number];
  const event = await verifyWebhook({ ...delivery, secret: endpoint.secret });
  expect(event).toMatchObject({ type: 'webhook.test', org_id: server.orgId });
  const forged = { ...delivery, body: delivery.body.replace('webhook.test', 'task.failed') };
  await expect(verifyWebhook({ ...forged, secret: endpoint.secret })).rejects.toMatchObject({
    code: 'signature_mismatch',
  });
  await client.webhooks.delete({ endpoint_id: endpoint.id });
  receiver.close();
});
