import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let sibling: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  sibling = await startTestServer({ beside: server });
});
afterAll(async () => {
  await sibling.stop();
  await server.stop();
});

const codeOf = ({ body }: ApiResponse) => body?.error?.code;
const makeKey = (body: object = {}, key?: string) =>
  server.call('POST', '/v1/keys', { body: { name: 'k', scopes: ['runtime'], ...body }, ...(key && { key }) });
const me = (key: string, on: TestServer = server) => on.call('GET', '/v1/me', { key });

describe('creating a key', () => {
  it('shows it once and stores only its hash [KEY-001, KEY-002, KEY-008, KEY-009, AUTH-035, AUTH-036]', async () => {
    const { status, body } = await makeKey({ name: 'shown once' });
    expect(status).toBe(201);
    expect(body.key).toMatch(/^vk_test_[A-Za-z0-9_-]{43}$/);
    expect(body).toMatchObject({
      object: 'key',
      name: 'shown once',
      mode: 'test',
      scopes: ['runtime'],
      last4: body.key.slice(-4),
      last_used_at: null,
      expires_at: null,
    });
    const { text } = await server.call('GET', '/v1/keys?limit=100');
    expect(text).toContain(body.id);
    expect(text).not.toContain(body.key);
    const rows = await query<{ secret_hash: Buffer }>(server.connectionString, 'SELECT * FROM api_keys WHERE id = $1', [
      body.id,
    ]);
    expect(JSON.stringify(rows)).not.toContain(body.key.slice(8));
    expect(rows[0]?.secret_hash).toHaveLength(32);
  });

  it('gives it its scopes at once and no others [KEY-003, KEY-014, AUD-009, LIM-009]', async () => {
    const { body } = await makeKey();
    expect((await me(body.key)).status).toBe(200);
    for (const path of ['/v1/keys', '/v1/org', '/v1/limits', '/v1/audit-log', '/v1/usage']) {
      const answer = await server.call('GET', path, { key: body.key });
      expect([answer.status, codeOf(answer)]).toEqual([403, 'scope_missing']);
    }
  });

  it('creates a test key unless live is requested [KEY-010]', async () => {
    expect((await makeKey({}, server.liveKey)).body.mode).toBe('test');
    const live = await makeKey({ mode: 'live' }, server.liveKey);
    expect(live.body.key).toMatch(/^vk_live_/);
    expect((await me(live.body.key)).body.mode).toBe('live');
  });

  it('refuses a live key to a test key [KEY-011]', async () => {
    const answer = await makeKey({ mode: 'live' });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'live_key_required']);
  });

  it.each([[['root']], [[]], ['all'], [['setup', 'root']]])('refuses scopes %j [KEY-007]', async (scopes) => {
    const answer = await makeKey({ scopes });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
  });

  it('refuses a scope that the maker does not hold [KEY-016]', async () => {
    const admin = await makeKey({ scopes: ['admin', 'setup'] });
    const answer = await makeKey({ scopes: ['setup', 'runtime'] }, admin.body.key);
    expect([answer.status, codeOf(answer)]).toEqual([403, 'scope_missing']);
    expect((await makeKey({ scopes: ['all'] }, admin.body.key)).status).toBe(403);
    expect((await makeKey({ scopes: ['setup'] }, admin.body.key)).status).toBe(201);
  });
});

describe('a key that can do more than the one that is used', () => {
  it.each([
    ['DELETE', ''],
    ['POST', '/roll'],
  ])('is neither revoked nor rolled by it: %s [KEY-201]', async (method, step) => {
    const { body: strong } = await makeKey({ scopes: ['all'] });
    const { body: admin } = await makeKey({ scopes: ['admin'] });
    const answer = await server.call(method, `/v1/keys/${strong.id}${step}`, { key: admin.key });
    expect([answer.status, codeOf(answer)]).toEqual([403, 'scope_missing']);
    expect((await me(strong.key)).status).toBe(200);
    expect((await server.call(method, `/v1/keys/${admin.id}${step}`, { key: admin.key })).status).toBe(200);
  });
});

