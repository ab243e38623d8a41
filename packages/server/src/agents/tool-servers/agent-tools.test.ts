import { ProtocolError, type Server } from '@modelcontextprotocol/server';
import { decisionOf } from '@vestra/agent/tool';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serve, unusedPort } from '../../platform/outbound/loopback.fixture.ts';
import { type Called, generations, serveMcp, tool } from '../mcp-client/mcp-server.fixture.ts';
import type { Manifest } from '../versions/manifest.ts';
import { createServerTools, type ServerTool } from './agent-tools.ts';
import { startMcpServers } from './mcp-servers.fixture.ts';
import type { AppCredential } from './server-access.ts';

type Servers = Manifest['mcp_servers'];
type Policies = Manifest['mcp_tool_policy'];

let server: Awaited<ReturnType<typeof startMcpServers>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
let clock = 0;
let tools: ReturnType<typeof createServerTools>;
beforeAll(async () => {
  server = await startMcpServers({ allowPrivate: true });
});
beforeEach(async () => {
  org = await server.newOrg();
  clock = 1_000_000;
  tools = toolsWith([]);
});
const toolsWith = (signedIn: AppCredential[], client = server.client) =>
  createServerTools({
    db: server.db,
    vault: server.vault,
    client,
    signIns: { of: async () => signedIn },
    refuseAddress: () => null,
    now: () => clock,
  });
afterAll(() => server.stop());

const never = new AbortController().signal;

async function register(
  url: string,
  { headers = {}, ...more }: { slug?: string; headers?: Record<string, string>; tools?: object } = {},
) {
  const body = { name: 'Shop', slug: 'shop', url, auth: { type: 'headers', headers }, ...more };
  const made = await server.call('POST', '/v1/mcp-servers', { key: org.testKey, body });
  expect(made.status, made.text).toBe(201);
  return { id: made.body.id as string, slug: made.body.slug as string, url };
}
const change = (id: string, body: object) => server.call('PATCH', `/v1/mcp-servers/${id}`, { key: org.testKey, body });
const store = (name: string, value: string, { key = org.testKey, user_id }: { key?: string; user_id?: string } = {}) =>
  server.call('PUT', `/v1/secrets/${name}`, { key, body: { value, ...(user_id && { user_id }) } });

type Wanted = {
  userId?: string | null;
  mode?: 'test' | 'live';
  mayHaveMoved?: boolean;
  policies?: Policies;
  signal?: AbortSignal;
};
const load = (
  servers: Servers,
  { userId = null, mode = 'test', mayHaveMoved = true, policies = {}, signal = never }: Wanted = {},
) => tools.load({ orgId: org.id, mode }, { userId, servers, mayHaveMoved, policies }, signal);

const namesOf = (loaded: { tools: ServerTool[] }) => loaded.tools.map((each) => each.tool.definition.name);
const only = (loaded: { tools: ServerTool[] }, name?: string): ServerTool =>
  loaded.tools.find((each) => name === undefined || each.name === name) as ServerTool;

const inputSchema = { type: 'object' as const, properties: { order: { type: 'string' } } };
const shop = [
  tool('find_order', { description: 'Finds an order.', annotations: { readOnlyHint: true }, inputSchema }),
  tool('refund', { description: 'Pays back.', _meta: { 'vestra/price_usd': 0.5 } }),
  tool('delete_all', { _meta: { 'vestra/price_usd': 'free' } }),
];
const echoing: Called = (name, args) => ({ content: [{ type: 'text', text: `${name} ${JSON.stringify(args)}` }] });

