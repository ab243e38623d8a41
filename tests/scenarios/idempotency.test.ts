import { routes } from '@vestra/contract/api';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ApiResponse, isOneProcess, startTestServer, type TestServer } from '../support/server.ts';

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

let names = 0;
const freshKey = () => `idem-${++names}`;
const create = (idempotencyKey: string, options: { body?: unknown; on?: TestServer; key?: string } = {}) =>
  (options.on ?? server).call('POST', '/v1/keys', {
    body: options.body ?? { name: idempotencyKey, scopes: ['runtime'] },
    headers: { 'idempotency-key': idempotencyKey },
    ...(options.key && { key: options.key }),
  });
const codeOf = ({ body }: ApiResponse) => body?.error?.code;
const countNamed = async (name: string) =>
  Number(
    (
      await query<{ n: string }>(server.connectionString, 'SELECT count(*) AS n FROM api_keys WHERE name = $1', [name])
    )[0]?.n,
  );

describe('a key', () => {
  it.each(['', 'k'.repeat(256)])('of %j is refused [IDEM-002]', async (key) => {
    const answer = await create(key, { body: { name: 'a', scopes: ['runtime'] } });
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_idempotency_key']);
  });

  it('may have 1 to 255 characters, or be left out [IDEM-001]', async () => {
    expect((await create('x')).status).toBe(201);
    expect((await create('y'.repeat(255), { body: { name: 'a', scopes: ['runtime'] } })).status).toBe(201);
  });

  it('is taken by every create route that the contract marks [IDEM-018]', () => {
    const taking = new Set(routes.filter(({ route }) => route.idempotent).map(({ name }) => name));
    for (const family of [
      'deployments',
      'scenarios',
      'notebooks',
      'skills',
      'mcpServers',
      'conversations',
      'batches',
      'routines',
      'users',
      'memory',
      'files',
    ]) {
      expect(taking).toContain(`${family}.create`);
    }
    for (const name of [
      'scenarios.generate',
      'notebooks.createDocument',
      'keys.create',
      'webhooks.create',
      'sessions.create',
    ]) {
      expect(taking).toContain(name);
    }
  });
});

