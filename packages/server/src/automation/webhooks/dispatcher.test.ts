import { describe, expect, it } from 'vitest';
import { newDeployment } from '../../agents/deployments/deployments.fixture.ts';
import { createLog } from '../../main/log.ts';
import { openNotifyListener } from '../../platform/db/notify-listener.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { useDeliveries } from './deliveries.fixture.ts';
import { claimDue } from './deliveries.ts';
import { createLanes, startDelivering } from './dispatcher.ts';
import { answering, hanging, until } from './receiver.fixture.ts';

const at = useDeliveries();
type Org = Awaited<ReturnType<typeof at.newOrg>>;

const idOf = ({ headers }: { headers: Record<string, unknown> }) => headers['webhook-id'];
async function emitMany(org: Org, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let each = 0; each < count; each++) ids.push(await at.emit(org));
  return ids;
}

describe('dispatchers', () => {
  it('send each delivery once if several run at the same time', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    const ids = await emitMany(org, 60);
    for (let count = 0; count < 3; count++) at.dispatcher();
    await at.untilDeliveries(org, endpoint, (all) => all.every(({ status }) => status === 'succeeded'));
    expect(receiver.received.map(idOf).sort()).toEqual(ids.sort());
  });

  it('take over deliveries of a dead process after its lease [WHD-021]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    const id = await at.emit(org);
    expect(await claimDue(at.server.db, [{ endpointId: endpoint.id, room: 8 }], at.now())).toHaveLength(1);
    const dispatcher = at.dispatcher();
    await dispatcher.stop();
    expect(receiver.received).toEqual([]);
    at.advance(60_001);
    at.dispatcher();
    await at.untilDeliveries(org, endpoint, ([last]) => last?.status === 'succeeded');
    expect(receiver.received.map(idOf)).toEqual([id]);
  });

  it('deliver to other endpoints while some hang and some fail', async () => {
    const org = await at.newOrg();
    const [good, bad, silent] = [await at.receiver(), await at.receiver(answering(500)), await at.receiver(hanging)];
    const healthy = await at.endpoint(org, good.url, ['task.completed']);
    for (let count = 0; count < 3; count++) {
      await at.endpoint(org, bad.url, ['task.completed']);
      await at.endpoint(org, silent.url, ['task.completed']);
    }
    const ids = await emitMany(org, 40);
    at.dispatcher({ limits: { total: 16, perEndpoint: 4 } });
    await at.untilDeliveries(org, healthy, (all) => all.every(({ status }) => status === 'succeeded'));
    expect(new Set(good.received.map(idOf))).toEqual(new Set(ids));
    // Hanging endpoints held one or two slots each the whole time.
    expect(silent.received.length).toBeLessThanOrEqual(6);
    await until(() => bad.received.length >= 120);
  });

  it('have at most so many attempts under way at one endpoint', async () => {
    const org = await at.newOrg();
    let [open, most] = [0, 0];
    const receiver = await at.receiver((response) => {
      open += 1;
      most = Math.max(most, open);
      // Long enough for the others to arrive, also on a busy machine.
      setTimeout(() => {
        open -= 1;
        response.writeHead(204).end();
      }, 40);
    });
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    await emitMany(org, 60);
    at.dispatcher({ limits: { perEndpoint: 3 } });
    await at.untilDeliveries(org, endpoint, (all) => all.every(({ status }) => status === 'succeeded'));
    expect(most).toBe(3);
  });

  it('that are stopped let attempts end', async () => {
    const org = await at.newOrg();
    let answer = () => {};
    const receiver = await at.receiver((response) => {
      answer = () => response.writeHead(204).end();
    });
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    await emitMany(org, 1);
    const dispatcher = at.dispatcher();
    await until(() => receiver.received[0]);
    const stopped = dispatcher.stop();
    const late = await at.emit(org);
    dispatcher.wake([endpoint.id]);
    answer();
    await stopped;
    const [last, first] = await at.deliveries(org, endpoint);
    expect([last?.event_id, last?.status, first?.status]).toEqual([late, 'pending', 'succeeded']);
  });

  it('that are stopped hand back what does not end, and another sends it at once', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(hanging);
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    const id = await at.emit(org);
    const dispatcher = at.dispatcher();
    await until(() => receiver.received[0]);
    await dispatcher.stop({ graceMs: 0 });
    expect((await at.deliveries(org, endpoint)).map(({ status }) => status)).toEqual(['pending']);
    receiver.answer = answering(200);
    at.dispatcher();
    await at.untilDeliveries(org, endpoint, ([last]) => last?.status === 'succeeded');
    expect(receiver.received.map(idOf)).toEqual([id, id]);
  });
});