describe('tools of registered servers', () => {
  it.each(generations)('reach the agent and are called, generation %s [TOOL-024]', async (generation) => {
    const { url } = await serveMcp(generation, shop, { call: echoing });
    const entry = await register(url);
    const loaded = await load([entry]);
    expect(loaded.unavailable).toEqual([]);
    expect(namesOf(loaded)).toEqual(['mcp__shop__find_order', 'mcp__shop__refund', 'mcp__shop__delete_all']);
    expect(loaded.tools[0]).toMatchObject({
      tool: {
        definition: { description: 'Finds an order.', inputSchema },
        origin: { from: 'server', name: 'find_order', isReadOnly: true, policy: null },
        effect: { kind: 'run' },
        server: 'shop',
      },
      priceUsd: null,
      serverId: entry.id,
      name: 'find_order',
    });
    expect(loaded.tools.map(({ priceUsd }) => priceUsd)).toEqual([null, 0.5, null]);
    expect(await tools.call(only(loaded), { order: '7' }, never)).toEqual({
      output: 'find_order {"order":"7"}',
      isError: false,
    });
  });

  it('follow the rules of the server in both modes, and those of the version [MCPS-011, TOOL-010, TOOL-011, TOOL-012]', async () => {
    const { url } = await serveMcp('2026', shop);
    const entry = await register(url, { tools: { deny: ['delete_all'], require_approval: ['find_order'] } });
    const policies: Policies = {
      shop: {
        deny: [],
        require_approval: [],
        run_without_asking: ['find_order', 'refund', 'delete_all'],
        approver: 'user',
      },
    };
    for (const mode of ['test', 'live'] as const) {
      const decisions = async (wanted: Wanted) =>
        (await load([entry], { mode, ...wanted })).tools.map((each) => decisionOf(each.tool));
      expect(await decisions({})).toEqual(['wait', 'wait', 'refuse']);
      expect(await decisions({ policies })).toEqual(['wait', 'run', 'refuse']);
      expect(
        await decisions({ policies: { other: { ...policies.shop, deny: ['refund'] } as Policies[string] } }),
      ).toEqual(['wait', 'wait', 'refuse']);
    }
  });

  it('follow a change of the server at the next load, in every deployment [MCPS-019]', async () => {
    const first = await serveMcp('2026', shop, { call: echoing });
    const second = await serveMcp('2026', [tool('other')], { call: echoing });
    const entry = await register(first.url);
    const before = await load([entry]);
    expect(before.tools).toHaveLength(3);
    await change(entry.id, { tools: { deny: ['refund'], require_approval: [] } });
    expect((await load([entry])).tools.map((each) => decisionOf(each.tool))).toEqual(['run', 'refuse', 'wait']);
    await change(entry.id, { url: second.url });
    for (const mode of ['test', 'live'] as const) {
      expect(namesOf(await load([entry], { mode }))).toEqual(['mcp__shop__other']);
    }
    expect(await tools.call(only(before), {}, never)).toMatchObject({ output: 'find_order {}' });
    expect(second.requests.length).toBeGreaterThan(2);
    const asked = second.requests.length;
    const moved = { serverId: entry.id, slug: 'shop', reason: 'removed', isPersonal: false };
    const fixed = await load([entry], { mode: 'live', mayHaveMoved: false });
    expect(fixed).toMatchObject({ tools: [], unavailable: [moved] });
    const spelled = { ...entry, url: second.url.replace('http:', 'HTTP:') };
    expect(namesOf(await load([spelled], { mode: 'live', mayHaveMoved: false }))).toEqual(['mcp__shop__other']);
    expect(second.requests).toHaveLength(asked);
    await server.call('DELETE', `/v1/mcp-servers/${entry.id}`, { key: org.testKey });
    expect(await load([entry])).toEqual({
      tools: [],
      signedIn: [],
      instructions: [],
      unavailable: [
        { serverId: entry.id, slug: 'shop', reason: 'removed', message: 'It was removed.', isPersonal: false },
      ],
    });
    expect(await tools.call(only(before), {}, never)).toEqual({
      output: 'mcp_server_error: The server `shop` was removed.',
      isError: true,
      away: 'It was removed.',
    });
  });

  it('of another org are not loaded', async () => {
    const { url } = await serveMcp('2026', shop);
    const entry = await register(url);
    org = await server.newOrg();
    expect(await load([entry])).toMatchObject({ tools: [], unavailable: [{ slug: 'shop' }] });
  });

  it('with names that a vendor refuses are called by their original names', async () => {
    const odd = ['orders.find', 'orders_find', `orders/${'x'.repeat(100)}`];
    const { url } = await serveMcp(
      '2026',
      [...odd, odd[0] as string].map((name) => tool(name)),
      { call: echoing },
    );
    const loaded = await load([await register(url)]);
    expect(loaded.tools.map(({ name }) => name)).toEqual(odd);
    expect(new Set(namesOf(loaded)).size).toBe(3);
    for (const name of namesOf(loaded)) expect(name).toMatch(/^mcp__shop__[A-Za-z0-9_-]{1,53}$/);
    expect(await tools.call(only(loaded, odd[2]), {}, never)).toMatchObject({ output: `${odd[2]} {}` });
  });

  it('with too large a schema get an open one and a note [TOOL-201]', async () => {
    const large = {
      type: 'object' as const,
      properties: { a: { enum: Array.from({ length: 9000 }, (_, at) => `v${at}`) } },
    };
    let deep: Record<string, unknown> = {};
    for (let level = 0; level < 40; level++) deep = { properties: { a: deep } };
    const { url } = await serveMcp('2026', [
      tool('large', { inputSchema: large }),
      tool('deep', { inputSchema: { type: 'object', ...deep } }),
    ]);
    const loaded = await load([await register(url)]);
    expect(loaded.tools.map((each) => each.tool.definition.inputSchema)).toEqual([
      { type: 'object' },
      { type: 'object' },
    ]);
    for (const each of loaded.tools) expect(each.tool.definition.description).toContain('Its input is too large');
  });
});

