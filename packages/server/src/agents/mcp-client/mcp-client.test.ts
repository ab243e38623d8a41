import type { Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { outbound, serve, unusedPort } from '../../platform/outbound/loopback.fixture.ts';
import { createMcpClient } from './mcp-client.ts';
import { generations, type Pages, serveMcp, tool } from './mcp-server.fixture.ts';

const listTools = (url: string, headers: Record<string, string> = {}, signal = new AbortController().signal) =>
  createMcpClient({ fetch: outbound().webFetch, version: '1' }).listTools({ url, headers }, { signal });

const inputSchema = { type: 'object' as const, properties: { order: { type: 'string' } }, required: ['order'] };
const shop = [
  tool('find_order', {
    description: 'Finds an order.',
    annotations: { readOnlyHint: true },
    inputSchema,
    _meta: { 'vestra/price_usd': 0.25 },
  }),
  tool('refund', {
    description: 'Pays back.',
    annotations: { readOnlyHint: false },
    inputSchema,
    _meta: { 'vestra/price_usd': -1 },
  }),
  tool('ping'),
];

describe.each(generations)('a server of generation %s', (generation) => {
  it('offers its tools', async () => {
    const { url, sessions } = await serveMcp(generation, shop);
    expect(await listTools(url)).toEqual({
      ok: true,
      isCut: false,
      hasResources: false,
      reportsChanges: false,
      instructions: '',
      unusable: [],
      tools: [
        {
          name: 'find_order',
          description: 'Finds an order.',
          isReadOnly: true,
          isRepeatable: true,
          inputSchema,
          priceUsd: 0.25,
        },
        {
          name: 'refund',
          description: 'Pays back.',
          isReadOnly: false,
          isRepeatable: false,
          inputSchema,
          priceUsd: null,
        },
        {
          name: 'ping',
          description: '',
          isReadOnly: false,
          isRepeatable: false,
          inputSchema: { type: 'object' },
          priceUsd: null,
        },
      ],
    });
    expect(sessions.size).toBe(0);
  });

  it('is listened to for a limited time, and its session ends [MCPS-445]', async () => {
    const { url, sessions } = await serveMcp(generation, shop, { capabilities: { tools: { listChanged: true } } });
    const client = createMcpClient({ fetch: outbound().webFetch, version: '1' });
    const options = { signal: new AbortController().signal, forMs: 200 };
    expect(await client.waitForChange({ url, headers: {} }, options)).toBe(false);
    expect(sessions.size).toBe(0);
  });

  it('gets the headers with every request, and no request for an unused stream', async () => {
    const { url, requests } = await serveMcp(generation, shop);
    await listTools(url, { Authorization: 'Bearer abc', 'X-Region': 'eu' });
    expect(requests.length).toBeGreaterThanOrEqual(2);
    for (const { headers, method } of requests) {
      expect(headers).toMatchObject({ authorization: 'Bearer abc', 'x-region': 'eu' });
      expect(method).not.toBe('GET');
    }
  });

  it('is listed page by page', async () => {
    const { url } = await serveMcp(generation, (cursor) => {
      const at = Number(cursor ?? 0);
      return { tools: [tool(`tool_${at}`)], ...(at < 11 && { nextCursor: String(at + 1) }) };
    });
    const answer = await listTools(url);
    expect(answer.ok && answer.tools.map(({ name }) => name)).toEqual(
      Array.from({ length: 12 }, (_, at) => `tool_${at}`),
    );
  });

  it('with ten thousand tools shows the first 500', async () => {
    const many = Array.from({ length: 10_000 }, (_, at) => tool(`tool_${at}`, { description: 'One of many.' }));
    const { url } = await serveMcp(generation, many);
    const answer = await listTools(url);
    expect(answer.ok && [answer.tools.length, answer.tools.at(-1)?.name]).toEqual([500, 'tool_499']);
  });

  it('that refuses the credentials is distinguished from a broken one', async () => {
    const { url } = await serveMcp(generation, shop, {
      authorize: (request) => request.headers.get('authorization') === 'Bearer right',
    });
    expect(await listTools(url, { authorization: 'Bearer wrong' })).toEqual({
      ok: false,
      code: 'mcp_server_error',
      message: '127.0.0.1 answered 401: it did not accept the credentials in `auth`, or needs some.',
      isUnauthorized: true,
    });
    expect(await listTools(url, { authorization: 'Bearer right' })).toMatchObject({ ok: true });
  });

  it('gets no request for pages beyond 500 tools', async () => {
    let asked = 0;
    const pages: Pages = (cursor) => {
      asked += 1;
      const at = Number(cursor ?? 0);
      return { tools: Array.from({ length: 60 }, (_, n) => tool(`tool_${at}_${n}`)), nextCursor: String(at + 1) };
    };
    const { url } = await serveMcp(generation, pages);
    const answer = await listTools(url);
    expect(answer.ok && answer.tools.length).toBe(500);
    expect(asked).toBe(9);
  });

  it('with an endless list is abandoned', async () => {
    let asked = 0;
    const { url } = await serveMcp(generation, () => {
      asked += 1;
      return { tools: [], nextCursor: 'again' };
    });
    expect(await listTools(url)).toEqual({
      ok: false,
      code: 'mcp_server_error',
      message: 'The list of tools has more than 50 pages.',
    });
    expect(asked).toBe(50);
  });
});

describe('tools that cannot be called', () => {
  const withHeader = (header: string, more: object = {}) =>
    tool('region', {
      inputSchema: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': header, ...more } } },
    });

  it.each<[string, ReturnType<typeof tool>, string | null]>([
    ['a valid header', withHeader('Region'), null],
    [
      'a property that is called like the keyword',
      tool('a', { inputSchema: { type: 'object', properties: { 'x-mcp-header': { type: 'string' } } } }),
      null,
    ],
    ['an empty header', withHeader(''), 'is not the name of a header'],
    ['a header with a line break', withHeader('A\r\nB'), 'is not the name of a header'],
    ['a header of an object', withHeader('Region', { type: 'object' }), 'needs a string'],
    [
      'a header in a list',
      tool('a', {
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } },
        },
      }),
      'is not on a plain property',
    ],
    [
      'a required task',
      tool('research', { execution: { taskSupport: 'required' } } as object),
      'it runs only as a task',
    ],
  ])('are not offered: %s [MCPS-714]', async (_what, offered, reason) => {
    const isTask = offered.name === 'research';
    const { url } = await serveMcp(isTask ? '2025 with sessions' : '2026', [offered, tool('other')]);
    const answer = await listTools(url);
    expect(answer.ok && answer.tools.map(({ name }) => name)).toEqual(
      reason === null ? [offered.name, 'other'] : ['other'],
    );
    expect(answer.ok && answer.unusable).toEqual(
      reason === null ? [] : [{ name: offered.name, reason: expect.stringContaining(reason) }],
    );
  });
});

