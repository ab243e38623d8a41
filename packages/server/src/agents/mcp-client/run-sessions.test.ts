import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { outbound, serve } from '../../platform/outbound/loopback.fixture.ts';
import { createMcpClient, type KeptSessions, type McpClient } from './mcp-client.ts';
import { type Called, generations, serveMcp, tool } from './mcp-server.fixture.ts';

const never = new AbortController().signal;
const newClient = (more: Partial<Parameters<typeof createMcpClient>[0]> = {}) =>
  createMcpClient({ fetch: outbound().webFetch, version: '1', ...more });

type How = { name?: string; args?: Record<string, unknown>; headers?: Record<string, string>; signal?: AbortSignal };
type Options = Parameters<McpClient['callTool']>[2];
const calling =
  (client: McpClient, url: string, sessions: KeptSessions, more: Partial<Options> = {}) =>
  async ({ name = 'count', args = {}, headers = {}, signal = never }: How = {}) => {
    const called = { name, arguments: args, inputSchema: { type: 'object' } };
    const answer = await client.callTool({ url, headers }, called, { signal, hide: (text) => text, sessions, ...more });
    if (!answer.ok) return answer.message;
    return 'text' in answer ? answer.text : answer;
  };

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] });

/** Counts its calls per session, like a server that keeps state. */
function counting(): Called {
  const counts = new Map<string, number>();
  return (_name, _args, { sessionId = 'none' }: ServerContext) => {
    const count = (counts.get(sessionId) ?? 0) + 1;
    counts.set(sessionId, count);
    return text(`${count}`);
  };
}