describe('knowledge of a server', () => {
  it('has whole descriptions, and instructions without secrets [MCPS-712, MCPS-713]', async () => {
    const description = 'Finds an order. '.repeat(200);
    const { url } = await serveMcp('2025 with sessions', [tool('find_order', { description })], {
      instructions: `Call find_order first with token-token. ${'More. '.repeat(1000)}`,
    });
    await store('TOKEN', 'token-token');
    const loaded = await load([await register(url, { headers: { authorization: 'Bearer ${TOKEN}' } })]);
    expect(only(loaded).tool.definition.description).toBe(description);
    const [text] = loaded.instructions;
    expect(text).toMatchObject({ name: 'shop' });
    expect(text?.instructions).toMatch(/^Call find_order first with \[secret\]\. More\./);
    expect(text?.instructions).toHaveLength(2000 + ' … (cut)'.length);
  });

  it('is the last one while a slow server is listed again [MCPS-706]', async () => {
    let isSlow = false;
    const pages = (() => (isSlow ? new Promise(() => {}) : { tools: shop })) as () => { tools: typeof shop };
    const { url, requests } = await serveMcp('2025 with sessions', pages);
    const entry = await register(url);
    expect((await load([entry])).tools).toHaveLength(3);
    isSlow = true;
    clock += 60_001;
    const before = requests.length;
    expect(await load([entry])).toMatchObject({ tools: { length: 3 }, unavailable: [] });
    expect(requests.length).toBeGreaterThan(before);
  });

  it('is the last one after a list took too long, for ten minutes [MCPS-706]', async () => {
    let isSlow = false;
    const took = { ok: false as const, code: 'timeout' as const, message: 'The server took too long.' };
    const client: typeof server.client = {
      ...server.client,
      listTools: async (...given) => (isSlow ? took : server.client.listTools(...given)),
    };
    tools = toolsWith([], client);
    const { url } = await serveMcp('2025 with sessions', shop);
    const entry = await register(url);
    expect((await load([entry])).tools).toHaveLength(3);
    isSlow = true;
    for (const passedMs of [60_001, 11_000, 500_000]) {
      clock += passedMs;
      expect(await load([entry])).toMatchObject({ tools: { length: 3 }, unavailable: [] });
    }
    clock += 60_000;
    expect(await load([entry])).toMatchObject({ tools: [], unavailable: [{ slug: 'shop', reason: 'unreachable' }] });
  });
});

