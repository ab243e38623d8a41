import { describe, expect, it } from 'vitest';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { moment, text } from '../../platform/db/table.ts';
import { useDeliveries } from './deliveries.fixture.ts';
import { accepting, answering, hanging, until } from './receiver.fixture.ts';

const at = useDeliveries();
type Org = Awaited<ReturnType<typeof at.newOrg>>;

const hour = 3_600_000;
const show = async (org: Org, { id }: { id: string }) => (await at.call(org, 'GET', `/v1/webhooks/${id}`)).body;
const disabledEvents = async (org: Org) =>
  (await at.call(org, 'GET', '/v1/events?type=webhook.disabled')).body.data as { data: { id: string } }[];
const auditOf = async ({ id }: { id: string }) =>
  await rowsOf(at.server.db, { action: text() }, sql`SELECT action FROM audit_entries WHERE target_id = ${id}`);

describe('an endpoint that answers 410', () => {
  it('is disabled, and its pending deliveries are dropped [WHD-013]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(410));
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed', 'task.failed']);
    for (let count = 0; count < 5; count++) await at.emit(org);
    at.dispatcher({ limits: { perEndpoint: 1 } });
    await until(async () => !(await show(org, endpoint)).active);
    const shown = await at.untilDeliveries(org, endpoint, (all) => all.every(({ status }) => status === 'failed'));
    expect(shown.map(({ status, status_code, next_attempt_at }) => [status, status_code, next_attempt_at])).toEqual([
      ['failed', 410, null],
    ]);
    expect(shown[0]?.error).toContain('switched off');
    await at.emit(org);
    expect(await at.deliveries(org, endpoint)).toHaveLength(1);
    expect(receiver.received).toHaveLength(1);
    expect(await auditOf(endpoint)).toContainEqual({ action: 'webhook_endpoint.disabled' });
  });

  it('emits one event to other endpoints, with the shape of its GET', async () => {
    const org = await at.newOrg();
    const [gone, watcher] = [await at.receiver(answering(410)), await at.receiver()];
    const endpoint = await at.endpoint(org, gone.url, ['task.completed']);
    await at.endpoint(org, watcher.url, ['webhook.disabled']);
    for (let count = 0; count < 8; count++) await at.emit(org);
    const dispatcher = at.dispatcher({ limits: { perEndpoint: 8 } });
    await until(async () => !(await show(org, endpoint)).active);
    dispatcher.wake();
    await until(() => watcher.received[0]);
    await until(async () => (await at.deliveries(org, endpoint)).every(({ status }) => status === 'failed'));
    expect(JSON.parse(watcher.received[0]?.body as string)).toMatchObject({
      type: 'webhook.disabled',
      data: await show(org, endpoint),
    });
    expect(await disabledEvents(org)).toHaveLength(1);
    expect(watcher.received).toHaveLength(1);
  });
});

describe('an endpoint that fails', () => {
  /** Emits an event every twelve hours, of which every attempt fails. */
  async function failFor(org: Org, endpoint: { id: string }, hours: number, dispatcher: { wake: () => void }) {
    for (let passed = 0; passed < hours; passed += 12) {
      at.advance(12 * hour);
      const eventId = await at.emit(org);
      dispatcher.wake();
      await at.untilDeliveries(org, endpoint, (all) =>
        all.some((each) => each.event_id === eventId && each.status === 'failed'),
      );
    }
  }

  it('is disabled after five days with one event, and has no pending deliveries left [WHD-015]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    const dispatcher = at.dispatcher();
    await failFor(org, endpoint, 12, dispatcher);
    await failFor(org, endpoint, 108, dispatcher);
    expect((await show(org, endpoint)).active).toBe(true);
    at.advance(12 * hour);
    dispatcher.wake();
    await until(async () => !(await show(org, endpoint)).active);
    const shown = await at.untilDeliveries(org, endpoint, (all) => all.every(({ status }) => status === 'failed'));
    expect(
      shown.every(
        ({ next_attempt_at }) => next_attempt_at === null || Date.parse(next_attempt_at) < at.now().getTime(),
      ),
    ).toBe(true);
    const told = await disabledEvents(org);
    expect(told.map(({ data }) => data)).toEqual([await show(org, endpoint)]);
  });

  it('starts over after a success', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    const dispatcher = at.dispatcher();
    await failFor(org, endpoint, 72, dispatcher);
    receiver.answer = accepting;
    const good = await at.emit(org);
    dispatcher.wake();
    await at.untilDeliveries(org, endpoint, (all) =>
      all.some((each) => each.event_id === good && each.status === 'succeeded'),
    );
    receiver.answer = answering(500);
    await failFor(org, endpoint, 72, dispatcher);
    expect((await show(org, endpoint)).active).toBe(true);
    expect(await disabledEvents(org)).toEqual([]);
  });

  it('does not count manual attempts', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url);
    await at.call(org, 'POST', `/v1/webhooks/${endpoint.id}/test`);
    const rows = await rowsOf(
      at.server.db,
      { failing_since: moment().nullable() },
      sql`SELECT failing_since FROM webhook_endpoints WHERE id = ${endpoint.id}`,
    );
    expect(rows).toEqual([{ failing_since: null }]);
  });
});

