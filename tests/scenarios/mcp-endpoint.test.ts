import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { commands } from '@vestra/contract/derive/commands';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectMcp, revisions } from '../../packages/server/src/edges/mcp/client.fixture.ts';
import { door } from './conversations.fixture.ts';
import { asksForSize, calling, type Desk, inTurn, paperDesk, startDesk } from './interactions.fixture.ts';

let desk: Desk;
beforeAll(async () => {
  desk = await startDesk();
  await desk.apply({
    ...paperDesk,
    tests: [{ name: 'greets', ask: 'Say hello', expect: ['It greets.'] }],
  });
});
afterAll(() => desk.stop());

type Client = Awaited<ReturnType<typeof connectMcp>>;

// biome-ignore lint/suspicious/noExplicitAny: tests read answers field by field.
type Answer = { isError?: boolean | undefined; structuredContent?: any; content: any[]; _meta?: any };

const callTool = (client: Client, name: string, args: Record<string, unknown> = {}) =>
  client.callTool({ name, arguments: args }) as Promise<Answer>;

/** Calls a tool that must not fail. */
async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const answer = await callTool(client, name, args);
  expect(answer.isError, JSON.stringify(answer)).toBeFalsy();
  expect(JSON.parse(answer.content[0].text)).toEqual(answer.structuredContent);
  return answer.structuredContent;
}

async function refusal(client: Client, name: string, args: Record<string, unknown> = {}) {
  const answer = await callTool(client, name, args);
  expect(answer.isError, JSON.stringify(answer)).toBe(true);
  expect(answer).not.toHaveProperty('structuredContent');
  const error = answer._meta?.['vestra/error'];
  expect(answer.content[0].text).toContain(error.code);
  expect(answer.content[0].text).toContain(error.request_id);
  expect(error.request_id).toMatch(/^req_/);
  return error;
}

const newKey = async (...scopes: string[]) =>
  (await desk.call('POST', '/v1/keys', { body: { name: scopes.join(), scopes } })).body.key as string;

