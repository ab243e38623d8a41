import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serve, unusedPort } from '../../platform/outbound/loopback.fixture.ts';
import { generations, serveMcp, tool } from '../mcp-client/mcp-server.fixture.ts';
import { startMcpServers } from './mcp-servers.fixture.ts';

let server: Awaited<ReturnType<typeof startMcpServers>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
beforeAll(async () => {
  server = await startMcpServers({ allowPrivate: true });
});
beforeEach(async () => {
  org = await server.newOrg();
});
afterAll(() => server.stop());

async function newServer(url: string, headers: Record<string, string> = {}): Promise<string> {
  const body = { name: 'Shop', slug: 'shop', url, auth: { type: 'headers', headers } };
  return (await server.call('POST', '/v1/mcp-servers', { key: org.testKey, body })).body.id;
}
const check = (id: string, key = org.testKey) => server.call('POST', `/v1/mcp-servers/${id}/check`, { key });
const store = (name: string, value: string, { key = org.testKey, user_id }: { key?: string; user_id?: string } = {}) =>
  server.call('PUT', `/v1/secrets/${name}`, { key, body: { value, ...(user_id && { user_id }) } });
const failing = (code: string, message: unknown) => ({
  status: 200,
  body: { ok: false, tools: [], instructions: null, notes: [], error: { code, message } },
});

const shop = [
  tool('find_order', { description: 'Finds an order.', annotations: { readOnlyHint: true } }),
  tool('refund', { description: 'Pays back.' }),
];

