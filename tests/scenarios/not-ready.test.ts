import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let name: string;
let outside: string;
beforeAll(async () => {
  server = await startTestServer();
  const address = new URL(server.connectionString);
  name = address.pathname.slice(1);
  address.pathname = '/postgres';
  outside = address.href;
});
afterAll(async () => {
  await open(true);
  await server.stop();
});

/** Lets connections in, or ends them all and lets none in. */
async function open(isOpen: boolean): Promise<void> {
  await query(outside, `ALTER DATABASE "${name}" WITH ALLOW_CONNECTIONS ${isOpen}`);
  if (isOpen) return;
  await query(outside, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
}

describe('while the database is away', () => {
  it('a call answers 503 `not_ready` and is answered again when it is back [ERR-019]', async () => {
    expect((await server.call('GET', '/v1/deployments')).status).toBe(200);
    await open(false);
    const refused = [
      await server.call('GET', '/v1/deployments'),
      await server.call('POST', '/v1/users', { body: { user_id: 'ada' } }),
      await server.call('POST', '/v1/conversations', { body: { message: 'Hi' } }),
    ];
    expect(refused.map(({ status, body }) => [status, body.error.type, body.error.code])).toEqual(
      refused.map(() => [503, 'upstream', 'not_ready']),
    );
    const health = await server.call('GET', '/v1/health', { key: null });
    expect([health.status, health.body.status]).toEqual([503, 'failing']);
    await open(true);
    const again = async () => (await server.call('GET', '/v1/deployments')).status;
    await expect.poll(again, { timeout: 30_000 }).toBe(200);
  });
});