describe.each(revisions)('a client of %s', (revision) => {
  let client: Client;
  beforeAll(async () => {
    client = await connectMcp(desk.url, desk.testKey, revision);
  });
  afterAll(() => client.close());

  it('is served on the one path [MCP-001, MCP-008]', () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    expect(client.getServerVersion()).toMatchObject({ name: 'vestra' });
  });

  it('is shown the commands as tools, and none that handles keys or secrets [MCP-003, MCP-004, MCP-005, MCP-006, MCP-009, LIST-201]', async () => {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        ...['ask', 'routines_add', 'memory_search', 'embed', 'files'],
        ...['users_get', 'answer', 'events', 'test', 'init'],
      ]),
    );
    const joined = new Set(commands.map(({ name }) => name.split(' ').join('_')));
    expect(names.filter((name) => !joined.has(name))).toEqual([]);
    expect(names.filter((name) => /^(keys|secrets)(_|$)|roll-secret/.test(name))).toEqual([]);
    for (const { name, description, inputSchema, annotations } of tools) {
      expect(inputSchema.properties, name).toHaveProperty('user');
      expect(inputSchema.required ?? [], name).not.toContain('user');
      expect(description, name).toMatch(/\w/);
      expect(annotations, name).toHaveProperty('readOnlyHint');
    }
    const of = (name: string) => tools.find((tool) => tool.name === name);
    expect(of('users_get')?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(of('users_delete')?.annotations).toMatchObject({ destructiveHint: true, idempotentHint: true });
    expect(of('users_list')?.inputSchema.properties).toMatchObject({
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    });
    expect(of('users_get')?.outputSchema?.properties).toHaveProperty('spend_today_usd');
  });

  it('runs tools of one route, for a user and for the org’s own agent [MCP-003, MCP-005]', async () => {
    const user = `ada-${revision}`;
    await call(client, 'users_create', { user, name: 'Ada' });
    expect(await call(client, 'users_get', { user })).toMatchObject({ id: user, name: 'Ada' });
    await call(client, 'memory_add', { user, text: `Ada of ${revision} likes tea.` });
    await call(client, 'memory_add', { text: 'The shop opens at nine.' });
    expect(await call(client, 'memory_search', { user, q: 'tea' })).toMatchObject({ found: true });
    const own = await call(client, 'memory_list', { limit: 100 });
    expect(own.data.map(({ text }: { text: string }) => text)).toContain('The shop opens at nine.');
    expect(JSON.stringify(own)).not.toContain('tea');
    const routine = await call(client, 'routines_add', { user, ask: 'Water the plants', every: 'day at 08:00' });
    expect(routine).toMatchObject({ user_id: user, kind: 'schedule' });
    expect((await call(client, 'routines_list', { user })).data).toHaveLength(1);
    expect(await call(client, 'routines_delete', { routine_id: routine.id })).toMatchObject({ deleted: true });
    expect((await call(client, 'files', { user })).data).toEqual([]);
  });

  it('asks, and continues in the same conversation [MCP-003, MCP-005]', async () => {
    desk.script(() => ({ text: 'Good morning.' }));
    const said = await call(client, 'ask', { message: 'Hello' });
    expect(said).toMatchObject({ status: 'settled', reply: { text: 'Good morning.' }, task_id: null });
    const { body } = await desk.call('GET', `/v1/conversations/${said.conversation_id}`);
    expect(body.user_id).toBeNull();
    const again = await call(client, 'ask', { message: 'And now?', conversation: said.conversation_id });
    expect(again.conversation_id).toBe(said.conversation_id);
    expect(again.turn_id).not.toBe(said.turn_id);
    const events = await call(client, 'events', { conversation: said.conversation_id, after: 1, limit: 3 });
    expect(events.data.map(({ seq }: { seq: number }) => seq)).toEqual([2, 3, 4]);
    expect(events.next_after).toBe(4);
  });

  it("reads the agent's interaction, answers it and gets the result of the task [MCP-003]", async () => {
    desk.script(asksForSize);
    const user = `grace-${revision}`;
    const asked = await call(client, 'ask', { message: 'Order a shirt', user, hand_off: 'always' });
    expect(asked).toMatchObject({
      status: 'waiting',
      reply: null,
      interactions: [{ type: 'question', task_id: asked.task_id, questions: [{ question: 'Which size?' }] }],
    });
    expect(await call(client, 'answer', { user, answers: ['M'] })).toMatchObject({ status: 'resolved' });
    await desk.rest(asked.conversation_id);
    expect(await call(client, 'tasks_get', { task_id: asked.task_id })).toMatchObject({
      status: 'done',
      result: { text: 'Thanks.' },
    });
    const events = await call(client, 'events', { task: asked.task_id, limit: 100 });
    expect(events.data.map(({ type }: { type: string }) => type)).toContain('task.completed');
  });

  it('follows the streamed reply if it asks for progress', async () => {
    desk.script(() => ({ text: ['One ', 'two ', 'three.'], chunkDelayMs: 60 }));
    const heard: string[] = [];
    const answer = (await client.callTool(
      { name: 'ask', arguments: { message: 'Count' } },
      { onprogress: ({ message }) => void heard.push(message ?? '') },
    )) as Answer;
    expect(answer.structuredContent.reply.text).toBe('One two three.');
    expect(heard.join('')).toBe('One two three.');
    expect(heard.length).toBeGreaterThan(1);
  });

  it('gets the API’s error code, the faulty argument and the request id if a tool fails [MCP-011]', async () => {
    expect(await refusal(client, 'users_get', { user: 'nobody-at-all' })).toMatchObject({ code: 'user_not_found' });
    expect(await refusal(client, 'users_get')).toMatchObject({ code: 'user_required', param: 'user' });
    expect(await refusal(client, 'users_create', { user: 'not one' })).toMatchObject({
      code: 'invalid_request',
      param: 'user',
    });
    expect(await refusal(client, 'users_list', { limit: 101 })).toMatchObject({
      code: 'invalid_limit',
      param: 'limit',
    });
    expect(await refusal(client, 'users_list', { colour: 'red' })).toMatchObject({ param: 'colour' });
    expect(await refusal(client, 'ask')).toMatchObject({ code: 'invalid_request', param: 'message' });
    expect(await refusal(client, 'ask', { message: 'a', deployment: 'nowhere' })).toMatchObject({
      code: 'invalid_deployment',
      param: 'deployment',
    });
    expect(await refusal(client, 'answer', { user: 'somebody-idle', approve: true })).toMatchObject({
      code: 'interaction_not_found',
    });
    expect(await refusal(client, 'events', { after: 3 })).toMatchObject({ param: 'after' });
    await expect(callTool(client, 'keys_list')).rejects.toMatchObject({ code: -32602 });
  });
});

