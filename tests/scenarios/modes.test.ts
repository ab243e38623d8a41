import { orgs } from '@vestra/contract/account';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

type Mode = 'test' | 'live';
const keyOf = (mode: Mode) => (mode === 'test' ? server.testKey : server.liveKey);
const call = (mode: Mode, method: string, path: string, body?: unknown) =>
  server.call(method, path, { key: keyOf(mode), ...(body !== undefined && { body }) });

/** Resources that are kept apart per mode: how one is made, and how it would be met. */
const kept: Record<
  string,
  {
    make: (mode: Mode, name: string) => Promise<string>;
    list: string;
    remove: (id: string) => [string, string];
    missing: string;
  }
> = {
  keys: {
    make: async (mode, name) => (await call(mode, 'POST', '/v1/keys', { name, scopes: ['runtime'], mode })).body.id,
    list: '/v1/keys?limit=100',
    remove: (id) => ['DELETE', `/v1/keys/${id}`],
    missing: 'key_not_found',
  },
  secrets: {
    make: async (mode, name) => (await call(mode, 'PUT', `/v1/secrets/${name}`, { value: 'v' })).body.name,
    list: '/v1/secrets?limit=100',
    remove: (id) => ['DELETE', `/v1/secrets/${id}`],
    missing: 'secret_not_found',
  },
  'secrets of a user': {
    make: async (mode, name) =>
      (await call(mode, 'PUT', `/v1/secrets/${name}`, { value: 'v', user_id: 'ada' })).body.name,
    list: '/v1/secrets?limit=100&user_id=ada',
    remove: (id) => ['DELETE', `/v1/secrets/${id}?user_id=ada`],
    missing: 'secret_not_found',
  },
};

let made = 0;

describe('an object created in one mode', () => {
  it.each(Object.keys(kept))('%s: is neither seen nor reached from the other [TEN-012, TEN-013]', async (kind) => {
    const { make, list, remove, missing } = kept[kind] as (typeof kept)[string];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<Mode>('test', 'live'), { minLength: 1, maxLength: 4 }),
        async (modesOfMakers) => {
          for (const mode of modesOfMakers) {
            const other: Mode = mode === 'test' ? 'live' : 'test';
            const id = await make(mode, `N${++made}`);
            expect((await call(mode, 'GET', list)).text).toContain(`"${id}"`);
            expect((await call(other, 'GET', list)).text).not.toContain(`"${id}"`);
            const [method, path] = remove(id);
            const foreign = await call(other, method, path);
            expect([foreign.status, foreign.body.error.code]).toEqual([404, missing]);
            expect((await call(mode, method, path)).status).toBe(200);
          }
        },
      ),
      { numRuns: 6 },
    );
  });

  it('audit rows and money stay with their mode [TEN-014]', async () => {
    const { headers } = await call('live', 'PUT', '/v1/secrets/AUDITED', { value: 'v' });
    const requestId = headers.get('request-id') as string;
    expect((await call('live', 'GET', '/v1/audit-log?action=secret.stored')).text).toContain(requestId);
    expect((await call('test', 'GET', '/v1/audit-log?action=secret.stored')).text).not.toContain(requestId);
    const balances = await Promise.all(
      (['test', 'live'] as const).map(async (mode) => (await call(mode, 'GET', '/v1/org')).body.balance_usd),
    );
    expect(balances).toEqual([100, 0]);
  });
});

/** A value other than the default for each setting that is separate per mode. */
const otherSettings = (deployment: string) => ({
  allowed_return_urls: ['https://taken.example/back'],
  allowed_embed_origins: ['https://taken.example'],
  default_deployment: deployment,
  require_user: true,
  memory_panel: true,
  memory_mode: 'customer',
  memory_endpoint: 'https://taken.example/memory',
  otlp_endpoint: 'https://taken.example/v1/traces',
  otlp_headers_secret: 'TAKEN',
  otlp_content: true,
  model_fallbacks: { taken: [] },
  openings: { taken: { suggestions: ['Taken?'] } },
  conversation_retention_days: 3650,
  improvement_conversations: 'none',
});

