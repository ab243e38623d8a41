import { type Answering, hanging, startReceiver, until } from '@vestra/server/automation/webhooks/receiver.fixture';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { makeDataDir, startProcess } from '../support/process.ts';
import { startTestServer } from '../support/server.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function receive(answer?: Answering) {
  const receiver = await startReceiver(answer);
  cleanups.push(receiver.stop);
  return receiver;
}

const wanted = (url: string) => ({ url, events: ['key.created'] });
const newKey = { name: 'made', scopes: ['runtime'] };

describe('a process that is killed with -9', () => {
  let database: TestDatabase;
  let start: (role: 'api' | 'worker' | 'all') => ReturnType<typeof startProcess>;

  beforeEach(async () => {
    const { dataDir, remove } = await makeDataDir();
    cleanups.push(remove);
    database = await createTestDatabase();
    cleanups.push(database.drop);
    start = async (role) => {
      const started = await startProcess(dataDir, {
        DATABASE_URL: database.connectionString,
        VESTRA_MASTER_KEY: 'ab'.repeat(32),
        VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
        VESTRA_ROLE: role,
      });
      cleanups.push(() => started.kill('SIGKILL'));
      return started;
    };
  });

  it('between the change and its delivery loses nothing: another delivers it [WHD-021]', async () => {
    const receiver = await receive();
    const before = await start('api');
    await before.call('POST', '/v1/webhooks', { body: wanted(receiver.url) });
    const made = await Promise.all(
      Array.from({ length: 10 }, async () => (await before.call('POST', '/v1/keys', { body: newKey })).body.id),
    );
    await before.kill('SIGKILL');
    expect(receiver.received).toEqual([]);
    await start('worker');
    await until(() => receiver.received.length >= 10);
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.id).sort()).toEqual(made.sort());
  });

  it('in the middle of an attempt leaves it to another, which sends the same event again [WHD-005, WHD-021]', async () => {
    const receiver = await receive(hanging);
    const before = await start('all');
    const { body: endpoint } = await before.call('POST', '/v1/webhooks', { body: wanted(receiver.url) });
    await before.call('POST', '/v1/keys', { body: newKey });
    await until(() => receiver.received[0]);
    await before.kill('SIGKILL');
    receiver.answer = (response) => void response.writeHead(204).end();
    // The minute of the lease, passed.
    await query(database.connectionString, 'UPDATE webhook_deliveries SET due_at = now() WHERE due_at IS NOT NULL');
    const after = await start('all');
    await until(() => receiver.received.length === 2);
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
    const shown = await until(async () => {
      const { data } = (await after.call('GET', `/v1/webhooks/${endpoint.id}/deliveries`)).body;
      return data[0].status === 'pending' ? null : data;
    });
    expect(shown.map(({ attempt, status }: { attempt: number; status: string }) => [attempt, status])).toEqual([
      [1, 'succeeded'],
    ]);
  });
});

describe('processes of different roles', () => {
  it('share the load: one serves requests, the other delivers, and either sends manual deliveries [WHD-018]', async () => {
    const receiver = await receive();
    const env = { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' };
    const api = await startTestServer({ env: { ...env, VESTRA_ROLE: 'api' } });
    cleanups.push(api.stop);
    const { body: endpoint } = await api.call('POST', '/v1/webhooks', { body: wanted(receiver.url) });
    expect((await api.call('POST', `/v1/webhooks/${endpoint.id}/test`)).body.status).toBe('succeeded');
    const { body: key } = await api.call('POST', '/v1/keys', { body: newKey });
    expect(receiver.received).toHaveLength(1);
    const worker = await startTestServer({ env: { ...env, VESTRA_ROLE: 'worker' }, beside: api });
    cleanups.push(worker.stop);
    await until(() => receiver.received.length === 2);
    expect(JSON.parse(receiver.received[1]?.body as string)).toMatchObject({
      type: 'key.created',
      data: { id: key.id },
    });
  });
});
