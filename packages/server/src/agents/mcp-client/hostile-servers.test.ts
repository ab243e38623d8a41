import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { endless, outbound, serve } from '../../platform/outbound/loopback.fixture.ts';
import { createMcpClient } from './mcp-client.ts';
import type { SessionLimits } from './session.ts';

const secret = 'hunter2-hunter2';

async function check(handle: RequestListener, limits: Partial<SessionLimits> = {}) {
  const served = await serve(handle);
  const client = createMcpClient({ fetch: outbound().webFetch, version: '1', limits });
  const started = Date.now();
  const headers = { authorization: `Bearer ${secret}` };
  const answer = await client.listTools(
    { url: `${served.url}/mcp`, headers },
    { signal: new AbortController().signal },
  );
  expect(JSON.stringify(answer)).not.toContain(secret);
  return { ...served, answer, took: Date.now() - started };
}

const answering =
  (status: number, headers: Record<string, string>, body = '') =>
  (_request: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, headers).end(body);

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream' };

/** Answers the handshake of 2025 correctly, and the rest as the test wants. */
const afterHandshake =
  (handle: (message: { id: number }, response: ServerResponse) => void): RequestListener =>
  async (request, response) => {
    const message = JSON.parse(await text(request));
    if (message.method === 'server/discover') return void response.writeHead(400).end();
    if (message.id === undefined || message.method === undefined) return void response.writeHead(202).end();
    if (message.method !== 'initialize') return handle(message, response);
    const result = {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'x', version: '1' },
    };
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
  };

const failing = (message: string) => ({ ok: false, code: 'mcp_server_error', message });
const bytes = '127.0.0.1 sent more than 8388608 bytes.';
const values = '127.0.0.1 sent more than 100000 values.';
const answerTo = (id: number, tools: string) => `{"jsonrpc":"2.0","id":${id},"result":{"tools":${tools}}}`;
const unreadable = failing('127.0.0.1 does not speak MCP at this URL: its answer could not be read.');