describe('a disabled endpoint', () => {
  it('receives no pending or interim events, and only new ones after it is enabled [WHK-023]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    const set = (active: boolean) => at.call(org, 'PATCH', `/v1/webhooks/${endpoint.id}`, { active });
    await at.emit(org, { text: 'before' });
    await set(false);
    expect(await at.deliveries(org, endpoint)).toEqual([]);
    await at.emit(org, { text: 'meanwhile' });
    await set(true);
    await at.emit(org, { text: 'after' });
    at.dispatcher();
    await at.untilDeliveries(org, endpoint, ([last]) => last?.status === 'succeeded');
    expect(receiver.received.map(({ body }) => JSON.parse(body).data.result.text)).toEqual(['after']);
  });

  it('shows no next attempt', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    at.dispatcher();
    await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
    await at.call(org, 'PATCH', `/v1/webhooks/${endpoint.id}`, { active: false });
    const shown = await at.deliveries(org, endpoint);
    expect(shown.map(({ status, next_attempt_at }) => [status, next_attempt_at])).toEqual([['failed', null]]);
  });

  it('drops deliveries that were committed while it was being disabled', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    await run(at.server.db, sql`UPDATE webhook_endpoints SET active = false WHERE id = ${endpoint.id}`);
    at.dispatcher();
    await until(async () => (await at.deliveries(org, endpoint)).length === 0);
    expect(receiver.received).toEqual([]);
  });

  it('lets a running attempt finish without a retry', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(hanging);
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    at.dispatcher();
    await until(() => receiver.received[0]);
    await at.call(org, 'PATCH', `/v1/webhooks/${endpoint.id}`, { active: false });
    await receiver.stop();
    const shown = await at.untilDeliveries(org, endpoint, ([last]) => last?.status === 'failed');
    expect(shown.map(({ next_attempt_at }) => next_attempt_at)).toEqual([null]);
  });
});

describe('a deleted endpoint', () => {
  it('leaves no pending deliveries', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const [byCall, byCascade, kept] = [
      await at.endpoint(org, `${receiver.url}/call`),
      await at.endpoint(org, `${receiver.url}/cascade`),
      await at.endpoint(org, `${receiver.url}/kept`),
    ];
    await at.emit(org);
    await at.emit(org);
    await at.call(org, 'DELETE', `/v1/webhooks/${byCall.id}`);
    await run(at.server.db, sql`DELETE FROM webhook_endpoints WHERE id = ${byCascade.id}`);
    const waiting = async () =>
      (
        await rowsOf(
          at.server.db,
          { endpoint_id: text() },
          sql`SELECT endpoint_id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY endpoint_id`,
        )
      ).map(({ endpoint_id }) => endpoint_id);
    expect(await waiting()).toEqual([byCascade.id, byCascade.id, kept.id, kept.id].sort());
    at.dispatcher();
    await until(async () => (await waiting()).length === 0);
    expect(receiver.received.map(({ path }) => path)).toEqual(['/in/kept', '/in/kept']);
  });
});