describe('a replay', () => {
  it('creates nothing and returns the same bytes [IDEM-003, IDEM-009, IDEM-010]', async () => {
    const key = freshKey();
    const first = await create(key);
    const second = await create(key);
    const third = await create(key, { on: sibling });
    expect([first.status, second.status, third.status]).toEqual([201, 201, 201]);
    expect([second.text, third.text]).toEqual([first.text, first.text]);
    expect([first, second, third].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([
      null,
      'true',
      'true',
    ]);
    expect(await countNamed(key)).toBe(1);
  });

  it('with another body is refused [IDEM-008]', async () => {
    const key = freshKey();
    await create(key);
    const answer = await create(key, { body: { name: 'other', scopes: ['runtime'] } });
    expect([answer.status, codeOf(answer)]).toEqual([409, 'idempotency_key_reused']);
    expect(await countNamed('other')).toBe(0);
  });

  it('runs again after 24 hours [IDEM-004]', async () => {
    const key = freshKey();
    const first = await create(key);
    await query(
      server.connectionString,
      `UPDATE idempotency_keys SET created_at = now() - interval '24 hours 1 second' WHERE key = $1`,
      [key],
    );
    const second = await create(key);
    expect(second.headers.get('idempotent-replayed')).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
    expect((await create(key)).body.id).toBe(second.body.id);
  });

  it('is not stored for a response outside 2xx [IDEM-011]', async () => {
    const key = freshKey();
    const refused = await create(key, { body: { name: '', scopes: ['runtime'] } });
    expect(refused.status).toBe(400);
    expect((await create(key)).status).toBe(201);
  });

  it('belongs to its org, its mode and its route [IDEM-005, IDEM-006, IDEM-007]', async () => {
    const key = freshKey();
    const other = await makeOtherOrg(server);
    const mine = await create(key);
    const ids = new Set([mine.body.id]);
    for (const caller of [server.liveKey, other]) {
      const answer = await create(key, { key: caller, body: { name: 'elsewhere', scopes: ['all'] } });
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
      ids.add(answer.body.id);
    }
    expect(ids.size).toBe(3);
    const roll = await server.call('POST', `/v1/keys/${mine.body.id}/roll`, {
      body: {},
      headers: { 'idempotency-key': key },
    });
    expect([roll.status, roll.headers.get('idempotent-replayed')]).toEqual([200, null]);
  });

  it('is stored encrypted if the response contains a secret, and replays in clear [IDEM-015]', async () => {
    const key = freshKey();
    const first = await create(key);
    const [kept] = await query<{ answer: Buffer; encrypted: boolean }>(
      server.connectionString,
      'SELECT answer, encrypted FROM idempotency_keys WHERE key = $1',
      [key],
    );
    expect(kept?.encrypted).toBe(true);
    expect(kept?.answer.includes(Buffer.from(first.body.key))).toBe(false);
    expect((await create(key)).body.key).toBe(first.body.key);
  });
});

describe('a create', () => {
  /** Counts the writes of the transaction that claims the key, from the claim to the COMMIT. */
  async function countWrites(path: string, body: object): Promise<number> {
    const key = freshKey();
    const sent: { connection: pg.Connection; isOfKey: boolean; isWrite: boolean }[] = [];
    const bind = vi.spyOn(pg.Connection.prototype, 'bind').mockImplementation(function (this: pg.Connection, ...given) {
      const values = (given[0]?.values ?? []) as unknown[];
      sent.push({ connection: this, isOfKey: values.includes(key), isWrite: false });
      return originals.bind.apply(this, given);
    });
    const sync = vi.spyOn(pg.Connection.prototype, 'sync').mockImplementation(function (this: pg.Connection) {
      sent.push({ connection: this, isOfKey: false, isWrite: true });
      return originals.sync.apply(this);
    });
    const answer = await server.call('POST', path, { body, headers: { 'idempotency-key': key } });
    bind.mockRestore();
    sync.mockRestore();
    expect(answer.status, answer.text).toBeLessThan(300);
    const claim = sent.findIndex(({ isOfKey }) => isOfKey);
    const last = sent.findLastIndex(({ isOfKey }) => isOfKey);
    const { connection } = sent[claim] as (typeof sent)[number];
    const before = sent.slice(claim, last).filter((each) => each.connection === connection && each.isWrite).length;
    return before + 1;
  }

  const { bind, sync } = pg.Connection.prototype;
  const originals = { bind, sync };

  it.runIf(isOneProcess).each([
    ['/v1/keys', { name: 'Counted', scopes: ['runtime'] }, 2],
    ['/v1/users', { user_id: 'counted-user' }, 7],
    ['/v1/conversations', { deployment: 'counted' }, 4],
    ['/v1/notebooks', { name: 'Counted', slug: 'counted' }, 2],
    ['/v1/webhooks', { url: 'https://example.com/hook', events: ['*'] }, 4],
    ['/v1/routines', { deployment: 'counted', ask: 'Report.', schedule: { cron: '0 8 * * *' } }, 7],
  ])('at %s sends few writes to PostgreSQL [IDEM-700]', async (path, body, most) => {
    const manifest = { name: 'counted', instructions: 'Be kind.', memory: 'none' };
    await server.call('PUT', '/v1/deployments/counted?promote=now', { body: manifest });
    // The first one fills caches.
    await countWrites('/v1/keys', { name: 'Counted', scopes: ['runtime'] });
    expect(await countWrites(path, body)).toBeLessThanOrEqual(most);
  });
});

describe('at the same time', () => {
  it('50 calls on two servers make one resource, one event and one answer [IDEM-012, IDEM-014]', async () => {
    const key = freshKey();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, at) => create(key, { on: at % 2 ? sibling : server })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect(await countNamed(key)).toBe(1);
    const events = await query(
      server.connectionString,
      `SELECT 1 FROM events WHERE type = 'key.created' AND data->>'name' = $1`,
      [key],
    );
    expect(events).toHaveLength(1);
  });

  it('a call that waits too long for another returns an error [IDEM-013]', async () => {
    const key = freshKey();
    const holder = new pg.Client({ connectionString: server.connectionString });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query(
      `INSERT INTO idempotency_keys (org_id, mode, route, key, request_hash) VALUES ($1, 'test', 'keys.create', $2, '\\x00')`,
      [server.orgId, key],
    );
    const answer = await create(key);
    await holder.query('ROLLBACK');
    await holder.end();
    expect([answer.status, codeOf(answer)]).toEqual([409, 'idempotency_in_progress']);
    expect((await create(key)).status).toBe(201);
  });
});
