import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, startAgentServer } from '../support/agent.ts';

let server: AgentServer;
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_PUBLIC_URL: 'https://agents.example.com' } });
});
afterAll(() => server.stop());

const both = 'application/json, text/event-stream';
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

/** `fetch` writes Host itself. */
function post(body: unknown, headers: Record<string, string> = {}, method = 'POST') {
  const { hostname, port } = new URL(server.url);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const sent = request({
      hostname,
      port,
      path: '/v1/mcp',
      method,
      headers: {
        authorization: `Bearer ${server.testKey}`,
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
        accept: both,
        ...headers,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let read = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        read += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: read, headers: response.headers }));
    });
    sent.end(text);
  });
}

describe('the endpoint', () => {
  it('refuses a request that does not accept both response types [MCP-002]', async () => {
    for (const accept of ['application/json', 'text/event-stream', '*/*', 'text/html']) {
      const { status, text } = await post(listing, { accept });
      expect([accept, status, JSON.parse(text).error.param]).toEqual([accept, 400, 'Accept']);
    }
    expect((await post(listing)).status).toBe(200);
  });

  it('accepts only POST [MCP-001]', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await fetch(`${server.url}/v1/mcp`, {
        method,
        headers: { authorization: `Bearer ${server.testKey}`, accept: both },
      });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
  });

  it('refuses a foreign Host or Origin and knows its own names [MCP-012]', async () => {
    const codeOf = async (headers: Record<string, string>) => {
      const { status, text } = await post(listing, headers);
      return status === 200 ? 200 : [status, JSON.parse(text).error.code];
    };
    const foreign = [403, 'origin_not_allowed'];
    for (const host of ['evil.example', 'evil.example:4600', '127.0.0.1.evil.example', 'localhost.evil']) {
      expect([host, await codeOf({ host })]).toEqual([host, foreign]);
    }
    for (const origin of ['https://evil.example', 'null', 'http://agents.example.com.evil.example', 'file://', 'x']) {
      expect([origin, await codeOf({ origin })]).toEqual([origin, foreign]);
    }
    for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:1', '[::1]:4600', 'agents.example.com']) {
      expect([host, await codeOf({ host })]).toEqual([host, 200]);
    }
    expect(await codeOf({ origin: 'https://agents.example.com' })).toBe(200);
    expect(await codeOf({ origin: 'http://localhost:5173' })).toBe(200);
  });

  it('never falls over what is sent to it [MCP-001]', async () => {
    const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const call = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const hostile: unknown[] = [
      ...['', 'null', '1', '"x"', '{', '[]', '{}', deep(99), deep(50_000)],
      ...[[listing, listing], Array.from({ length: 5_000 }, () => listing)],
      { ...listing, id: { a: 1 } },
      { ...listing, id: null },
      { ...listing, jsonrpc: '1.0' },
      { ...listing, method: 'tools/destroy' },
      { ...listing, method: '__proto__' },
      { ...listing, method: 7 },
      { ...listing, params: [] },
      { ...listing, params: { cursor: 'x' } },
      { ...listing, params: { _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': '1999-01-01' } } },
      { ...listing, params: { _meta: meta } },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'none' } },
      { jsonrpc: '2.0', id: 9, result: {} },
      call(null),
      call({}),
      call({ name: 7 }),
      call({ name: 'ask', arguments: [] }),
      call({ name: 'ask', arguments: { message: 7 } }),
      call({ name: 'toString' }),
      call({ name: 'constructor', arguments: {} }),
      call({ name: 'users_get', arguments: { user: '../keys' } }),
      call({ name: 'tasks_get', arguments: { task_id: '..' } }),
      call({ name: 'tasks_get', arguments: { task_id: '../keys' } }),
      call({ name: 'tasks_get', arguments: { task_id: { a: 1 } } }),
      call({ name: 'users_list', arguments: { limit: [1], cursor: {} } }),
      call({ name: 'users_create', arguments: { user: 'a', metadata: 'x' } }),
      call({ name: 'routines_trigger', arguments: { routine_id: 'x', body: 'y' } }),
      call({ name: 'ask', arguments: { message: 'x'.repeat(900_000) } }),
      call({ name: 'ask', arguments: { message: 'a', context: { a: 'x'.repeat(2_000_000) } } }),
    ];
    for (const body of hostile) {
      const { status, text } = await post(body as string);
      const what = JSON.stringify(body).slice(0, 120);
      const isFault = status >= 500 || text.includes('internal_error') || text.includes('-32603');
      // A path that climbed would have reached the keys.
      expect([what, isFault, text.includes('"object":"key"')]).toEqual([what, false, false]);
    }
    expect((await post(listing)).status).toBe(200);
  });

  it('applies the limits of the routes behind it', async () => {
    const tooLong = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: {} } };
    const { text } = await post({
      ...tooLong,
      params: { name: 'ask', arguments: { message: 'x'.repeat(32_001) } },
    });
    expect(text).toContain('invalid_request');
    const large = await post({ ...tooLong, params: { name: 'ask', arguments: { message: 'x'.repeat(1_100_000) } } });
    expect([large.status, JSON.parse(large.text).error.code]).toEqual([400, 'body_too_large']);
  });
});
