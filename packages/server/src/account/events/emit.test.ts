import { newId } from '@vestra/contract/ids';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newDeployment } from '../../agents/deployments/deployments.fixture.ts';
import { startWebhooks } from '../../automation/webhooks/webhooks.fixture.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { jsonb, text } from '../../platform/db/table.ts';
import { emit, emitAll, type OrgEvent } from './emit.ts';
import { someEvent, someTask } from './events.fixture.ts';

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
/** Notifications arrive in commit order, so all earlier ones have arrived when this one does. */
async function notifications(): Promise<string[]> {
  await run(server.db, sql`SELECT pg_notify('webhook_deliveries', 'last')`);
  while (heard.at(-1) !== 'last') await new Promise((resolve) => setTimeout(resolve, 5));
  return heard.splice(0).slice(0, -1);
}

describe('emit', () => {
  it('sends no notification if no endpoint listens, because notifications serialise commits', async () => {
    const org = await server.newOrg();
    const id = await emit(server.db, someEvent(org.id));
    expect([await deliveriesOf(id), await notifications()]).toEqual([[], []]);
  });

  it('creates a delivery with its own id for each endpoint, and notifies with their ids', async () => {
    const org = await server.newOrg();
    const endpoints = await newEndpoints(org.id, 5);
    const ids = [await emit(server.db, someEvent(org.id)), await emit(server.db, someEvent(org.id))];
    const made = (await Promise.all(ids.map(deliveriesOf))).flat();
    expect(made.map(({ endpoint_id }) => endpoint_id).sort()).toEqual([...endpoints, ...endpoints].sort());
    expect(new Set(made.map(({ id }) => id)).size).toBe(10);
    for (const { id } of made) expect(id).toMatch(/^whd_[0-9a-hjkmnp-tv-z]{24}$/);
    expect((await notifications()).map((each) => each.split(',').sort())).toEqual(Array(2).fill([...endpoints].sort()));
  });

  it('notifies without endpoint ids if they do not fit into a notification', async () => {
    const org = await server.newOrg();
    await newEndpoints(org.id, 300);
    const id = await emit(server.db, someEvent(org.id));
    expect([(await deliveriesOf(id)).length, await notifications()]).toEqual([300, ['']]);
  });

  it('runs one statement', async () => {
    const org = await server.newOrg();
    await newEndpoints(org.id, 1);
    const taken = vi.spyOn(server.db.$client, 'connect');
    await emit(server.db, someEvent(org.id));
    expect(taken).toHaveBeenCalledTimes(1);
    taken.mockRestore();
  });
});

const newEndpoint = async (orgId: string, events: string, deploymentId: string | null = null) => {
  const id = newId('whk');
  await run(
    server.db,
    sql`
    INSERT INTO webhook_endpoints (id, org_id, mode, url, events, active, deployment_id, managed_by)
    VALUES (${id}, ${orgId}, 'test', 'https://hooks.example.com', ${events}, true, ${deploymentId},
      ${deploymentId && 'file'})`,
  );
  return id;
};
const deliveriesOfOrg = async (orgId: string) => {
  const rows = await rowsOf(
    server.db,
    { endpoint_id: text(), event_type: text() },
    sql`SELECT endpoint_id, event_type FROM webhook_deliveries WHERE org_id = ${orgId} ORDER BY endpoint_id, event_type`,
  );
  return rows;
};
const eventsOfOrg = async (orgId: string) => {
  const rows = await rowsOf(
    server.db,
    { type: text(), mode: text(), deployment_id: text().nullable(), data: jsonb<unknown>() },
    sql`SELECT type, mode, deployment_id, data FROM events WHERE org_id = ${orgId} AND type <> 'key.created' ORDER BY id`,
  );
  return rows;
};

const toldOf = {
  'task.started': someTask('a "quoted" \\ line\n'),
  'reply.completed': someTask('the second'),
  'user.created': someTask('the third'),
};

describe('emitAll', () => {
  it('writes and delivers events like separate emits, in one statement', async () => {
    const [one, many] = [await server.newOrg(), await server.newOrg()];
    for (const org of [one, many]) {
      const [mine, other] = [await newDeployment(server.db, org.id), await newDeployment(server.db, org.id)];
      await newEndpoint(org.id, '{*}');
      await newEndpoint(org.id, '{task.started}');
      await newEndpoint(org.id, '{*}', mine.id);
      await newEndpoint(org.id, '{task.started,user.created}', other.id);
      const told = (['task.started', 'reply.completed', 'user.created'] as const).map((type) => ({
        ...someEvent(org.id, { type, deploymentId: mine.id }),
        data: toldOf[type],
      })) as OrgEvent[];
      if (org === one) for (const each of told) await emit(server.db, each);
      else {
        const taken = vi.spyOn(server.db.$client, 'connect');
        await emitAll(server.db, told);
        expect(taken).toHaveBeenCalledTimes(1);
        taken.mockRestore();
      }
    }
    const shape = async (orgId: string) => ({
      events: (await eventsOfOrg(orgId)).map(({ type, mode, data }) => ({ type, mode, data })),
      deliveries: Object.values(Object.groupBy(await deliveriesOfOrg(orgId), ({ endpoint_id }) => endpoint_id))
        .map((all) => all?.map(({ event_type }) => event_type).join())
        .sort(),
    });
    const expected = await shape(one.id);
    expect(await shape(many.id)).toEqual(expected);
    expect(expected.deliveries).toEqual([
      'reply.completed,task.started,user.created',
      'reply.completed,task.started,user.created',
      'task.started',
      'user.created',
    ]);
  });

  it('accepts no event or one', async () => {
    const org = await server.newOrg();
    await emitAll(server.db, []);
    await emitAll(server.db, [someEvent(org.id)]);
    expect(await eventsOfOrg(org.id)).toHaveLength(1);
  });
});
