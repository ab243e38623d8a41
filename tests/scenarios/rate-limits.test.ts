import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
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

describe('an address', () => {
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