describe('a setting changed by a key', () => {
  const show = async (mode: Mode, path = '/v1/org') => (await call(mode, 'GET', path)).body;

  it('is shown only to its own org and mode, also in concurrent requests [TEN-520]', async () => {
    const key = await makeOtherOrg(server);
    const { id } = (await server.call('GET', '/v1/org', { key })).body;
    const callers = [
      { key: server.testKey, org: server.orgId, mode: 'test' },
      { key: server.liveKey, org: server.orgId, mode: 'live' },
      { key, org: id, mode: 'test' },
    ];
    await query(
      server.connectionString,
      `INSERT INTO wallets (org_id, mode, balance_micros) VALUES ($1, 'test', 12300000)`,
      [id],
    );
    for (const [at, each] of callers.entries()) {
      await server.call('PATCH', '/v1/org', {
        key: each.key,
        body: { allowed_return_urls: [`https://of${at}.example/`] },
      });
    }
    const seenBy = async (each: (typeof callers)[number]) => {
      const [me, org, limits] = await Promise.all(
        ['/v1/me', '/v1/org', '/v1/limits'].map((path) => server.call('GET', path, { key: each.key })),
      );
      return { me: me?.body, org: org?.body, limits: limits?.body };
    };
    const alone: Awaited<ReturnType<typeof seenBy>>[] = [];
    for (const each of callers) alone.push(await seenBy(each));
    for (const [at, { org, mode }] of callers.entries()) {
      expect(alone[at]).toMatchObject({
        me: { org: { id: org }, mode },
        org: { id: org, mode, allowed_return_urls: [`https://of${at}.example/`] },
      });
    }
    expect(alone.map(({ org }) => org.balance_usd)).toEqual([expect.any(Number), expect.any(Number), 12.3]);
    const together = await Promise.all(Array.from({ length: 4 }, () => callers.map(seenBy)).flat());
    expect(together).toEqual(Array.from({ length: 4 }, () => alone).flat());
    await call('test', 'PATCH', '/v1/org', { allowed_return_urls: [] });
    await call('live', 'PATCH', '/v1/org', { allowed_return_urls: [] });
  });

  it.each([
    ['test', 'live'],
    ['live', 'test'],
  ] as const)('with a %s key does not affect %s mode, for every setting [TEN-201]', async (mode, other) => {
    const { id } = (await call(mode, 'PUT', `/v1/deployments/of-${mode}?promote=no`, { name: `of-${mode}` })).body;
    const settings = otherSettings(id);
    // A setting that is added to the route and kept for both modes fails here.
    const settable = Object.keys(orgs.update.body.shape).filter((name) => name !== 'name');
    expect(Object.keys(settings).sort()).toEqual(settable.sort());
    const [own, others] = [await show(mode), await show(other)];
    expect((await call(mode, 'PATCH', '/v1/org', settings)).body).toEqual({ ...own, ...settings });
    expect(await show(other)).toEqual(others);

    const limits = await show(other, '/v1/limits');
    const caps = { org_daily_usd: 0, user_daily_usd: 0, org_monthly_usd: 0, user_monthly_usd: 0 };
    await call(mode, 'PATCH', '/v1/limits', { caps, usage_alerts: { thresholds: [1] } });
    expect(await show(mode, '/v1/limits')).toMatchObject({ caps, usage_alerts: { thresholds: [1] } });
    expect(await show(other, '/v1/limits')).toEqual(limits);

    const { name: _, ...restored } = Object.fromEntries(
      Object.keys(orgs.update.body.shape).map((field) => [field, own[field]]),
    );
    await call(mode, 'PATCH', '/v1/org', restored);
    await call(mode, 'PATCH', '/v1/limits', {
      caps: { org_daily_usd: 100, user_daily_usd: 10, org_monthly_usd: null, user_monthly_usd: null },
    });
  });

  it('with a test key does not redirect live memory [TEN-201]', async () => {
    const settings = { memory_mode: 'customer', memory_endpoint: 'https://taken.example/memory' };
    await call('test', 'PATCH', '/v1/org', settings);
    const add = (mode: Mode) => call(mode, 'POST', '/v1/memory', { user_id: 'vip', text: 'Lives in Lisbon' });
    // The address leads nowhere, so that a request sent there fails.
    expect((await add('test')).status).toBe(502);
    const kept = await add('live');
    expect([kept.status, kept.body.text]).toEqual([201, 'Lives in Lisbon']);
    await call('test', 'PATCH', '/v1/org', { memory_mode: 'vestra', memory_endpoint: null });
  });

  it('shows in /v1/me at once, the name alone in both modes [TEN-202]', async () => {
    for (const name of ['One', 'Two', 'Three']) {
      await call('test', 'PATCH', '/v1/org', { name });
      expect([(await show('test', '/v1/me')).org.name, (await show('live', '/v1/me')).org.name]).toEqual([name, name]);
    }
  });
});