describe('a server that', () => {
  it.each([301, 302, 307, 308])('redirects with %s is not followed, even within its origin', async (status) => {
    const { answer, requests } = await check((request, response) => {
      if (request.url === '/other') return void response.writeHead(200).end();
      response.writeHead(status, { location: '/other' }).end();
    });
    expect(answer).toEqual(
      failing(`127.0.0.1 answered ${status}, a redirect, which is not followed: register the URL that it leads to.`),
    );
    expect(requests.map(({ url }) => url)).not.toContain('/other');
  });

  it.each([403, 404, 405, 429, 500, 503])('answers %s is reported with its status', async (status) => {
    const { answer } = await check(answering(status, {}, `no ${secret}`));
    expect(answer).toMatchObject({ ok: false, message: expect.stringContaining(`127.0.0.1 answered ${status}`) });
  });

  it('asks for another scope starts no sign-in', async () => {
    const challenge = 'Bearer error="insufficient_scope", resource_metadata="http://127.0.0.1:1/x"';
    const { answer, requests } = await check(answering(403, { 'www-authenticate': challenge }));
    expect(answer).toMatchObject({ ok: false, code: 'mcp_server_error' });
    expect(requests.every(({ url }) => url === '/mcp')).toBe(true);
  });

  it.each([
    ['a page of HTML', 200, { 'content-type': 'text/html' }, '<p>Welcome</p>'],
    ['nothing', 200, {}, ''],
    ['invalid JSON', 200, json, `{"jsonrpc": "2.0", ${secret}`],
    ['JSON that is no MCP', 200, json, `{"hello": "${secret}"}`],
    ['a list of nonsense', 200, json, '[1, null, {}]'],
    ['an answer to something else', 200, json, '{"jsonrpc":"2.0","id":"x","result":{}}'],
  ] as const)('answers %s is reported as not MCP', async (_what, status, headers, body) => {
    const { answer, took } = await check(answering(status, headers, body), { timeoutMs: 1000 });
    expect(answer.ok).toBe(false);
    expect(took).toBeLessThan(3000);
  });

  it('answers with an MCP error is reported by its code only', async () => {
    const { answer } = await check(
      afterHandshake(({ id }, response) => {
        const error = { code: -32603, message: `Got ${secret}`, data: { secret } };
        response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      }),
    );
    expect(answer).toEqual(failing('127.0.0.1 answered with the MCP error -32603.'));
  });

  it.each([
    ['tools that are none', { tools: [{ name: 7 }] }],
    ['a tool without a schema', { tools: [{ name: 'x' }] }],
    ['no list', { tools: 'many' }],
  ])('lists %s is reported as unreadable', async (_what, result) => {
    const { answer } = await check(
      afterHandshake(({ id }, response) => {
        response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      }),
    );
    expect(answer).toEqual(unreadable);
  });

  it('never answers is abandoned after the total time limit', async () => {
    const { answer, took, sockets } = await check(() => {}, { timeoutMs: 400 });
    expect(answer).toEqual({ ok: false, code: 'timeout', message: '127.0.0.1 took too long.' });
    expect(took).toBeGreaterThanOrEqual(390);
    expect(took).toBeLessThan(2000);
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });

  it('is slow in every step cannot exceed the total time limit', async () => {
    let page = 0;
    const { answer, took } = await check(
      afterHandshake(({ id }, response) => {
        const result = { tools: [], nextCursor: String(page++) };
        setTimeout(() => response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result })), 150);
      }),
      { timeoutMs: 600 },
    );
    expect(answer).toMatchObject({ ok: false, code: 'timeout' });
    expect(took).toBeLessThan(2000);
  });

  it('sends byte by byte is abandoned in time', async () => {
    const { answer, took, sockets } = await check(
      (_request, response) => {
        response.writeHead(200, json).write('{');
        const drip = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(drip));
      },
      { timeoutMs: 400 },
    );
    expect(answer).toMatchObject({ ok: false, code: 'timeout' });
    expect(took).toBeLessThan(2000);
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });

  it.each([
    ['comments', events, `: ${'still there '.repeat(1000)}\n\n`, bytes],
    ['one line that never ends', events, 'data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxx', bytes],
    ['white space before its JSON', json, ' '.repeat(64), bytes],
    ['empty lines', events, '\n', values],
    ['messages that are none', events, 'data: {"a":1}\n\n', values],
    ['lists within lists', json, '{"a":['.repeat(100), values],
  ])('sends endless %s is cut off', async (_what, headers, chunk, message) => {
    const stream = endless(Buffer.from(chunk.repeat(500)));
    const { answer, took, sockets } = await check((request, response) => {
      response.writeHead(200, headers);
      stream(request, response);
    });
    expect(answer).toEqual(failing(message));
    expect(took).toBeLessThan(10_000);
    await vi.waitFor(() => expect(sockets.every(({ destroyed }) => destroyed)).toBe(true));
  });

  it.each([
    ['two million tools that are none', (id: number) => answerTo(id, `[${'{},'.repeat(2_000_000)}{}]`), values],
    [
      'a tool of a million arguments',
      (id: number) =>
        answerTo(id, `[{"name":"x","inputSchema":{"type":"object","required":[${'1,'.repeat(1_000_000)}1]}}]`),
      values,
    ],
    [
      'a batch of ten thousand questions',
      () => `  [${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(10_000)}{}]`,
      '127.0.0.1 answered with several messages at once.',
    ],
    [
      'a tool of twenty thousand levels',
      (id: number) =>
        answerTo(
          id,
          `[{"name":"x","inputSchema":{"type":"object","properties":{"a":${'{"a":'.repeat(20_000)}{}${'}'.repeat(20_000)}}}}]`,
        ),
      unreadable.message,
    ],
  ])('sends %s does not block the process', async (_what, body, message) => {
    const { answer, took, requests } = await check(
      afterHandshake(({ id }, response) => void response.writeHead(200, json).end(body(id))),
    );
    expect(answer).toEqual(failing(message));
    expect(took).toBeLessThan(5000);
    expect(requests.length).toBeLessThan(10);
  });

  it('sends endless requests causes no flood of responses', async () => {
    let asked = 0;
    const { answer, requests } = await check(
      afterHandshake((_message, response) => {
        response.writeHead(200, events);
        const ask = () => `data: ${JSON.stringify({ jsonrpc: '2.0', id: `q${asked++}`, method: 'ping' })}\n\n`;
        response.write(Array.from({ length: 5000 }, ask).join(''));
      }),
    );
    expect(answer).toEqual(failing('127.0.0.1 needed more than 100 requests.'));
    expect(requests.length).toBeLessThanOrEqual(100);
  });

  it('ends its stream without an answer is reported as unreadable, not slow', async () => {
    const { answer } = await check(
      afterHandshake((_message, response) => void response.writeHead(200, events).end('data: {"nonsense\n\n')),
      { timeoutMs: 500 },
    );
    expect(answer).toEqual(unreadable);
  });

  it('does not end its session causes only a short delay', async () => {
    const { answer, took } = await check((request, response) => {
      if (request.method === 'DELETE') return;
      response.setHeader('mcp-session-id', 's1');
      void afterHandshake(({ id }, late) => {
        late.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [] } }));
      })(request, response);
    });
    expect(answer).toMatchObject({ ok: true, tools: [], isCut: false });
    expect(took).toBeLessThan(3000);
  });
});