describe('secrets', () => {
  it('of the company and the user reach the server with every call, per mode [MCPS-028, SEC-002, SEC-004, TOOL-006]', async () => {
    const { url, requests } = await serveMcp('2026', shop, { call: echoing });
    const headers = {
      Authorization: 'Bearer ${TOKEN}',
      'X-User': 'u ${user_secret:MINE} ${secret:TOKEN}',
      'X-Region': 'eu',
    };
    const entry = await register(url, { headers });
    await store('TOKEN', 'company-test');
    await store('TOKEN', 'company-live', { key: org.liveKey });
    await store('MINE', 'ada-test', { user_id: 'ada' });
    await store('MINE', 'ada-live', { key: org.liveKey, user_id: 'ada' });
    await store('MINE', 'bob-test', { user_id: 'bob' });
    for (const [userId, mode] of [
      ['ada', 'test'],
      ['ada', 'live'],
      ['bob', 'test'],
    ] as const) {
      requests.length = 0;
      const loaded = await load([entry], { userId, mode });
      await tools.call(only(loaded), {}, never);
      expect(requests.length).toBeGreaterThan(2);
      for (const request of requests) {
        expect(request.headers).toMatchObject({
          authorization: `Bearer company-${mode}`,
          'x-user': `u ${userId}-${mode} company-${mode}`,
          'x-region': 'eu',
        });
      }
      expect(JSON.stringify(loaded)).not.toMatch(/company-|-test|-live/);
    }
  });

  it('are read again for each call', async () => {
    const { url, requests } = await serveMcp('2026', shop, { call: echoing });
    const entry = await register(url, { headers: { Authorization: 'Bearer ${TOKEN}' } });
    await store('TOKEN', 'first-token');
    const loaded = await load([entry]);
    await store('TOKEN', 'second-token');
    await tools.call(only(loaded), {}, never);
    expect(requests.at(-1)?.headers.authorization).toBe('Bearer second-token');
    await server.call('DELETE', '/v1/secrets/TOKEN', { key: org.testKey });
    expect(await tools.call(only(loaded), {}, never)).toEqual({
      output: 'mcp_server_error: The server `shop` cannot be called: The company has not stored `TOKEN` in test mode.',
      isError: true,
      away: 'The company has not stored `TOKEN` in test mode.',
    });
  });

  it('make the server unavailable if missing, and are named', async () => {
    const { url, requests } = await serveMcp('2026', shop);
    const own = await register(url, { headers: { Authorization: 'Bearer ${user_secret:MINE}' } });
    const company = await register(url, { slug: 'company', headers: { 'X-A': '${KEY}', 'X-B': '${TOKEN}' } });
    const broken = await register(url, { slug: 'broken', headers: { 'X-A': '${BREAK}' } });
    await store('MINE', 'ada-token', { user_id: 'ada' });
    await store('MINE', 'company-token');
    await store('BREAK', 'a\r\nb-secret');
    await store('TOKEN', 'token');
    expect(await load([own, company, broken], { userId: 'bob' })).toEqual({
      tools: [],
      signedIn: [],
      instructions: [],
      unavailable: [
        {
          serverId: own.id,
          slug: 'shop',
          reason: 'user_secret_missing',
          message: 'The user has not stored their own `MINE`.',
          isPersonal: true,
        },
        {
          serverId: company.id,
          slug: 'company',
          reason: 'secret_missing',
          message: 'The company has not stored `KEY` in test mode.',
          isPersonal: false,
        },
        {
          serverId: broken.id,
          slug: 'broken',
          reason: 'secret_unusable',
          isPersonal: false,
          message: 'With its secrets filled in, the header `X-A` holds a character that HTTP does not carry.',
        },
      ],
    });
    expect((await load([own])).unavailable).toMatchObject([
      { slug: 'shop', message: 'It needs a user’s own `MINE`, and runs for none.' },
    ]);
    expect(requests).toEqual([]);
    expect((await load([own], { userId: 'ada' })).tools).toHaveLength(3);
  });

  it('are hidden from the model in every encoding', async () => {
    const company = 'hunter2 "quoted" hunter2';
    const own = 'own/secret+value==';
    const repeating: Called = (name) => {
      if (name === 'fails') throw new Error(`Bad ${company}`);
      return {
        content: [
          {
            type: 'text',
            text: `You sent ${company}, ${encodeURIComponent(own)} and ${Buffer.from(own).toString('base64')}`,
          },
        ],
        structuredContent: { company },
        isError: true,
      };
    };
    const { url } = await serveMcp(
      '2026',
      [
        tool('x', {
          description: `Uses ${company}.`,
          inputSchema: { type: 'object', properties: { a: { description: company, default: [own] } } },
        }),
        tool('data', { description: own }),
        tool('fails'),
        tool(`name-${own}`),
      ],
      {
        call: (name, args, context) =>
          name === 'data' ? { content: [], structuredContent: { company, own } } : repeating(name, args, context),
      },
    );
    const entry = await register(url, {
      headers: { Authorization: 'Bearer ${TOKEN}', 'X-User': '${user_secret:MINE}' },
    });
    await store('TOKEN', company);
    await store('MINE', own, { user_id: 'ada' });
    const loaded = await load([entry], { userId: 'ada' });
    expect(loaded.tools.map((each) => each.tool.definition.description)).toEqual([
      'Uses [secret].',
      '[secret]',
      '',
      '',
    ]);
    expect(only(loaded).tool.definition.inputSchema).toEqual({
      type: 'object',
      properties: { a: { description: '[secret]', default: ['[secret]'] } },
    });
    expect(loaded.tools[3]?.tool.origin).toMatchObject({ name: 'name-[secret]' });
    const outputs = await Promise.all(loaded.tools.map((each) => tools.call(each, {}, never)));
    expect(outputs[0]).toEqual({ output: 'You sent [secret], [secret] and [secret]', isError: true });
    expect(outputs[1]).toEqual({ output: '{"company":"[secret]","own":"[secret]"}', isError: false });
    expect(outputs[2]).toMatchObject({ isError: true, output: expect.stringContaining('mcp_server_error') });
    const shown = JSON.stringify([loaded.tools.map((each) => each.tool), outputs]);
    for (const part of ['hunter2', 'own/secret', 'own%2Fsecret']) expect(shown).not.toContain(part);
    expect(server.logged.join('')).not.toContain('hunter2');
  });

  it('that match a part of a tool name do not disable its rules', async () => {
    const { url } = await serveMcp('2026', [tool('delete_prod'), tool('read_prod')], { call: echoing });
    const entry = await register(url, {
      headers: { Authorization: 'Bearer ${TOKEN}' },
      tools: { deny: ['delete_prod'], require_approval: [] },
    });
    await store('TOKEN', 'prod');
    const policies: Policies = {
      shop: { deny: [], require_approval: [], run_without_asking: ['read_prod'], approver: 'user' },
    };
    const loaded = await load([entry], { policies });
    expect(loaded.tools.map((each) => decisionOf(each.tool))).toEqual(['refuse', 'run']);
    expect(loaded.tools.map((each) => each.tool.origin)).toMatchObject([
      { name: 'delete_[secret]' },
      { name: 'read_[secret]' },
    ]);
    expect(await tools.call(only(loaded, 'read_prod'), {}, never)).toEqual({
      output: 'read_[secret] {}',
      isError: false,
    });
  });
});