describe('a client of the v1 SDK, which checks results against the schemas it has listed', () => {
  it('sees the reason of every refusal [MCP-661]', async () => {
    const client = new ClientV1({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${desk.testKey}` } };
    const transport = new TransportV1(new URL(`${desk.url}/v1/mcp`), { requestInit });
    await client.connect(transport as Parameters<typeof client.connect>[0]);
    const { tools } = await client.listTools();
    expect(tools.filter(({ outputSchema }) => outputSchema).length).toBeGreaterThan(100);
    expect(await client.callTool({ name: 'me', arguments: {} })).toMatchObject({ structuredContent: { mode: 'test' } });

    const reasonOf = async (name: string, given: Record<string, unknown>) => {
      const { isError, content } = await client.callTool({ name, arguments: given });
      return [isError, (content as { text: string }[])[0]?.text];
    };
    const reason = (text: string) => [true, expect.stringContaining(text)];
    expect(await reasonOf('users_get', { user: 'nobody' })).toEqual(reason('user_not_found: No such user.'));
    const missing = `conv_${'0'.repeat(24)}`;
    expect(await reasonOf('conversations_get', { conversation_id: missing })).toEqual(reason('conversation_not_found'));
    for (const { name } of tools) {
      expect([name, ...(await reasonOf(name, { colour: 'red' }))]).toEqual([
        name,
        ...reason('invalid_request (colour)'),
      ]);
    }
    await client.close();
  });
});

describe('tools that are more than one call', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connectMcp(desk.url, desk.testKey);
  });
  afterAll(() => client.close());

  it('`init` interviews the person who describes an agent [MCP-007]', async () => {
    const { tools } = await client.listTools();
    const init = tools.find(({ name }) => name === 'init');
    expect(Object.keys(init?.inputSchema.properties ?? {}).sort()).toEqual(
      ['answer', 'conversation', 'deployment', 'describe', 'user'].sort(),
    );
    const file = JSON.stringify({ name: 'florist', instructions: 'Sell flowers.' });
    desk.script(() => ({ text: JSON.stringify({ question: 'Which flowers?', is_done: false, file }) }));
    const begun = await call(client, 'init', { deployment: 'florist', describe: 'Sells flowers.' });
    expect(begun).toMatchObject({ object: 'interview', status: 'asking', question: 'Which flowers?' });
    const conversation = begun.conversation_id;
    const gone = await call(client, 'init', { conversation, answer: 'Roses.' });
    expect(gone).toMatchObject({ conversation_id: conversation, file: { name: 'florist' } });
    expect(await refusal(client, 'init', { describe: 'A florist' })).toMatchObject({ code: 'describe_or_answer' });
  });

  it('`embed` gives the page’s address and not the bare token [MCP-006]', async () => {
    const session = await call(client, 'embed', { user: 'ida' });
    expect(session).toMatchObject({ object: 'session', user_id: 'ida', chat: true, status: 'live' });
    expect(session.url).toMatch(/#/);
    expect(session).not.toHaveProperty('token');
  });

  it('`answer` needs an id if more than one is open', async () => {
    desk.script(asksForSize);
    const first = await call(client, 'ask', { message: 'A shirt', user: 'twice' });
    const second = await call(client, 'ask', { message: 'Another', user: 'twice' });
    expect([first.status, second.status]).toEqual(['waiting', 'waiting']);
    expect(await refusal(client, 'answer', { user: 'twice', answers: ['S'] })).toMatchObject({
      code: 'invalid_request',
      param: 'interaction',
    });
    const [{ id }] = second.interactions;
    expect(await call(client, 'answer', { interaction: id, answers: ['S'] })).toMatchObject({
      id,
      outcome: { answers: ['S'] },
    });
    expect(
      await refusal(client, 'ask', { message: 'a', conversation: first.conversation_id, user: 'ida' }),
    ).toMatchObject({ code: 'conversation_user_mismatch', param: 'user' });
  });

  it('`ask` returns the running state when its time is over, and the turn continues', async () => {
    const held = door();
    desk.script(async () => {
      await held.opened;
      return { text: 'At last.' };
    });
    const asked = await call(client, 'ask', { message: 'Take your time', wait_s: 1 });
    expect(asked).toMatchObject({ status: 'replying', reply: null });
    held.open();
    await desk.rest(asked.conversation_id);
    const { body } = await desk.call('GET', `/v1/conversations/${asked.conversation_id}/messages`);
    expect(body.data[0].text).toBe('At last.');
  });

  it('a client that disconnects stops waiting, and the turn continues', async () => {
    const held = door();
    const begun = door();
    desk.script(async () => {
      begun.open();
      await held.opened;
      return { text: 'Nobody heard.' };
    });
    const gone = new AbortController();
    const asked = client.callTool(
      { name: 'ask', arguments: { message: 'Are you there?', user: 'leaver' } },
      { signal: gone.signal },
    );
    await begun.opened;
    gone.abort();
    await expect(asked).rejects.toThrow();
    held.open();
    const { data } = await desk.until(
      '/v1/conversations?user_id=leaver',
      ({ data: rows }) => rows[0]?.status === 'idle',
    );
    const { body } = await desk.call('GET', `/v1/conversations/${data[0].id}/messages`);
    expect(body.data[0].text).toBe('Nobody heard.');
  });

  it('`ask` returns data for a schema, and a repeated key sends one message', async () => {
    const twice = await connectMcp(desk.url, desk.testKey, '2026-07-28', {
      headers: { 'idempotency-key': 'mcp-ask-once' },
    });
    desk.script(() => ({ text: '{"cups": 2}' }));
    const schema = { type: 'object', properties: { cups: { type: 'integer' } }, required: ['cups'] };
    const args = { message: 'How many?', user: 'once', output_schema: schema };
    const first = await call(twice, 'ask', args);
    expect(first.reply.data).toEqual({ cups: 2 });
    expect((await call(twice, 'ask', args)).turn_id).toBe(first.turn_id);
    await twice.close();
  });

  it('`test` plays the scenarios and reports each verdict', async () => {
    desk.script(() => ({ text: 'Hello.' }));
    const run = await call(client, 'test', { deployment: 'desk' });
    expect(run).toMatchObject({ object: 'test_run', counts: { total: 1, queued: 0, running: 0 } });
    expect(run.results).toMatchObject([{ name: 'greets', criteria: [{ text: 'It greets.' }] }]);
  });

  it('a waiting reply is shown like waiting work', async () => {
    desk.script(inTurn(calling('order_paper', { sheets: 5 }), { text: 'Ordered.' }));
    const asked = await call(client, 'ask', { message: 'Paper', user: 'hal' });
    expect(asked).toMatchObject({ status: 'waiting', task_id: null, interactions: [{ type: 'approval' }] });
    const id = asked.interactions[0].id;
    expect(await refusal(client, 'answer', { interaction: id, approve: true })).toMatchObject({
      code: 'present_user_required',
    });
    await call(client, 'answer', { interaction: id, approve: false });
    await desk.rest(asked.conversation_id);
  });
});

describe('a key', () => {
  it('sees and calls only what its scopes allow [MCP-001, MCP-010]', async () => {
    const wanted = (held: string[]) =>
      commands
        .filter(({ tool, scopes }) => tool !== null && scopes !== null)
        .filter(
          ({ scopes }) => scopes === 'any' || held.includes('all') || scopes?.some((scope) => held.includes(scope)),
        )
        .map(({ tool }) => tool as string);
    for (const held of [['runtime'], ['runtime', 'setup'], ['runtime', 'admin'], ['all']]) {
      const client = await connectMcp(desk.url, await newKey(...held));
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect([held, names.sort()]).toEqual([held, wanted(held).sort()]);
      for (const [scope, tool] of [
        ['setup', 'deployments_list'],
        ['admin', 'org_get'],
        ['runtime', 'users_list'],
      ] as const) {
        if (held.includes('all') || held.includes(scope)) await call(client, tool);
        else expect(await refusal(client, tool)).toMatchObject({ code: 'scope_missing' });
      }
      if (held.length === 1 && held[0] === 'runtime') {
        expect(await refusal(client, 'test', { deployment: 'desk' })).toMatchObject({ code: 'scope_missing' });
      }
      await client.close();
    }
    const { status, body } = await desk.call('POST', '/v1/mcp', { key: await newKey('setup'), body: {} });
    expect([status, body.error.code]).toEqual([403, 'scope_missing']);
  });

  it('of a browser is a member’s session, in the mode it names [MCP-151]', async () => {
    const login = await desk.call('POST', '/v1/console/login', { key: null, body: desk.owner });
    const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
    const { text } = await desk.call('POST', '/v1/mcp', {
      key: null,
      headers: {
        cookie,
        'x-csrf-token': login.body.csrf_token,
        'service-mode': 'live',
        accept: 'application/json, text/event-stream',
      },
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'users_create', arguments: { user: 'vip' } },
      },
    });
    expect(text).toContain('"id\\":\\"vip');
    const seenBy = async (key: string) => (await desk.call('GET', '/v1/users/vip', { key })).status;
    expect([await seenBy(desk.liveKey), await seenBy(desk.testKey)]).toEqual([200, 404]);
  });

  it('is recorded in the audit log with its changes and the client’s address', async () => {
    const client = await connectMcp(desk.url, desk.testKey);
    await call(client, 'org_update', { name: 'Renamed' });
    await client.close();
    const { body } = await desk.call('GET', '/v1/audit-log?action=org.updated');
    expect(body.data[0]).toMatchObject({ actor: { type: 'key' } });
    expect(body.data[0].ip).toMatch(/127\.0\.0\.1|::1/);
  });
});
