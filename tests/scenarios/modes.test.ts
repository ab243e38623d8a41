import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('what is made in one mode', () => {
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
