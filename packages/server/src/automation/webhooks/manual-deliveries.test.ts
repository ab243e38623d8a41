import { newId } from '@vestra/contract/ids';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { useDeliveries } from './deliveries.fixture.ts';
import { accepting, answering, until } from './receiver.fixture.ts';

const at = useDeliveries();
type Org = Awaited<ReturnType<typeof at.newOrg>>;

const test = (org: Org, { id }: { id: string }) => at.call(org, 'POST', `/v1/webhooks/${id}/test`);
const retry = (org: Org, { id }: { id: string }, deliveryId: string) =>
  at.call(org, 'POST', `/v1/webhooks/${id}/deliveries/${deliveryId}/retry`);

describe('a test', () => {
  it('sends webhook.test only to that endpoint, whatever its events, and returns the result [WHD-018, WHD-019, WHK-013]', async () => {
    const org = await at.newOrg();
    const [receiver, other] = [await at.receiver(answering(201)), await at.receiver()];
    const { secret, ...endpoint } = await at.endpoint(org, receiver.url, ['key.created']);
    await at.endpoint(org, other.url, ['*']);
    at.dispatcher();
    const { status, body } = await test(org, endpoint);
    expect([status, body]).toEqual([
      200,
      {
        object: 'webhook_delivery',
        id: expect.stringMatching(/^whd_/),
        endpoint_id: endpoint.id,
        event_id: expect.stringMatching(/^evt_/),
        event_type: 'webhook.test',
        attempt: 1,
        status: 'succeeded',
        status_code: 201,
        duration_ms: expect.any(Number),
        error: null,
        next_attempt_at: null,
        created_at: expect.any(String),
      },
    ]);
    const [request] = receiver.received;
    const sent = new Webhook(secret).verify(request?.body as string, request?.headers as Record<string, string>);
    expect(sent).toMatchObject({ id: body.event_id, type: 'webhook.test', data: endpoint });
    expect((await at.call(org, 'GET', `/v1/events/${body.event_id}`)).body).toEqual(sent);
    expect(await at.deliveries(org, endpoint)).toEqual([body]);
    expect(other.received).toEqual([]);
  });

  it('returns a failure and is not retried', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url);
    const { body } = await test(org, endpoint);
    expect([body.status, body.status_code, body.next_attempt_at]).toEqual(['failed', 500, null]);
    expect(await at.deliveries(org, endpoint)).toEqual([body]);
  });

  it('reaches a disabled endpoint, and disables one that answers 410', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    await at.call(org, 'PATCH', `/v1/webhooks/${endpoint.id}`, { active: false });
    expect((await test(org, endpoint)).body.status).toBe('succeeded');
    receiver.answer = answering(410);
    await at.call(org, 'PATCH', `/v1/webhooks/${endpoint.id}`, { active: true });
    expect((await test(org, endpoint)).body.status_code).toBe(410);
    expect((await at.call(org, 'GET', `/v1/webhooks/${endpoint.id}`)).body.active).toBe(false);
  });

  it('is left to a dispatcher and returned as pending if many are running', async () => {
    const org = await at.newOrg();
    const release: (() => void)[] = [];
    const receiver = await at.receiver((response) => void release.push(() => response.writeHead(204).end()));
    const endpoint = await at.endpoint(org, receiver.url);
    const waiting = Array.from({ length: 32 }, () => test(org, endpoint));
    await until(() => receiver.received.length === 32);
    const { body } = await test(org, endpoint);
    expect(body.status).toBe('pending');
    for (const each of release.splice(0)) each();
    expect((await Promise.all(waiting)).map(({ body: each }) => each.status)).toEqual(Array(32).fill('succeeded'));
    receiver.answer = accepting;
    at.dispatcher();
    await at.untilDeliveries(org, endpoint, (all) => all.every(({ status }) => status === 'succeeded'));
  });

  it('is made by another process after the lease if its process dies', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    const { body } = await test(org, endpoint);
    await run(
      at.server.db,
      sql`
      UPDATE webhook_deliveries SET status = 'pending', due_at = now() + interval '60 seconds' WHERE id = ${body.id}`,
    );
    const dispatcher = at.dispatcher();
    at.advance(61_000);
    dispatcher.wake();
    await until(() => receiver.received.length === 2);
    await at.untilDeliveries(org, endpoint, ([last]) => last?.status === 'succeeded');
  });
});

