import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { isOneProcess, startTestServer, type TestServer } from '../support/server.ts';

const limit = 40;
let server: TestServer;
let sibling: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: { VESTRA_REQUESTS_PER_MINUTE: String(limit) } });
  sibling = await startTestServer({ beside: server, env: { VESTRA_REQUESTS_PER_MINUTE: String(limit) } });
});
afterAll(async () => {
  await sibling.stop();
  await server.stop();
});

const left = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);

describe('a key', () => {
  it('may make so many requests a minute on all servers together, then waits [RATE-001, RATE-004, RATE-005, REQ-031]', async () => {
    const answers = await Promise.all(
      Array.from({ length: 2 * limit + 10 }, (_, at) => (at % 2 ? sibling : server).call('GET', '/v1/me')),
    );
    const allowed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect(allowed).toHaveLength(limit);
    expect(allowed.length + refused.length).toBe(answers.length);
    for (const { headers, body } of refused) {
      expect([body.error.type, body.error.code]).toEqual(['rate_limited', 'rate_limited']);
      expect(body.error.retry_after_ms).toBeGreaterThan(0);
      expect(Number(headers.get('retry-after')) * 1000).toBe(body.error.retry_after_ms);
    }
    const wrongType = await server.call('POST', '/v1/keys', { raw: 'x', headers: { 'content-type': 'text/plain' } });
    expect(wrongType.status).toBe(429);
  });

  it('is counted and answered although its old count is deleted at the same moment [RATE-708]', async () => {
    const { body } = await server.call('POST', '/v1/keys', {
      key: server.liveKey,
      body: { name: 'idle', scopes: ['runtime'], mode: 'live' },
    });
    const sql = (text: string, values: unknown[] = []) => query(server.connectionString, text, values);
    await sql(`INSERT INTO rate_windows (bucket, started_at, used) VALUES ($1, now() - interval '1 day', $2)`, [
      `caller:${body.id}`,
      limit,
    ]);
    // Deletes as the sweep does, between the two statements of the count.
    await sql(`CREATE FUNCTION sweep() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN DELETE FROM rate_windows WHERE started_at < now() - interval '1 hour'; RETURN NULL; END $$`);
    await sql('CREATE TRIGGER sweep AFTER INSERT ON rate_windows FOR EACH STATEMENT EXECUTE FUNCTION sweep()');
    const { status, headers } = await server.call('GET', '/v1/me', { key: body.key });
    await sql('DROP FUNCTION sweep CASCADE');
    expect([status, left(headers)]).toEqual([200, limit - 1]);
  });

  it('without the scope gets that error first [REQ-030]', async () => {
    const made = await server.call('POST', '/v1/keys', {
      key: server.liveKey,
      body: { name: 'r', scopes: ['runtime'], mode: 'live' },
    });
    const key = made.body.key;
    await Promise.all(Array.from({ length: limit + 5 }, () => server.call('GET', '/v1/me', { key })));
    expect((await server.call('GET', '/v1/me', { key })).status).toBe(429);
    expect((await server.call('GET', '/v1/org', { key })).body.error.code).toBe('scope_missing');
  });

  it('at its limit does not slow another [RATE-006]', async () => {
    expect((await server.call('GET', '/v1/me')).status).toBe(429);
    const { status, headers } = await server.call('GET', '/v1/me', { key: server.liveKey });
    expect(status).toBe(200);
    expect(headers.get('ratelimit-policy')).toBe(`"default";q=${limit};w=60`);
  });

  // Each process knows what it has in hand itself, and of what the others have only when it asks for more.
  it.runIf(isOneProcess)('sees its remaining requests decrease [RATE-002, RATE-003]', async () => {
    const first = await server.call('GET', '/v1/me', { key: server.liveKey });
    const second = await server.call('GET', '/v1/nothing-but-me', { key: server.liveKey });
    const third = await server.call('GET', '/v1/me?x=1', { key: server.liveKey });
    expect(second.headers.get('ratelimit')).toBeNull();
    expect(left(third.headers)).toBe(left(first.headers) - 1);
    expect(first.headers.get('ratelimit')).toMatch(/^"default";r=\d+;t=\d+$/);
  });

  it('is served again when the minute is over [RATE-007]', async () => {
    await query(server.connectionString, `UPDATE rate_windows SET started_at = now() - interval '61 seconds'`);
    const fresh = await startTestServer({ beside: server, env: { VESTRA_REQUESTS_PER_MINUTE: String(limit) } });
    expect((await fresh.call('GET', '/v1/me')).status).toBe(200);
    await fresh.stop();
  });
});