describe('a check', () => {
  it.each(generations)('lists the tools of a server of generation %s [MCPS-027, MCPS-031]', async (generation) => {
    const { url } = await serveMcp(generation, shop);
    const answer = await check(await newServer(url));
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      ok: true,
      tools: [
        { name: 'find_order', description: 'Finds an order.', read_only: true },
        { name: 'refund', description: 'Pays back.', read_only: false },
      ],
      instructions: null,
      notes: [],
      duration_ms: expect.any(Number),
      error: null,
    });
  });

  it('shows the instructions of a server without secrets, and counts the tools for its resources [MCPS-712]', async () => {
    const { url } = await serveMcp('2025 with sessions', shop, {
      instructions: 'Call find_order first with test-token.',
      capabilities: { resources: {} },
    });
    const id = await newServer(url, { Authorization: 'Bearer ${TOKEN}' });
    await store('TOKEN', 'test-token');
    const { body } = await check(id);
    expect(body.instructions).toBe('Call find_order first with [secret].');
    const names = body.tools.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['find_order', 'refund', 'list_resources', 'read_resource']);
    expect(body.notes).toEqual([expect.stringContaining('`list_resources` and `read_resource`, which count as tools')]);
  });

  it('fills in the secrets of the mode', async () => {
    const { url, requests } = await serveMcp('2026', shop);
    const id = await newServer(url, {
      Authorization: 'Bearer ${TOKEN}',
      'X-Pair': 'a ${USER}:${TOKEN} z',
      'X-Region': 'eu',
    });
    await store('TOKEN', 'test-token');
    await store('USER', 'ada');
    await store('TOKEN', 'live-token', { key: org.liveKey });
    await store('USER', '${secret:TOKEN}', { key: org.liveKey });

    expect((await check(id)).body.ok).toBe(true);
    const sent = requests.splice(0).map(({ headers }) => headers);
    expect(sent.length).toBeGreaterThan(1);
    for (const headers of sent) {
      expect(headers).toMatchObject({
        authorization: 'Bearer test-token',
        'x-pair': 'a ada:test-token z',
        'x-region': 'eu',
      });
    }
    expect((await check(id, org.liveKey)).body.ok).toBe(true);
    expect(requests[0]?.headers).toMatchObject({
      authorization: 'Bearer live-token',
      'x-pair': 'a ${secret:TOKEN}:live-token z',
    });
  });

  it('names missing secrets of the mode without calling the server', async () => {
    const { url, requests } = await serveMcp('2026', shop);
    const id = await newServer(url, { Authorization: 'Bearer ${TOKEN}', 'X-Key': '${KEY}' });
    await store('TOKEN', 'test-token');
    await store('KEY', 'of a user', { user_id: 'ada' });
    expect(await check(id)).toMatchObject(
      failing('secret_missing', expect.stringMatching(/^Store `KEY` in test mode/)),
    );
    expect(await check(id, org.liveKey)).toMatchObject(
      failing('secret_missing', expect.stringMatching(/^Store `TOKEN`, `KEY` in live mode/)),
    );
    expect(requests).toEqual([]);
  });

  it('reports that a server needs user secrets without calling it', async () => {
    const { url, requests } = await serveMcp('2026', shop);
    const id = await newServer(url, { Authorization: 'Bearer ${user_secret:MINE}' });
    await store('MINE', 'ada-token', { user_id: 'ada' });
    await store('MINE', 'company-token');
    const message = 'The headers need each user’s own `MINE`, and a check runs for no user.';
    expect(await check(id)).toMatchObject(failing('secret_missing', message));
    expect(requests).toEqual([]);
  });

  it('refuses a secret that would inject a header, without repeating it', async () => {
    const { url, requests } = await serveMcp('2026', shop);
    const id = await newServer(url, { Authorization: 'Bearer ${TOKEN} x' });
    for (const value of ['hunter2\r\nX-Admin: 1', 'hunter2 😀', 'hunter2\u0000']) {
      await store('TOKEN', value);
      const answer = await check(id);
      expect(answer).toMatchObject(failing('invalid_request', expect.stringContaining('`Authorization`')));
      expect(answer.text).not.toContain('hunter2');
    }
    expect(requests).toEqual([]);
  });

  it('accepts a secret that ends with a line break', async () => {
    const { url, requests } = await serveMcp('2026', shop);
    const id = await newServer(url, { Authorization: 'Bearer ${TOKEN}' });
    await store('TOKEN', 'test-token\n');
    expect((await check(id)).body.ok).toBe(true);
    expect(requests[0]?.headers.authorization).toBe('Bearer test-token');
  });

  it('hides secrets that the server repeats, also in the log', async () => {
    const long = 'hunter2-hunter2-hunter2';
    const repeating = [
      tool('x', { description: `You sent Bearer ${long}, ${long}!` }),
      tool(`name_${long}`, { description: `${'d'.repeat(19_996)}${long}` }),
    ];
    const { url } = await serveMcp('2026', repeating);
    const id = await newServer(url, { Authorization: 'Bearer ${TOKEN}', 'X-Token': '${PART}' });
    await store('TOKEN', long);
    await store('PART', 'hunter2');
    const answer = await check(id);
    expect(answer.body.tools).toEqual([
      { name: 'x', description: 'You sent Bearer [secret], [secret]!', read_only: false },
      { name: 'name_[secret]', description: `${'d'.repeat(19_996)}[sec … (cut)`, read_only: false },
    ]);
    const refusing = await serve((request, response) => {
      response.writeHead(500, { 'x-echo': String(request.headers.authorization) });
      response.end(`Bad token ${request.headers.authorization}`);
    });
    await server.call('PATCH', `/v1/mcp-servers/${id}`, { key: org.testKey, body: { url: refusing.url } });
    expect(await check(id)).toMatchObject(failing('mcp_server_error', '127.0.0.1 answered 500.'));
    expect(server.logged.length).toBeGreaterThan(0);
    expect(server.logged.join('')).not.toContain('hunter2');
  });

  it('cuts descriptions and names, shows the first 500 tools and lists what agents do not see [TOOL-201]', async () => {
    const many = Array.from({ length: 600 }, (_, at) => tool(`tool_${at}`, { description: '' }));
    many[0] = tool('n'.repeat(200), { description: `${'😀'.repeat(20_010)}` });
    const { url } = await serveMcp('2026', many);
    const { tools, notes } = (await check(await newServer(url))).body;
    expect(tools).toHaveLength(500);
    const description = `${'😀'.repeat(20_000)} … (cut)`;
    expect(tools[0]).toEqual({ name: 'n'.repeat(128), description, read_only: false });
    expect(notes).toEqual([
      expect.stringContaining('more than 500 tools'),
      expect.stringContaining('500 tools, and an agent is offered 128'),
      expect.stringContaining(`${'n'.repeat(128)}\` an agent reads the first 20000`),
    ]);
  });

  it('answers 200 even if the server is down, refuses or is not MCP [MCPS-027]', async () => {
    const away = `http://127.0.0.1:${await unusedPort()}/mcp`;
    const id = await newServer(away);
    expect(await check(id)).toMatchObject(failing('mcp_server_error', '127.0.0.1 could not be reached: ECONNREFUSED.'));

    for (const [status, body, message] of [
      [401, '', /answered 401/],
      [307, '', /redirect/],
      [200, 'Welcome!', /does not speak MCP/],
    ] as const) {
      const { url } = await serve(
        (_request, response) => void response.writeHead(status, { location: away }).end(body),
      );
      await server.call('PATCH', `/v1/mcp-servers/${id}`, { key: org.testKey, body: { url } });
      expect(await check(id)).toMatchObject(failing('mcp_server_error', expect.stringMatching(message)));
    }
  });

  it('gives up after 30 seconds, like a turn [MCPS-706]', async () => {
    const { url } = await serve(() => {});
    const id = await newServer(url);
    const started = Date.now();
    expect(await check(id)).toMatchObject(failing('timeout', '127.0.0.1 took too long.'));
    const took = Date.now() - started;
    expect(took).toBeGreaterThan(29_900);
  });
});