describe('a retry', () => {
  it('sends the same event again after a success and returns a new delivery [WHD-002, WHD-018, WHK-015]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url, ['task.completed']);
    const eventId = await at.emit(org);
    at.dispatcher();
    const [first] = await at.untilDeliveries(org, endpoint, ([each]) => each?.status === 'succeeded');
    const { status, body } = await retry(org, endpoint, first?.id as string);
    expect([status, body]).toMatchObject([
      200,
      { event_id: eventId, attempt: 2, status: 'succeeded', status_code: 204 },
    ]);
    expect(body.id).not.toBe(first?.id);
    expect((await at.deliveries(org, endpoint)).map(({ id }) => id)).toEqual([body.id, first?.id]);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
    expect(receiver.received[0]?.body).toBe(receiver.received[1]?.body);
  });

  it('keeps the schedule if it fails', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    const dispatcher = at.dispatcher();
    const [planned, failed] = await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
    const { body } = await retry(org, endpoint, failed?.id as string);
    expect([body.attempt, body.status, body.next_attempt_at]).toEqual([3, 'failed', null]);
    expect(await at.deliveries(org, endpoint)).toContainEqual(planned);
    at.advance(5000);
    dispatcher.wake();
    const [next] = await at.untilDeliveries(org, endpoint, (all) => all.length === 4);
    expect(next?.attempt).toBe(4);
    const due = Date.parse(next?.next_attempt_at as string) - at.now().getTime();
    expect(due).toBeGreaterThan(270_000);
    expect(due).toBeLessThanOrEqual(300_000);
  });

  it('ends the schedule if it succeeds', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    at.dispatcher();
    const [, failed] = await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
    receiver.answer = accepting;
    const { body } = await retry(org, endpoint, failed?.id as string);
    expect(body.status).toBe('succeeded');
    const shown = await at.deliveries(org, endpoint);
    expect(shown.map(({ status, next_attempt_at }) => [status, next_attempt_at])).toEqual([
      ['succeeded', null],
      ['failed', null],
    ]);
  });

  it('is refused if the event is past its retention', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    const { body } = await test(org, endpoint);
    await at.emit(org);
    await run(at.server.db, sql`DELETE FROM events WHERE org_id = ${org.id}`);
    const answer = await retry(org, endpoint, body.id);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'event_not_found']);
    at.dispatcher();
    const [last] = await at.untilDeliveries(org, endpoint, ([each]) => each?.status === 'failed');
    expect([last?.error, last?.next_attempt_at]).toEqual([expect.stringContaining('past its retention'), null]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('unknown objects', () => {
  it('answer 404: endpoints and deliveries that are unknown, of another org or of the other mode [WHK-030, WHK-031]', async () => {
    const [org, other] = [await at.newOrg(), await at.newOrg()];
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    const second = await at.endpoint(org, receiver.url);
    const { body } = await test(org, endpoint);
    const nothing = newId('whk');
    const codes = async (key: string, endpointId: string, deliveryId: string) =>
      Promise.all(
        [
          ['POST', `/v1/webhooks/${endpointId}/test`],
          ['GET', `/v1/webhooks/${endpointId}/deliveries`],
          ['POST', `/v1/webhooks/${endpointId}/deliveries/${deliveryId}/retry`],
        ].map(async ([method, path]) => {
          const answer = await at.server.call(method as string, path as string, { key });
          return [answer.status, answer.body.error?.code];
        }),
      );
    const missing = Array(3).fill([404, 'webhook_not_found']);
    expect(await codes(org.key, nothing, body.id)).toEqual(missing);
    expect(await codes(other.key, endpoint.id, body.id)).toEqual(missing);
    expect(await codes(org.liveKey, endpoint.id, body.id)).toEqual(missing);
    for (const [of, deliveryId] of [
      [endpoint, newId('whd')],
      [second, body.id],
      [endpoint, 'whd_short'],
    ] as const) {
      const answer = await retry(org, of, deliveryId);
      expect([answer.status, answer.body.error.code]).toEqual([404, 'delivery_not_found']);
    }
    expect(receiver.received).toHaveLength(1);
  });
});

describe('the list of deliveries', () => {
  it('pages through every attempt once, newest first [WHK-014]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    const made: string[] = [];
    for (let count = 0; count < 5; count++) made.unshift((await test(org, endpoint)).body.id);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const path: string = `/v1/webhooks/${endpoint.id}/deliveries?limit=2${cursor && `&cursor=${cursor}`}`;
      const { body } = await at.call(org, 'GET', path);
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(made);
  });
});