describe('a server that fails', () => {
  it('is reported, and the others still work [MCPS-029]', async () => {
    const good = await serveMcp('2026', shop);
    const refusing = await serve((_request, response) => void response.writeHead(500).end());
    const entries = [
      await register(refusing.url, { slug: 'refusing' }),
      await register(good.url),
      await register(`http://127.0.0.1:${await unusedPort()}/mcp`, { slug: 'away' }),
    ];
    const loaded = await load(entries);
    expect(loaded.tools).toHaveLength(3);
    expect(loaded.unavailable).toMatchObject([
      { slug: 'refusing', reason: 'unreachable', message: '127.0.0.1 answered 500.', isPersonal: false },
      { slug: 'away', reason: 'unreachable', message: '127.0.0.1 could not be reached: ECONNREFUSED.' },
    ]);
    await store('KEY', 'x');
    await store('MINE', 'y', { user_id: 'ada' });
    const closed = await serveMcp('2026', shop, { authorize: () => false });
    const [ofCompany, ofUser] = [
      await register(closed.url, { slug: 'company', headers: { Authorization: 'Bearer ${KEY}' } }),
      await register(closed.url, { slug: 'own', headers: { Authorization: 'Bearer ${user_secret:MINE}' } }),
    ];
    expect((await load([ofCompany, ofUser], { userId: 'ada' })).unavailable).toMatchObject([
      { slug: 'company', reason: 'credentials_refused', isPersonal: false },
      { slug: 'own', reason: 'credentials_refused', isPersonal: true },
    ]);
  });

  it('during a call is reported to the agent [MCPS-029]', async () => {
    const { url } = await serveMcp('2026', shop, { call: echoing });
    const entry = await register(url);
    const loaded = await load([entry]);
    const refusing = await serve((_request, response) => void response.writeHead(503).end());
    await change(entry.id, { url: refusing.url });
    expect(await tools.call(only(loaded), {}, never)).toEqual({
      output: 'mcp_server_error: 127.0.0.1 answered 503.',
      isError: true,
      away: '127.0.0.1 answered 503.',
    });
  });

  it('is tried again later', async () => {
    let isUp = false;
    const { url, requests } = await serveMcp('2026', shop, { authorize: () => isUp });
    const entry = await register(url);
    expect((await load([entry])).unavailable).toHaveLength(1);
    isUp = true;
    const asked = requests.length;
    clock += 9_000;
    expect((await load([entry])).unavailable).toHaveLength(1);
    expect(requests.length).toBe(asked);
    clock += 2_000;
    expect((await load([entry])).tools).toHaveLength(3);
  });
});