describe('rolling a key', () => {
  const roll = (id: string, body: object = {}) => server.call('POST', `/v1/keys/${id}/roll`, { body });

  it('gives a new secret under the same id, and the old one works on for the grace [KEY-004, KEY-005, KEY-013, KEY-017]', async () => {
    const { body: before } = await makeKey();
    const { status, body: after } = await roll(before.id, { grace_seconds: 3600 });
    expect(status).toBe(200);
    expect(after).toMatchObject({ id: before.id, name: before.name, last4: after.key.slice(-4) });
    expect(Date.parse(after.previous_expires_at) - Date.now()).toBeGreaterThan(3_500_000);
    for (const key of [before.key, after.key]) expect((await me(key)).body.key.id).toBe(before.id);
  });

  it('ends the old secret with the grace [KEY-018, AUTH-024]', async () => {
    const { body: before } = await makeKey();
    expect((await me(before.key)).status).toBe(200);
    await roll(before.id);
    // A process that has just seen it believes it for a second.
    const ended = async () => {
      const answer = await me(before.key);
      return [answer.status, codeOf(answer)];
    };
    await expect.poll(ended).toEqual([401, 'key_expired']);
  });

  it.each([
    [-1, 400],
    [604_801, 400],
    [1.5, 400],
    [604_800, 200],
  ])('accepts a grace of %d seconds: %i [KEY-012]', async (grace_seconds, status) => {
    const { body } = await makeKey();
    expect((await roll(body.id, { grace_seconds })).status).toBe(status);
  });

  it('treats a missing body as no grace', async () => {
    const { body } = await makeKey();
    const answer = await server.call('POST', `/v1/keys/${body.id}/roll`);
    expect(answer.status).toBe(200);
  });
});

describe('revoking a key', () => {
  it('ends it at once here, and within a second elsewhere [KEY-006, AUTH-023]', async () => {
    const { body } = await makeKey();
    expect((await me(body.key, sibling)).status).toBe(200);
    const gone = await server.call('DELETE', `/v1/keys/${body.id}`);
    expect(gone.status).toBe(200);
    const here = await me(body.key);
    expect([here.status, codeOf(here)]).toEqual([401, 'key_revoked']);
    await new Promise((resolve) => setTimeout(resolve, 1001));
    const elsewhere = await me(body.key, sibling);
    expect([elsewhere.status, codeOf(elsewhere)]).toEqual([401, 'key_revoked']);
    expect((await server.call('GET', '/v1/keys?limit=100')).text).not.toContain(body.id);
  });

  it('of an unknown or revoked key is a 404 [KEY-020]', async () => {
    const { body } = await makeKey();
    await server.call('DELETE', `/v1/keys/${body.id}`);
    for (const call of [
      server.call('DELETE', `/v1/keys/${body.id}`),
      server.call('POST', `/v1/keys/${body.id}/roll`, { body: {} }),
    ]) {
      const answer = await call;
      expect([answer.status, codeOf(answer)]).toEqual([404, 'key_not_found']);
    }
  });
});

describe('the record of a key', () => {
  it('emits its making, rolling and revoking without the secret [KEY-019]', async () => {
    const { body } = await makeKey({ name: 'told' });
    const rolled = await server.call('POST', `/v1/keys/${body.id}/roll`, { body: {} });
    await server.call('DELETE', `/v1/keys/${body.id}`);
    const events = await query<{ type: string; data: object }>(
      server.connectionString,
      `SELECT type, data FROM events WHERE data->>'id' = $1 ORDER BY id`,
      [body.id],
    );
    expect(events.map(({ type }) => type)).toEqual(['key.created', 'key.rolled', 'key.revoked']);
    for (const secret of [body.key, rolled.body.key]) expect(JSON.stringify(events)).not.toContain(secret);
  });

  it('shows its last use, and one audit row per minute counts its requests, in the order of the log [KEY-015, AUD-007, AUD-008, AUD-240]', async () => {
    const { body } = await makeKey({ scopes: ['all'] });
    await untilMinuteHasRoom();
    for (let at = 0; at < 7; at++) await me(body.key, at % 2 ? sibling : server);
    const uses = await eventually(async () => {
      await sibling.call('GET', '/v1/audit-log');
      const { body: log } = await server.call('GET', `/v1/audit-log?action=key.used&actor_id=${body.id}`);
      return log.data.length === 1 && log.data[0].details.count === 7 ? log.data : null;
    });
    expect(uses[0]).toMatchObject({ actor: { type: 'key', id: body.id }, target: { type: 'key', id: body.id } });
    const { body: keys } = await server.call('GET', '/v1/keys?limit=100');
    expect(keys.data.find(({ id }: { id: string }) => id === body.id).last_used_at).not.toBeNull();
    const { body: log } = await server.call('GET', '/v1/audit-log?limit=100');
    const times: number[] = log.data.map((entry: { created_at: string }) => Date.parse(entry.created_at));
    // An id is made a moment after its transaction began.
    expect(times.every((time, at) => at === 0 || time <= (times[at - 1] as number) + 1000)).toBe(true);
  });
});

/** Seven requests that must fall into one minute are not begun in its last two seconds. */
const untilMinuteHasRoom = async () => {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 2000) await new Promise((resolve) => setTimeout(resolve, left + 10));
};

async function eventually<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
