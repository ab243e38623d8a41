import { newId } from '@vestra/contract/ids';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startWebhooks } from '../../automation/webhooks/webhooks.fixture.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';
import { emit } from './emit.ts';
import { someEvent } from './told.fixture.ts';

type Server = Awaited<ReturnType<typeof startWebhooks>>;

let server: Server;
let listener: pg.Client;
const heard: string[] = [];

beforeAll(async () => {
  server = await startWebhooks();
  listener = new pg.Client({ connectionString: server.db.$client.options.connectionString as string });
  await listener.connect();
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''));
  await listener.query('LISTEN webhook_deliveries');
});
afterAll(async () => {
  await listener.end();
  await server.stop();
});

const newEndpoints = async (orgId: string, count: number): Promise<string[]> => {
  const ids = Array.from({ length: count }, () => newId('whk'));
  await run(
    server.db,
    sql`
    INSERT INTO webhook_endpoints (id, org_id, mode, url, events, active)
    SELECT id, ${orgId}, 'test', 'https://hooks.example.com', '{*}', true FROM unnest(${ids}::text[]) AS id`,
  );
  return ids;
};
const deliveriesOf = async (eventId: string) =>
  await rowsOf(
    server.db,
    { id: text(), endpoint_id: text() },
    sql`SELECT id, endpoint_id FROM webhook_deliveries WHERE event_id = ${eventId}`,
  );
/** Notifications come in the order of the commits, so after this one there is none left of before. */
async function notifications(): Promise<string[]> {
  await run(server.db, sql`SELECT pg_notify('webhook_deliveries', 'last')`);
  while (heard.at(-1) !== 'last') await new Promise((resolve) => setTimeout(resolve, 5));
  return heard.splice(0).slice(0, -1);
}

describe('an event', () => {
  it('notifies nobody where no endpoint listens, since a notification makes commits wait for each other', async () => {
    const org = await server.newOrg();
    const id = await emit(server.db, someEvent(org.id));
    expect([await deliveriesOf(id), await notifications()]).toEqual([[], []]);
  });

  it('makes a delivery for each endpoint, with an id of its own, and names them to whoever listens', async () => {
    const org = await server.newOrg();
    const endpoints = await newEndpoints(org.id, 5);
    const ids = [await emit(server.db, someEvent(org.id)), await emit(server.db, someEvent(org.id))];
    const made = (await Promise.all(ids.map(deliveriesOf))).flat();
    expect(made.map(({ endpoint_id }) => endpoint_id).sort()).toEqual([...endpoints, ...endpoints].sort());
    expect(new Set(made.map(({ id }) => id)).size).toBe(10);
    for (const { id } of made) expect(id).toMatch(/^whd_[0-9a-hjkmnp-tv-z]{24}$/);
    expect((await notifications()).map((each) => each.split(',').sort())).toEqual(Array(2).fill([...endpoints].sort()));
  });

  it('names no endpoint where there are more than a notification holds', async () => {
    const org = await server.newOrg();
    await newEndpoints(org.id, 300);
    const id = await emit(server.db, someEvent(org.id));
    expect([(await deliveriesOf(id)).length, await notifications()]).toEqual([300, ['']]);
  });

  it('costs one statement', async () => {
    const org = await server.newOrg();
    await newEndpoints(org.id, 1);
    const taken = vi.spyOn(server.db.$client, 'connect');
    await emit(server.db, someEvent(org.id));
    expect(taken).toHaveBeenCalledTimes(1);
    taken.mockRestore();
  });
});