it('tools for clients that can be asked, also by a model, are listed [MCPS-701]', async () => {
  const servers: Server[] = [];
  const offered = (() => {
    const { elicitation, sampling } = servers.at(-1)?.getClientCapabilities() ?? {};
    return { tools: [tool('a'), ...(elicitation ? [tool('ask')] : []), ...(sampling ? [tool('sample')] : [])] };
  }) satisfies Pages;
  const { url } = await serveMcp('2025 with sessions', offered, { prepare: (server) => servers.push(server) });
  const client = createMcpClient({ fetch: outbound().webFetch, version: '1' });
  const namesWith = async (mayAskModel: boolean) => {
    const list = await client.listTools({ url, headers: {} }, { signal: new AbortController().signal, mayAskModel });
    return list.ok && list.tools.map(({ name }) => name);
  };
  expect(await namesWith(false)).toEqual(['a', 'ask']);
  expect(await namesWith(true)).toEqual(['a', 'ask', 'sample']);
});

describe('a server that cannot be used is reported with the cause', () => {
  it.each([
    [403, {}, /answered 403: it refuses this caller, and `auth` sends no credentials/],
    [403, { authorization: 'Bearer x' }, /answered 403: the credentials in `auth` do not allow this/],
    [404, {}, /answered 404: it has no MCP endpoint at this URL/],
  ])('after %s with the headers %j [MCPS-716]', async (status, headers, message) => {
    const { url } = await serve((_request, response) => void response.writeHead(status).end());
    expect(await listTools(url, headers)).toMatchObject({ ok: false, message: expect.stringMatching(message) });
  });

  it.each([404, 405])('if it speaks only the transport of 2024 and answers POST with %s [MCPS-716]', async (status) => {
    const { url } = await serve((request, response) => {
      if (request.method !== 'GET') return void response.writeHead(status).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages?id=1\n\n');
    });
    expect(await listTools(url)).toMatchObject({
      ok: false,
      message: expect.stringContaining('SSE transport of 2024'),
    });
  });
});

describe('a call', () => {
  it('ends with the caller’s signal', async () => {
    const { url, sockets } = await serve(() => {});
    const controller = new AbortController();
    const listing = listTools(url, {}, controller.signal);
    await expect.poll(() => sockets).toHaveLength(1);
    controller.abort();
    expect(await listing).toMatchObject({ ok: false, code: 'timeout' });
    expect(sockets).toHaveLength(1);
    expect(await listTools(url, {}, AbortSignal.abort())).toMatchObject({ ok: false, code: 'timeout' });
    expect(sockets).toHaveLength(1);
  });

  it('of an unreachable address reports that', async () => {
    const answer = await listTools(`http://127.0.0.1:${await unusedPort()}/mcp`);
    expect(answer).toEqual({
      ok: false,
      isUnreachable: true,
      code: 'mcp_server_error',
      message: '127.0.0.1 could not be reached: ECONNREFUSED.',
    });
  });

  it('of a private address is refused unless the operator allows it', async () => {
    const { url, requests } = await serveMcp('2026', shop);
    const client = createMcpClient({ fetch: outbound({ allowPrivate: false }).webFetch, version: '1' });
    const answer = await client.listTools({ url, headers: {} }, { signal: new AbortController().signal });
    expect(answer).toEqual({
      ok: false,
      isUnreachable: true,
      code: 'mcp_server_error',
      message: expect.stringMatching(
        /^Private, local and internal addresses are refused\..*VESTRA_ALLOW_PRIVATE_ADDRESSES=1/,
      ),
    });
    expect(requests).toEqual([]);
  });
});