describe('a deployment of which a version is live', () => {
  it('is put away and brought back by a live key alone [TEN-203]', async () => {
    const act = async (mode: Mode, action: string) => {
      const { status, body } = await call(mode, 'POST', `/v1/deployments/away/${action}`);
      return [status, body.error?.code ?? body.status];
    };
    await call('test', 'PUT', '/v1/deployments/away?promote=now', { name: 'away' });
    expect(await act('test', 'archive')).toEqual([200, 'archived']);
    expect(await act('test', 'unarchive')).toEqual([200, 'active']);
    await call('live', 'PUT', '/v1/deployments/away?promote=now', { name: 'away' });
    expect(await act('test', 'archive')).toEqual([403, 'live_key_required']);
    expect((await call('test', 'DELETE', '/v1/deployments/away')).status).toBe(409);
    expect(await act('live', 'archive')).toEqual([200, 'archived']);
    expect(await act('test', 'unarchive')).toEqual([403, 'live_key_required']);
    expect(await act('live', 'unarchive')).toEqual([200, 'active']);
  });

  it('is promoted with customer memory only if live mode has an endpoint [TEN-204]', async () => {
    await call('test', 'PATCH', '/v1/org', { memory_endpoint: 'https://memory.example/v1' });
    const file = { name: 'keeper', memory: 'customer' };
    expect((await call('test', 'PUT', '/v1/deployments/keeper?promote=now', file)).status).toBe(200);
    for (const answer of [
      await call('live', 'POST', '/v1/deployments/keeper/promote', {}),
      await call('live', 'PUT', '/v1/deployments/keeper?promote=now', file),
    ]) {
      expect([answer.status, answer.body.error?.code]).toEqual([400, 'memory_endpoint_required']);
    }
    await call('live', 'PATCH', '/v1/org', { memory_endpoint: 'https://memory.example/v1' });
    expect((await call('live', 'POST', '/v1/deployments/keeper/promote', {})).status).toBe(200);
  });
});

describe('where the page of a session may be embedded', () => {
  it.each([
    ['http://localhost', true, false],
    ['http://localhost:3000', true, false],
    ['http://127.0.0.1:4746', true, false],
    ['https://shop.example:8443', true, true],
    ['https://xn--bcher-kva.example', true, true],
    ['http://localhost.example', false, false],
    ['http://127.0.0.2', false, false],
    ['http://shop.example', false, false],
    ['https://a;sandbox', false, false],
    ['https://a,b', false, false],
    ["https://a'b", false, false],
    ['https://a!b', false, false],
    ['https://shop.example:*', false, false],
  ])('%s: test %s, live %s [ACC-201, ACC-202]', async (origin, test, live) => {
    const take = async (mode: Mode) => {
      const { status, body } = await call(mode, 'PATCH', '/v1/org', { allowed_embed_origins: [origin] });
      if (status !== 200) expect([status, body.error.code]).toEqual([400, 'invalid_origin']);
      return status === 200;
    };
    expect([await take('test'), await take('live')]).toEqual([test, live]);
  });
});