describe('the calls of a conversation', () => {
  it('share a session, which ends when it is closed [MCPS-624, MCPS-625]', async () => {
    const { url, sessions: open } = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const client = newClient();
    const [one, other] = [client.keepSessions('conv_1'), client.keepSessions('conv_2')];
    const [call, another] = [calling(client, url, one), calling(client, url, other)];
    expect([await call(), await call(), await another(), await call()]).toEqual(['1', '2', '1', '3']);
    expect(open.size).toBe(2);
    one.close();
    one.close();
    await client.settled();
    expect([open.size, await another()]).toEqual([1, '2']);
    other.close();
    await client.settled();
    // A call after the end of the run has a separate session.
    expect([await call(), open.size]).toEqual(['1', 0]);
  });

  it('share a session with the next run, and with no other conversation [MCPS-624, MCPS-702]', async () => {
    const { url, sessions: open } = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const client = newClient();
    const opened: string[] = [];
    const run = async (owner: string) => {
      const sessions = client.keepSessions(owner);
      const answer = await calling(client, url, sessions, { onOpened: () => opened.push(owner) })();
      sessions.release();
      return answer;
    };
    expect([await run('a'), await run('a'), await run('b'), await run('a')]).toEqual(['1', '2', '1', '3']);
    expect([open.size, opened]).toEqual([2, ['a', 'b']]);
    await client.settled();
    expect([open.size, await run('a')]).toEqual([0, '1']);
  });

  it('leave no session open that was idle for too long [MCPS-625]', async () => {
    const { url, sessions: open } = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const client = newClient({ idleMs: 1 });
    const sessions = client.keepSessions('conv_1');
    expect(await calling(client, url, sessions)()).toBe('1');
    expect(open.size).toBe(1);
    sessions.release();
    await expect.poll(() => open.size).toBe(0);
  });

  it('learn that a lost session was replaced [MCPS-707]', async () => {
    const { url, sessions: open } = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const client = newClient();
    let opened = 0;
    const call = calling(client, url, client.keepSessions('conv_1'), { onOpened: () => opened++ });
    expect([await call(), await call(), opened]).toEqual(['1', '2', 1]);
    const [id] = open.keys();
    open.delete(id as string);
    expect([await call(), opened]).toEqual(['1', 2]);
  });

  it.each(['a new session', 'an open session'])(
    'hear a server that asks on the stream of %s [MCPS-703]',
    async (which) => {
      const servers: Server[] = [];
      const ask: Called = async (_name, { question }) => {
        if (!question) return text('nothing');
        const params = { message: 'Which?', requestedSchema: { type: 'object' as const, properties: {} } };
        // Without the call that it belongs to, the question goes to the stream of the session.
        const { action } = await (servers.at(-1) as Server).elicitInput(params);
        return text(action);
      };
      const { url } = await serveMcp('2025 with sessions', [tool('count')], {
        call: ask,
        prepare: (server) => servers.push(server),
      });
      const client = newClient();
      const asking = { answers: {}, given: {}, state: null };
      const call = calling(client, url, client.keepSessions('conv_1'), { asking, isRepeatable: true });
      if (which === 'an open session') for (const _ of [1, 2, 3]) expect(await call()).toBe('nothing');
      expect(await call({ args: { question: true } })).toMatchObject({ asked: { isHeld: true } });
    },
  );

  it('of a server without a stream ask for it once [MCPS-703]', async () => {
    const { url, requests } = await serveMcp('2025 without sessions', [tool('count')], { call: counting() });
    const client = newClient();
    const asking = { answers: {}, given: {}, state: null };
    const call = calling(client, url, client.keepSessions('conv_1'), { asking });
    for (const _ of [1, 2, 3, 4]) await call();
    expect(requests.filter(({ method }) => method === 'GET').length).toBeLessThan(3);
  });

  it.each(generations)(
    'all succeed with a server of generation %s, also concurrently [MCPS-624]',
    async (generation) => {
      const echo: Called = (_name, { say }) => text(`${say}`);
      const { url, sessions: open } = await serveMcp(generation, [tool('count')], { call: echo });
      const client = newClient();
      const sessions = client.keepSessions('conv_1');
      const call = calling(client, url, sessions);
      const said = Array.from({ length: 8 }, (_, at) => `${at}`);
      expect(await Promise.all(said.map((say) => call({ args: { say } })))).toEqual(said);
      expect(await call({ args: { say: 'after' } })).toBe('after');
      expect(open.size).toBe(generation === '2025 with sessions' ? 1 : 0);
      sessions.close();
      await client.settled();
      expect(open.size).toBe(0);
    },
  );

  it('with other credentials do not share the session [MCPS-624]', async () => {
    const {
      url,
      sessions: open,
      requests,
    } = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const client = newClient();
    const sessions = client.keepSessions('conv_1');
    const call = calling(client, url, sessions);
    const as = (token: string) => call({ headers: { Authorization: `Bearer ${token}` } });
    expect([await as('a'), await as('b'), await as('a')]).toEqual(['1', '1', '2']);
    expect(open.size).toBe(2);
    const of = new Map<unknown, Set<unknown>>();
    sessions.close();
    await client.settled();
    for (const { headers } of requests) {
      const id = headers['mcp-session-id'];
      if (id !== undefined) of.set(id, (of.get(id) ?? new Set()).add(headers.authorization));
    }
    // Each session was used and ended only with the credentials that opened it.
    expect([...of.values()].map((tokens) => [...tokens])).toEqual([['Bearer a'], ['Bearer b']]);
    expect(open.size).toBe(0);
  });

  it('get their own questions of the server, also concurrently [MCPS-628]', async () => {
    const ask: Called = async (_name, { say }, { mcpReq }) => {
      const params = {
        mode: 'form' as const,
        message: `${say}?`,
        requestedSchema: { type: 'object' as const, properties: {} },
      };
      const { action } = await mcpReq.send({ method: 'elicitation/create', params });
      return text(`${say} ${action}`);
    };
    const { url } = await serveMcp('2025 with sessions', [tool('count')], { call: ask });
    const client = newClient();
    const sessions = client.keepSessions('conv_1');
    const call = calling(client, url, sessions, {
      asking: { answers: {}, given: {}, state: null },
      isRepeatable: true,
    });
    const asked = (await Promise.all(['a', 'b', 'c'].map((say) => call({ args: { say } })))) as {
      asked: { questions: Record<string, { message: string }> };
    }[];
    expect(asked.map((each) => Object.values(each.asked.questions).map(({ message }) => message))).toEqual([
      ['a?'],
      ['b?'],
      ['c?'],
    ]);
  });

  it('have separate limits [MCPS-628]', async () => {
    const large: Called = (_name, { megabytes }) => text('x'.repeat(Number(megabytes) * 1_048_576));
    const { url, sessions: open } = await serveMcp('2025 with sessions', [tool('count')], { call: large });
    const client = newClient({ limits: { maxBytes: 2 * 1_048_576, maxRequests: 6 } });
    const sessions = client.keepSessions('conv_1');
    const call = calling(client, url, sessions);
    const size = async (megabytes: number) => String(await call({ args: { megabytes } }));
    for (let at = 0; at < 8; at += 1) expect((await size(1)).length).toBeGreaterThan(90_000);
    expect(await size(3)).toBe('127.0.0.1 sent more than 2097152 bytes.');
    expect((await size(1)).length).toBeGreaterThan(90_000);
    expect(open.size).toBe(1);
    sessions.close();
    await client.settled();
    expect(open.size).toBe(0);
  });

  it('wait for the call that opens the session, and try again if it is aborted [MCPS-624]', async () => {
    const { promise: shut, resolve: letIn } = Promise.withResolvers<void>();
    let isFirst = true;
    const { url, sessions: open } = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const client = newClient({
      fetch: (async (input, init) => {
        const isOpening = String((init as RequestInit).body).includes('"initialize"');
        if (isOpening && isFirst) {
          isFirst = false;
          letIn();
          return new Promise((_, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
        }
        return outbound().webFetch(input, init);
      }) as typeof fetch,
    });
    const sessions = client.keepSessions('conv_1');
    const call = calling(client, url, sessions);
    const stop = new AbortController();
    const first = call({ signal: stop.signal }).catch((error: Error) => error.message);
    await shut;
    const others = Promise.all([call(), call()]);
    stop.abort(new Error('stopped'));
    expect([await first, (await others).sort(), open.size]).toEqual(['stopped', ['1', '2'], 1]);
    sessions.close();
    await client.settled();
    expect(open.size).toBe(0);
  });
});

describe('a session that the server has lost', () => {
  it.each([
    [404, '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}'],
    [400, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}'],
  ])('is replaced by a new one in which the call runs once: %s [MCPS-626]', async (status, body) => {
    let calls = 0;
    const call: Called = (name, args, context) => {
      calls += 1;
      return counted(name, args, context);
    };
    const counted = counting();
    const served = await serveMcp('2025 with sessions', [tool('count')], { call });
    const lost = new Set<string>();
    const gate = await serve((request, response) => {
      const id = request.headers['mcp-session-id'];
      if (typeof id === 'string' && lost.has(id)) return void response.writeHead(status).end(body);
      void forward(served.url, request, response);
    });
    const client = newClient();
    const sessions = client.keepSessions('conv_1');
    const made = calling(client, `${gate.url}/mcp`, sessions);
    expect([await made(), await made()]).toEqual(['1', '2']);
    for (const id of served.sessions.keys()) lost.add(id);
    expect(await Promise.all([made(), made()]).then((all) => all.sort())).toEqual(['1', '2']);
    expect([calls, served.sessions.size]).toEqual([4, 2]);
  });

  it('repeatedly is a failure and no endless loop [MCPS-626]', async () => {
    const served = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    let posts = 0;
    const gate = await serve((request, response) => {
      const isCall = request.headers['mcp-session-id'] !== undefined && request.method === 'POST';
      if (isCall && ++posts > 2) return void response.writeHead(404).end();
      void forward(served.url, request, response);
    });
    const client = newClient();
    const call = calling(client, `${gate.url}/mcp`, client.keepSessions('conv_1'));
    expect(await call()).toBe('1');
    expect(await call()).toMatch(/^127\.0\.0\.1 answered 404/);
    expect(posts).toBeLessThan(8);
  });
});

it('a server that reports progress gets more time, up to the limit of the call [MCPS-705]', async () => {
  const slow: Called = async (_name, { reports, pauseMs }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken as number;
    for (let at = 1; at <= Number(reports); at++) {
      await new Promise((resolve) => setTimeout(resolve, Number(pauseMs)));
      const params = { progressToken, progress: at, total: 4, message: at === 4 ? 'Nearly\nthere' : undefined };
      await mcpReq.notify({ method: 'notifications/progress', params });
    }
    return reports === 0 ? new Promise(() => {}) : text('done');
  };
  for (const generation of ['2026', '2025 with sessions'] as const) {
    const { url } = await serveMcp(generation, [tool('count')], { call: slow });
    const client = newClient({ limits: { timeoutMs: 3_000, totalMs: 60_000 } });
    const heard: string[] = [];
    const sessions = client.keepSessions('conv_1');
    const call = calling(client, url, sessions, { onProgress: (said) => heard.push(said) });
    expect(await call({ args: { reports: 4, pauseMs: 1_000 } })).toBe('done');
    expect(heard).toEqual(['25 %', '50 %', '75 %', 'Nearly there']);
    const impatient = newClient({ limits: { timeoutMs: 200, totalMs: 800 } });
    const late = calling(impatient, url, impatient.keepSessions('conv_2'));
    expect(await late({ args: { reports: 1_000, pauseMs: 50 } })).toBe('127.0.0.1 took too long.');
  }
});

describe('the older protocol', () => {
  it('is remembered, so that later calls and runs do not probe again [MCPS-627]', async () => {
    let clock = 1_000_000;
    const { url, requests } = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const client = newClient({ now: () => clock });
    const spent = async (sessions: KeptSessions) => {
      const before = requests.length;
      await calling(client, url, sessions)();
      return requests.length - before;
    };
    const run = client.keepSessions('conv_1');
    // First `server/discover`, `initialize`, `initialized` and the call, then only the call.
    expect([await spent(run), await spent(run), await spent(run)]).toEqual([4, 1, 1]);
    expect(await spent(client.keepSessions('conv_1'))).toBe(3);
    clock += 600_001;
    expect(await spent(client.keepSessions('conv_1'))).toBe(4);
  });

  it('is forgotten if the server supports the newer one [MCPS-627]', async () => {
    const older = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
    const newer = await serveMcp('2026', [tool('count')], { call: () => text('newer') });
    let current = older.url;
    const gate = await serve((request, response) => void forward(current, request, response));
    const client = newClient();
    const call = () => calling(client, `${gate.url}/mcp`, client.keepSessions('conv_1'))();
    expect(await call()).toBe('1');
    current = newer.url;
    expect(await call()).toBe('newer');
  });
});

it('a server that does not answer the end of its session causes no delay [MCPS-625]', async () => {
  const served = await serveMcp('2025 with sessions', [tool('count')], { call: counting() });
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  const gate = await serve((request, response) => {
    if (request.method === 'DELETE') return tell();
    void forward(served.url, request, response);
  });
  const client = newClient();
  const sessions = client.keepSessions('conv_1');
  await calling(client, `${gate.url}/mcp`, sessions)();
  sessions.close();
  await told;
  await client.settled();
});

/** Forwards a request to the server at `url`. */
async function forward(url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const {
    host: _host,
    connection: _connection,
    'content-length': _length,
    'transfer-encoding': _encoding,
    ...headers
  } = request.headers as Record<string, string>;
  const body = Buffer.concat(chunks);
  const answer = await fetch(url, { method: request.method ?? 'GET', headers, ...(body.length > 0 && { body }) });
  response.writeHead(
    answer.status,
    Object.fromEntries([...answer.headers].filter(([name]) => !/encoding|length|connection/.test(name))),
  );
  response.end(Buffer.from(await answer.arrayBuffer()));
}
