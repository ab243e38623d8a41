import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { newDeployment } from '../../agents/deployments/deployments.fixture.ts';
import { startWebhooks } from '../../automation/webhooks/webhooks.fixture.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { jsonb, text } from '../../platform/db/table.ts';
import type { OrgEvent } from './emit.ts';
import { emit } from './emit.ts';
import { emitAll } from './emit-all.ts';
import { someEvent, someTask } from './told.fixture.ts';

let server: Awaited<ReturnType<typeof startWebhooks>>;
beforeAll(async () => {
  server = await startWebhooks();
});
afterAll(() => server.stop());

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
const deliveriesOf = async (orgId: string) => {
  const rows = await rowsOf(
    server.db,
    { endpoint_id: text(), event_type: text() },
    sql`SELECT endpoint_id, event_type FROM webhook_deliveries WHERE org_id = ${orgId} ORDER BY endpoint_id, event_type`,
  );
  return rows;
};
const eventsOf = async (orgId: string) => {
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

describe('many events of one transaction', () => {
  it('are written and delivered as each would be by itself, in one statement', async () => {
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
      events: (await eventsOf(orgId)).map(({ type, mode, data }) => ({ type, mode, data })),
      deliveries: Object.values(Object.groupBy(await deliveriesOf(orgId), ({ endpoint_id }) => endpoint_id))
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

  it('may be none or one', async () => {
    const org = await server.newOrg();
    await emitAll(server.db, []);
    await emitAll(server.db, [someEvent(org.id)]);
    expect(await eventsOf(org.id)).toHaveLength(1);
  });
});