describe('the list of a server', () => {
  it('is requested once a minute per user, and shared by concurrent callers', async () => {
    let lists = 0;
    const { url } = await serveMcp('2026', () => {
      lists += 1;
      return { tools: shop };
    });
    const entry = await register(url, { headers: { 'X-User': '${user_secret:MINE}' } });
    for (const user_id of ['ada', 'bob']) await store('MINE', `${user_id}-token`, { user_id });
    await Promise.all([1, 2, 3].map(() => load([entry], { userId: 'ada' })));
    expect(lists).toBe(1);
    clock += 59_000;
    expect((await load([entry], { userId: 'ada' })).tools).toHaveLength(3);
    expect(lists).toBe(1);
    await load([entry], { userId: 'bob' });
    expect(lists).toBe(2);
    clock += 2_000;
    await load([entry], { userId: 'ada' });
    expect(lists).toBe(3);
    await store('MINE', 'new-token', { user_id: 'ada' });
    await load([entry], { userId: 'ada' });
    expect(lists).toBe(4);
  });

  it('is awaited only until the caller’s signal', async () => {
    const asked = Promise.withResolvers<void>();
    const slow = await serve(() => {});
    const { url } = await serveMcp('2026', shop, {
      authorize: () => {
        asked.resolve();
        return true;
      },
    });
    const controller = new AbortController();
    const entries = [await register(slow.url), await register(url, { slug: 'quick' })];
    const loading = load(entries, { signal: controller.signal });
    await asked.promise;
    controller.abort(new Error('stopped'));
    await expect(loading).rejects.toThrow('stopped');
    expect((await load([entries[1] as Servers[number]])).tools).toHaveLength(3);
  });
});