describe('an address that must not be called', () => {
  it('is refused when a name leads to it at the time of the delivery [WHD-020]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const answers = ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', '169.254.169.254', '::1'];
    const outbound = createOutbound({
      allowPrivate: false,
      lookup: async () => [{ address: answers.shift() ?? '127.0.0.1' }],
    });
    const endpoint = await at.endpoint(org, `https://hooks.example.com:${receiver.port}/in`);
    await emitMany(org, 5);
    at.dispatcher({ outbound, limits: { perEndpoint: 1 } });
    const shown = await at.untilDeliveries(org, endpoint, (all) => all.length === 10);
    const failed = shown.filter(({ status }) => status === 'failed');
    expect(failed.map(({ status_code, error }) => [status_code, error])).toEqual(
      Array(5).fill([null, 'hooks.example.com could not be reached: it has no public address.']),
    );
    expect(receiver.received).toEqual([]);
    await outbound.close();
  });

  it.each(['127.0.0.1', '2130706433', '0177.0.0.1', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254'])(
    'is refused as %s, also if it was stored before such addresses were refused [WHD-020]',
    async (host) => {
      const org = await at.newOrg();
      const receiver = await at.receiver();
      const endpoint = await at.endpoint(org, receiver.url);
      const url = `http://${host}:${receiver.port}/in`;
      await run(at.server.db, sql`UPDATE webhook_endpoints SET url = ${url} WHERE id = ${endpoint.id}`);
      await at.emit(org);
      const outbound = createOutbound({ allowPrivate: false });
      at.dispatcher({ outbound });
      const [, failed] = await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
      expect(failed?.error).toMatch(/^Private, local and internal addresses are refused\./);
      expect(receiver.received).toEqual([]);
      await outbound.close();
    },
  );

  it('is not reached through a redirect [WHD-012]', async () => {
    const org = await at.newOrg();
    const [inside, receiver] = [await at.receiver(), await at.receiver()];
    receiver.answer = answering(307, { location: inside.url });
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    at.dispatcher();
    await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
    expect([receiver.received.length, inside.received.length]).toEqual([1, 0]);
  });
});

describe('an endpoint of a deployment file', () => {
  it('receives events of its deployment and of the account, and of no other deployment [WHK-021, WHK-022]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const [own, other] = [await newDeployment(at.server.db, org.id), await newDeployment(at.server.db, org.id)];
    const endpoint = await at.endpoint(org, receiver.url);
    await run(
      at.server.db,
      sql`
      UPDATE webhook_endpoints SET deployment_id = ${own.id}, managed_by = 'file' WHERE id = ${endpoint.id}`,
    );
    const heard = [
      await at.emit(org, { deploymentId: own.id }),
      await at.emit(org, { type: 'key.created' }),
      await at.emit(org, { type: 'user.deleted' }),
      await at.emit(org, { type: 'usage.cap_reached' }),
      await at.emit(org, { type: 'webhook.disabled' }),
    ];
    await at.emit(org, { deploymentId: other.id });
    await at.emit(org, { deploymentId: null });
    await at.emit(org, { type: 'deployment.promoted', deploymentId: other.id });
    at.dispatcher();
    await at.untilDeliveries(org, endpoint, (all) => all.every(({ status }) => status === 'succeeded'));
    expect(receiver.received.map(idOf).sort()).toEqual(heard.sort());
  });
});

