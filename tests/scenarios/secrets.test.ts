import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let runtimeKey: string;
const value = 'sk-very-secret-value-of-the-shop';

beforeAll(async () => {
  server = await startTestServer();
  runtimeKey = (await server.call('POST', '/v1/keys', { body: { name: 'r', scopes: ['runtime'] } })).body.key;
});
afterAll(() => server.stop());

const codeOf = ({ body }: ApiResponse) => body?.error?.code;
const put = (name: string, body: object, key?: string) =>
  server.call('PUT', `/v1/secrets/${name}`, { body, ...(key && { key }) });
const rowsOf = (name: string) =>
  query<{ mode: string; user_id: string; sealed_value: Buffer }>(
    server.connectionString,
    'SELECT * FROM secrets WHERE name = $1',
    [name],
  );

describe('storing', () => {
  it('answers the secret without its value, and replaces it [SEC-005, SEC-010, SEC-019]', async () => {
    const first = await put('SHOP_KEY', { value });
    expect([first.status, first.body]).toEqual([
      200,
      {
        object: 'secret',
        name: 'SHOP_KEY',
        user_id: null,
        mode: 'test',
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    const [before] = await rowsOf('SHOP_KEY');
    const second = await put('SHOP_KEY', { value: 'another' });
    expect([second.status, second.body.created_at]).toEqual([200, first.body.created_at]);
    const rows = await rowsOf('SHOP_KEY');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.sealed_value.equals(before?.sealed_value as Buffer)).toBe(false);
  });

  it.each(['lower', '1ONE', '_X', 'A-B', 'Ä', 'A'.repeat(65)])(
    'refuses the name %s [SEC-007, SEC-008]',
    async (name) => {
      const answer = await put(encodeURIComponent(name), { value });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_secret_name']);
    },
  );

  it('accepts a name of 64 characters [SEC-008]', async () => {
    expect((await put('A'.repeat(64), { value })).status).toBe(200);
  });

  it.each([
    ['', 400],
    ['x'.repeat(8193), 400],
    ['x'.repeat(8192), 200],
    ['x', 200],
  ])('holds the value to its limits [SEC-009]', async (text, status) => {
    expect((await put('SIZED', { value: text })).status).toBe(status);
  });
});

describe('the owner of a secret', () => {
  it('separates a user’s secrets from the company’s [SEC-006, SEC-011, SEC-012, SEC-020]', async () => {
    await put('BOTH', { value: 'company' });
    const own = await put('BOTH', { value: 'ada', user_id: 'ada' });
    expect(own.body.user_id).toBe('ada');
    const names = async (search: string) =>
      (await server.call('GET', `/v1/secrets?limit=100${search}`)).body.data.map(
        (row: { name: string; user_id: string | null }) => [row.name, row.user_id],
      );
    expect(await names('&user_id=ada')).toEqual([['BOTH', 'ada']]);
    expect(await names('')).toContainEqual(['BOTH', null]);
    const gone = await server.call('DELETE', '/v1/secrets/BOTH?user_id=ada');
    expect([gone.status, gone.body]).toEqual([200, { object: 'secret', name: 'BOTH', deleted: true }]);
    expect(await names('&user_id=ada')).toEqual([]);
    expect(await names('')).toContainEqual(['BOTH', null]);
  });

  it('separates modes [SEC-004, TEN-012]', async () => {
    await put('MODED', { value: 'test value' });
    await put('MODED', { value: 'live value' }, server.liveKey);
    expect((await rowsOf('MODED')).map(({ mode }) => mode).sort()).toEqual(['live', 'test']);
    await server.call('DELETE', '/v1/secrets/MODED');
    expect(
      (await server.call('GET', '/v1/secrets?limit=100', { key: server.liveKey })).body.data.map(
        ({ name }: { name: string }) => name,
      ),
    ).toEqual(['MODED']);
  });

  it('lets scope runtime reach a user’s own alone [SEC-013, SEC-014, SEC-015]', async () => {
    expect((await put('OWN', { value, user_id: 'ada' }, runtimeKey)).status).toBe(200);
    expect((await server.call('GET', '/v1/secrets?user_id=ada', { key: runtimeKey })).status).toBe(200);
    for (const answer of [
      await put('OWN', { value }, runtimeKey),
      await server.call('GET', '/v1/secrets', { key: runtimeKey }),
      await server.call('DELETE', '/v1/secrets/SHOP_KEY', { key: runtimeKey }),
    ]) {
      expect([answer.status, codeOf(answer)]).toEqual([403, 'scope_missing']);
    }
  });

  it('returns 404 if there is none, and for another org [SEC-021, TEN-004, TEN-005]', async () => {
    const other = await makeOtherOrg(server);
    await put('MINE', { value });
    for (const answer of [
      await server.call('DELETE', '/v1/secrets/NOTHING'),
      await server.call('DELETE', '/v1/secrets/MINE', { key: other }),
    ]) {
      expect([answer.status, codeOf(answer)]).toEqual([404, 'secret_not_found']);
    }
    expect((await server.call('GET', '/v1/secrets', { key: other })).body.data).toEqual([]);
  });
});

describe('at rest', () => {
  it('is ciphertext that carries nothing of the value, under a wrapped key [SEC-003, SEC-016, SEC-017]', async () => {
    await put('SEALED', { value });
    await put('SEALED_TWICE', { value });
    const [one] = await rowsOf('SEALED');
    const [two] = await rowsOf('SEALED_TWICE');
    expect(one?.sealed_value.includes(Buffer.from(value))).toBe(false);
    expect(one?.sealed_value.length).toBe(12 + 16 + Buffer.byteLength(value));
    expect(one?.sealed_value.equals(two?.sealed_value as Buffer)).toBe(false);
    const [org] = await query<{ wrapped_data_key: Buffer }>(
      server.connectionString,
      'SELECT wrapped_data_key FROM orgs LIMIT 1',
    );
    expect(org?.wrapped_data_key.length).toBe(16 + 12 + 16 + 32);
  });

  it('appears in no answer, event or audit row [SEC-003]', async () => {
    await put('SEARCHED', { value });
    const answers = await Promise.all(
      ['/v1/secrets?limit=100', '/v1/audit-log?limit=100', '/v1/org'].map((path) => server.call('GET', path)),
    );
    const events = await query(server.connectionString, 'SELECT * FROM events');
    for (const text of [...answers.map((answer) => answer.text), JSON.stringify(events)])
      expect(text).not.toContain(value);
  });
});