describe('the resources of a server', () => {
  const prepare = (server: Server) => {
    server.setRequestHandler('resources/list', ({ params }) => ({
      resources: [
        {
          uri: `menu://${params?.cursor ?? 'lunch'}`,
          name: 'Menu',
          mimeType: 'text/plain',
          description: 'All\ndishes.',
        },
      ],
      ...(params?.cursor ? {} : { nextCursor: 'dinner' }),
    }));
    server.setRequestHandler('resources/templates/list', () => ({
      resourceTemplates: [{ uriTemplate: 'dish://{name}', name: 'Dish' }],
    }));
    server.setRequestHandler('resources/read', ({ params: { uri } }) => {
      if (uri !== 'menu://lunch') throw new ProtocolError(-32602, `No ${uri} here, hunter2-hunter2.`);
      const picture = { uri: 'menu://logo', mimeType: 'image/png', blob: Buffer.from('logo').toString('base64') };
      return { contents: [{ uri, mimeType: 'text/plain', text: 'Soup. Ask hunter2-hunter2.' }, picture] };
    });
  };
  const withResources = { capabilities: { resources: {} }, prepare, call: echoing };

  it.each(generations)('are listed and read like tool answers, generation %s [MCPS-444]', async (generation) => {
    const { url } = await serveMcp(generation, [tool('find')], withResources);
    await store('PASS', 'hunter2-hunter2');
    const loaded = await load([await register(url, { headers: { 'X-Pass': '${secret:PASS}' } })]);
    expect(namesOf(loaded)).toEqual(['mcp__shop__find', 'mcp__shop__list_resources', 'mcp__shop__read_resource']);
    const list = only(loaded, 'list_resources');
    expect(await tools.call(list, {}, never)).toEqual({
      output:
        '[menu://lunch] Menu, text/plain: All dishes.\n[dish://{name}] Dish, fill in what stands in braces\nThere are more: go on with the cursor "dinner".',
      isError: false,
    });
    expect((await tools.call(list, { cursor: 'dinner' }, never)).output).toBe(
      '[menu://dinner] Menu, text/plain: All dishes.',
    );
    const read = only(loaded, 'read_resource');
    expect(await tools.call(read, { uri: 'menu://lunch' }, never)).toEqual({
      output: '[resource menu://lunch text/plain]\nSoup. Ask [secret].\n[resource menu://logo image/png, 6 bytes]',
      isError: false,
      media: [{ mediaType: 'image/png', content: Buffer.from('logo') }],
    });
    const wrong = await tools.call(read, { uri: 'menu://../etc' }, never);
    expect([wrong.isError, wrong.output]).toEqual([true, expect.stringMatching(/No menu:.*\[secret\]/)]);
  });

  it('follow the rules of the server and yield to its tools of the same name [MCPS-444]', async () => {
    const { url } = await serveMcp('2026', [tool('read_resource', { description: 'Its own.' })], withResources);
    const loaded = await load([await register(url, { tools: { deny: ['list_resources'], require_approval: [] } })]);
    const decisions = loaded.tools.map(({ tool: each, name }) => [name, each.definition.description, decisionOf(each)]);
    expect(decisions).toEqual([
      ['read_resource', 'Its own.', 'wait'],
      ['list_resources', expect.any(String), 'refuse'],
    ]);
  });
});

describe('a server that reports changed tools', () => {
  it.each(['2026', '2025 with sessions'] as const)(
    'is listed again at the next load, whether it reports on a stream or during a call (%s) [MCPS-445]',
    async (generation) => {
      const offer = [tool('old')];
      const served = await serveMcp(generation, () => ({ tools: offer }), {
        capabilities: { tools: { listChanged: true } },
        call: async (_name, _args, { mcpReq }) => {
          offer.push(tool('newest'));
          if (generation !== '2026') await mcpReq.notify({ method: 'notifications/tools/list_changed' });
          return { content: [] };
        },
      });
      const entry = await register(served.url);
      expect(namesOf(await load([entry]))).toEqual(['mcp__shop__old']);
      offer.push(tool('new'));
      expect(namesOf(await load([entry]))).toEqual(['mcp__shop__old']);
      // The change is received only after the stream is open, and nothing reports when that is.
      await expect
        .poll(
          async () => {
            await served.toolsChanged();
            return namesOf(await load([entry]));
          },
          { timeout: 10_000 },
        )
        .toEqual(['mcp__shop__old', 'mcp__shop__new']);
      if (generation === '2026') return;
      await tools.call(only(await load([entry])), {}, never);
      expect(namesOf(await load([entry]))).toContain('mcp__shop__newest');
    },
  );
});

describe('an app whose sign-in has ended', () => {
  const wanted = { userId: 'jo', servers: [], policies: {}, apps: ['notes'] };

  it('keeps the tools of approved calls in every process, and they ask for the sign-in [APP-480]', async () => {
    const fresh = toolsWith([{ slug: 'notes', connectionId: 'conn_1', credential: { kind: 'over' } }]);
    const approved = async () => ['mcp__notes__write', 'mcp__other__write', 'ask_question'];
    const loaded = await fresh.load({ orgId: org.id, mode: 'test' }, { ...wanted, approved }, never);
    expect(namesOf(loaded)).toEqual(['mcp__notes__write']);
    expect(decisionOf(only(loaded).tool)).toBe('wait');
    expect(loaded).toMatchObject({ unavailable: [{ slug: 'notes', reason: 'sign_in_over' }], signedIn: [] });
    expect(await fresh.call(only(loaded), { text: 'Eggs' }, never)).toMatchObject({ mustSignIn: { app: 'notes' } });
    expect(namesOf(await fresh.load({ orgId: org.id, mode: 'test' }, wanted, never))).toEqual([]);
  });
});