describe('an org', () => {
  const small = 10;
  let own: TestServer;
  beforeAll(async () => {
    own = await startTestServer({ env: { VESTRA_REQUESTS_PER_MINUTE: String(small) } });
  });
  afterAll(() => own.stop());

  const statusesOf = async (keys: readonly string[]) => {
    const answers = await Promise.all(keys.map((key) => own.call('GET', '/v1/me', { key })));
    return {
      allowed: answers.filter(({ status }) => status === 200).length,
      messages: new Set(answers.flatMap(({ status, body }) => (status === 429 ? [body.error.message] : []))),
    };
  };

  it('with many keys may make as many requests as ten of them, and slows no other org [RATE-700]', async () => {
    const forAll = { VESTRA_REQUESTS_PER_MINUTE: '1000000' };
    const maker = await startTestServer({ beside: own, env: forAll });
    const keys: string[] = [];
    for (let at = 0; at < 12; at++) {
      const body = { name: `key ${at}`, scopes: ['runtime'], mode: 'test' };
      keys.push((await maker.call('POST', '/v1/keys', { body })).body.key);
    }
    const other = await makeOtherOrg(own);
    await maker.stop();
    await query(own.connectionString, 'DELETE FROM rate_windows');

    const { allowed, messages } = await statusesOf(keys.flatMap((key) => Array.from({ length: small }, () => key)));
    expect(allowed).toBe(10 * small);
    expect([...messages].every((message) => /^More than 100 requests of this org in a minute\./.test(message))).toBe(
      true,
    );
    expect(await statusesOf([other])).toEqual({ allowed: 1, messages: new Set() });
  });

  it('has one count for all sessions of a user [RATE-701]', async () => {
    const roomy = await startTestServer({ beside: own, env: { VESTRA_REQUESTS_PER_MINUTE: '1000000' } });
    await query(own.connectionString, 'DELETE FROM rate_windows');
    await roomy.call('PUT', '/v1/deployments/desk?promote=now', { body: { name: 'desk', instructions: 'Help.' } });
    const open = async (user_id: string) =>
      (await roomy.call('POST', '/v1/sessions', { body: { user_id, chat: true } })).body;
    const ada = [await open('ada'), await open('ada'), await open('ada')];
    const bob = await open('bob');
    expect(bob).toMatchObject({ conversation_id: expect.any(String) });
    await roomy.stop();
    await query(own.connectionString, 'DELETE FROM rate_windows');
    const fresh = await startTestServer({ beside: own, env: { VESTRA_REQUESTS_PER_MINUTE: String(small) } });
    const read = async ({ token, conversation_id }: { token: string; conversation_id: string }) =>
      (await fresh.call('GET', `/v1/conversations/${conversation_id}`, { key: token })).status;
    const statuses = await Promise.all(ada.flatMap((session) => Array.from({ length: small }, () => read(session))));
    expect(statuses.filter((status) => status === 200)).toHaveLength(small);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2 * small);
    expect(await read(bob)).toBe(200);
    await fresh.stop();
  });
});

describe('an address', () => {
  it.skipIf(!isOneProcess)('has a bounded number of requests whose body never ends [HRD-708]', async () => {
    const { hostname, port } = new URL(server.url);
    const head =
      'POST /v1/console/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{';
    // More than the limit, because an attempt to sign in may have the place of one of them.
    const sockets = Array.from({ length: 120 }, () => {
      const socket = connect(Number(port), hostname, () => socket.write(head));
      return socket.on('error', () => {});
    });
    // The number of sign-ins in a minute has a limit too, and another message.
    const login = async () =>
      (await server.call('POST', '/v1/console/login', { key: null, body: {} })).body.error.message;
    await expect.poll(login, { timeout: 60_000 }).toMatch(/^At most 100 requests of one address may be unfinished/);
    for (const socket of sockets) socket.destroy();
    await expect.poll(login, { timeout: 60_000 }).not.toContain('unfinished');
  });

  it('is counted before its body is read: the 61st broken registration in a minute is refused as too many [RATE-600]', async () => {
    const register = () =>
      server.call('POST', '/v1/oauth/register', {
        key: null,
        raw: '{',
        headers: { 'content-type': 'application/json' },
      });
    const statuses = (await Promise.all(Array.from({ length: 65 }, register))).map(({ status }) => status);
    expect([400, 429].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([60, 5]);
  });
});