it('delivers after a notification, without polling', async () => {
  const org = await at.newOrg();
  const receiver = await at.receiver();
  const { id } = await at.endpoint(org, receiver.url, ['task.completed']);
  const { db, vault, outbound } = at.server;
  const connectionString = db.$client.options.connectionString as string;
  const log = createLog('silent');
  const line = await openNotifyListener({ connectionString, log });
  const delivering = await startDelivering({
    db,
    vault,
    outbound,
    log,
    line,
    lookEveryMs: 3_600_000,
  });
  try {
    await at.emit(org);
    await until(() => receiver.received.length === 1);
    await run(
      db,
      sql`
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'vestra listener'`,
    );
    // Not notified while the connection is down, and found when it is back.
    await at.emit(org);
    await until(() => receiver.received.length === 2);
    await at.emit(org);
    await until(() => receiver.received.length === 3);
    expect((await at.deliveries(org, { id })).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
  } finally {
    await delivering.stop();
    await line.close();
  }
});

const endpoints = (count: number, name = 'whk') => Array.from({ length: count }, (_, at) => `${name}_${at}`);
type Lanes = ReturnType<typeof createLanes>;

/** Fills all free slots. Every ready endpoint has unlimited deliveries. */
function fill(lanes: Lanes): { endpointId: string; leave: (isSuccess: boolean) => void }[] {
  const taken = [];
  for (let chosen = lanes.choose(); chosen.length > 0; chosen = lanes.choose()) {
    for (const { endpointId, room } of chosen) {
      for (let each = 0; each < room; each++) taken.push({ endpointId, leave: lanes.enter(endpointId, 'org_a') });
    }
    lanes.ready(chosen.map(({ endpointId }) => endpointId));
  }
  return taken;
}

const countOf = (taken: { endpointId: string }[], endpointId: string) =>
  taken.filter((each) => each.endpointId === endpointId).length;

describe('lanes', () => {
  it('give a new endpoint two slots, one more per success up to its limit, and one after a failure', () => {
    const lanes = createLanes({ total: 64, perOrg: 100, perEndpoint: 4 });
    const shares = [];
    for (const isSuccess of [true, true, true, true, false, true]) {
      lanes.ready(['whk_a']);
      const taken = fill(lanes);
      shares.push(taken.length);
      const [first, ...others] = taken;
      // The others end before the first, so that the first decides.
      for (const { leave } of others) leave(isSuccess);
      first?.leave(isSuccess);
    }
    expect(shares[0]).toBe(2);
    expect(Math.max(...shares)).toBe(4);
    expect(shares[5]).toBe(1);
  });

  it('leave half of all slots to endpoints that answer, however many hang', () => {
    const lanes = createLanes({ total: 20, perOrg: 100, perEndpoint: 8 });
    lanes.ready(['whk_good']);
    for (const { leave } of fill(lanes)) leave(true);
    const hanging = endpoints(1000, 'bad');
    lanes.ready(hanging);
    const taken = fill(lanes);
    expect(countOf(taken, 'whk_good')).toBe(4);
    expect(taken).toHaveLength(10 + 4);
    for (const { endpointId, leave } of taken) if (endpointId === 'whk_good') leave(true);
    const next = fill(lanes);
    expect(next.map(({ endpointId }) => endpointId)).toEqual(Array(8).fill('whk_good'));
  });

  it('leave slots to other orgs, however many endpoints of one org answer [JOB-242]', () => {
    const lanes = createLanes({ total: 20, perOrg: 12, perEndpoint: 8 });
    const all = endpoints(10);
    for (let round = 0; round < 8; round++) {
      lanes.ready(all);
      for (const { leave } of fill(lanes)) leave(true);
    }
    lanes.ready(all);
    expect(fill(lanes)).toHaveLength(12);
    lanes.ready(['whk_other']);
    expect(fill(lanes).map(({ endpointId }) => endpointId)).toEqual(['whk_other', 'whk_other']);
  });

  it('let endpoints take turns', () => {
    const lanes = createLanes({ total: 8, perOrg: 100, perEndpoint: 2 });
    const all = endpoints(12);
    lanes.ready(all);
    const first = fill(lanes);
    expect(first).toHaveLength(4);
    for (const { leave } of first) leave(false);
    const second = fill(lanes);
    const seen = new Set([...first, ...second].map(({ endpointId }) => endpointId));
    expect(seen.size).toBeGreaterThan(new Set(first.map(({ endpointId }) => endpointId)).size);
  });

  it('choose an endpoint again if it became ready during the claim', () => {
    const lanes = createLanes({ total: 8, perOrg: 100, perEndpoint: 2 });
    lanes.ready(['whk_a']);
    expect(lanes.choose()).toEqual([{ endpointId: 'whk_a', room: 2 }]);
    expect(lanes.choose()).toEqual([]);
    lanes.ready(['whk_a']);
    expect(lanes.choose()).toEqual([{ endpointId: 'whk_a', room: 2 }]);
  });

  it('free slots when attempts end', () => {
    const lanes = createLanes({ total: 4, perOrg: 100, perEndpoint: 2 });
    lanes.ready(endpoints(10));
    const taken = fill(lanes);
    expect(countOf(taken, 'whk_0')).toBe(2);
    for (const { leave } of taken) leave(true);
    lanes.ready(endpoints(10, 'other'));
    expect(fill(lanes).length).toBe(4);
  });
});
