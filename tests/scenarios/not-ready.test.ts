import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
let name: string;
let outside: string;
beforeAll(async () => {
  server = await startTestServer();
  await server.call('PUT', '/v1/deployments/desk', { body: { name: 'desk', instructions: 'Answer.' } });
  await server.call('PATCH', '/v1/org', { body: { default_deployment: 'desk' } });
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

/**
 * The answer of a probe, as soon as it is as wanted: what is known of the database is kept for a second. Twice, since two
 * processes that take turns may know it one after the other.
 */
async function untilHealth(path: string, status: number) {
  const ask = () => fetch(`${server.url}${path}`);
  const both = async () => [(await ask()).status, (await ask()).status];
  await expect.poll(both, { timeout: 30_000, interval: 100 }).toEqual([status, status]);
  return (await ask()).json();
}

const scrape = async () => (await fetch(`${server.url}/metrics`)).text();

describe('while the database is unreachable', () => {
  it('a call answers 503 `not_ready` and is answered again when it is back [ERR-019, OPS-203, OPS-206]', async () => {
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
    expect(refused.map(({ headers }) => headers.get('retry-after'))).toEqual(refused.map(() => '2'));
    await untilHealth('/v1/health', 503);
    const health = await server.call('GET', '/v1/health', { key: null });
    expect([health.status, health.body.status]).toEqual([503, 'failing']);
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    expect(await untilHealth('/health/ready', 503)).toMatchObject({
      status: 'not_ready',
      checks: { database: { status: 'failing', message: 'The database does not answer.' } },
    });
    const metrics = await scrape();
    expect(metrics).toContain('\nvestra_database_up 0\n');
    expect(metrics).toContain('\nvestra_ready 0\n');
    expect(metrics).toMatch(/\nvestra_http_errors_total\{code="not_ready"\} \d+\n/);
    await open(true);
    const again = async () => (await server.call('GET', '/v1/deployments')).status;
    await expect.poll(again, { timeout: 30_000 }).toBe(200);
    await untilHealth('/health/ready', 200);
    expect(await scrape()).toContain('\nvestra_database_up 1\n');
  });
});

/** As after a failover: what the connections lead to is a database that takes no writes. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  const change = isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
  await query(outside, `ALTER DATABASE "${name}" ${change}`);
  await query(outside, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
}

describe('while the database is read-only', () => {
  it('health reports it, and writes are refused with Retry-After [OPS-204, OPS-206]', async () => {
    await setReadOnly(true);
    const ready = await untilHealth('/health/ready', 503);
    expect(ready.checks.database).toEqual({ status: 'failing', message: expect.stringContaining('is read-only') });
    const health = await server.call('GET', '/v1/health', { key: null });
    expect([health.status, health.body.checks.database.message]).toEqual([
      503,
      expect.stringContaining('is read-only'),
    ]);
    const refused = [
      await server.call('POST', '/v1/users', { body: { user_id: 'ada' } }),
      await server.call('POST', '/v1/conversations', { body: { message: 'Hi', deployment: 'desk' } }),
      await server.call('PUT', '/v1/deployments/desk', { body: { name: 'desk' } }),
    ];
    expect(refused.map(({ status, body, headers }) => [status, body.error.code, headers.get('retry-after')])).toEqual(
      refused.map(() => [503, 'not_ready', '2']),
    );
    expect(refused[0]?.body.error.message).toBe('The database takes no writes just now. Try again shortly.');
    const metrics = await scrape();
    expect(metrics).toContain('\nvestra_database_up 1\n');
    expect(metrics).toContain('\nvestra_database_writable 0\n');
    await setReadOnly(false);
    await untilHealth('/health/ready', 200);
    const written = async () => (await server.call('POST', '/v1/users', { body: { user_id: 'ada' } })).status;
    await expect.poll(written, { timeout: 30_000 }).toBeLessThan(300);
  });
});
