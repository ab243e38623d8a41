import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { emit } from '../../account/events/emit.ts';
import { someEvent } from '../../account/events/events.fixture.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { useDeliveries } from './deliveries.fixture.ts';
import { answering, type Received, until } from './receiver.fixture.ts';

const at = useDeliveries();

const headersOf = ({ headers }: Received) => headers as Record<string, string>;
const verify = (secret: string, request: Received, body = request.body) =>
  new Webhook(secret).verify(body, headersOf(request));
const first = ({ received }: { received: Received[] }) => until(() => received[0], 'a request');

describe('a delivery', () => {
  it('is a signed event that an independent verifier accepts, and refuses after any change [WHD-001, WHD-004, WHD-007, WHD-008, WHD-009]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const { secret } = await at.endpoint(org, receiver.url);
    const id = await at.emit(org);
    at.dispatcher();
    const request = await first(receiver);

    const { body: event } = await at.call(org, 'GET', `/v1/events/${id}`);
    expect(verify(secret, request)).toEqual(event);
    expect(Object.keys(JSON.parse(request.body))).toEqual([
      'id',
      'object',
      'type',
      'created_at',
      'mode',
      'org_id',
      'data',
    ]);
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': id,
      'user-agent': 'Vestra/1.0',
    });
    expect(request.headers['service-signature']).toBe(request.headers['webhook-signature']);
    expect(request.headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    const age = Date.now() / 1000 - Number(request.headers['webhook-timestamp']);
    expect(Math.abs(age)).toBeLessThan(60);

    expect(() => verify(secret, request, request.body.replace('Grüße', 'Grüsse'))).toThrow(/signature/i);
    const later = {
      ...headersOf(request),
      'webhook-timestamp': String(Number(request.headers['webhook-timestamp']) + 1),
    };
    expect(() => new Webhook(secret).verify(request.body, later)).toThrow(/signature/i);
    expect(() => new Webhook(secret).verify(request.body, { ...headersOf(request), 'webhook-id': 'evt_2' })).toThrow();
    const { secret: another } = await at.endpoint(org, receiver.url);
    expect(() => verify(another, request)).toThrow(/signature/i);
  });

  it('has a signature for the old and the new secret after a roll [WHD-010, WHK-012]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const { id, secret: old } = await at.endpoint(org, receiver.url);
    const { secret } = (await at.call(org, 'POST', `/v1/webhooks/${id}/roll-secret`)).body;
    await at.emit(org);
    at.dispatcher();
    const request = await first(receiver);
    expect(String(request.headers['service-signature']).split(' ')).toHaveLength(2);
    for (const each of [old, secret]) expect(verify(each, request)).toMatchObject({ type: 'task.completed' });

    await run(
      at.server.db,
      sql`UPDATE webhook_secrets SET valid_until = now() - interval '1 minute' WHERE valid_until IS NOT NULL`,
    );
    receiver.received.length = 0;
    await at.call(org, 'POST', `/v1/webhooks/${id}/test`);
    const alone = await first(receiver);
    expect(() => verify(old, alone)).toThrow(/signature/i);
    expect(verify(secret, alone)).toMatchObject({ type: 'webhook.test' });
  });

  it('is signed with the current secret after a change', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const { id, secret: old } = await at.endpoint(org, receiver.url);
    const dispatcher = at.dispatcher();
    const secrets = [old];
    for (let rolls = 0; rolls < 4; rolls++) {
      await at.emit(org);
      dispatcher.wake([id]);
      const request = await until(() => receiver.received[rolls]);
      expect(String(request.headers['webhook-signature']).split(' ')).toHaveLength(secrets.length);
      for (const each of secrets) expect(verify(each, request)).toMatchObject({ type: 'task.completed' });
      secrets.unshift((await at.call(org, 'POST', `/v1/webhooks/${id}/roll-secret`)).body.secret);
    }
  });

  it('goes to endpoints that listed its type, or all, in its own org and mode [WHK-019, WHK-020]', async () => {
    const [org, other] = [await at.newOrg(), await at.newOrg()];
    const receiver = await at.receiver();
    const path = (name: string) => `${receiver.url}/${name}`;
    await at.endpoint(org, path('all'));
    await at.endpoint(org, path('listed'), ['task.failed', 'task.completed']);
    await at.endpoint(org, path('unlisted'), ['task.failed', 'key.created']);
    await at.endpoint(org, path('live'), ['*'], org.liveKey);
    await at.endpoint(other, path('foreign'));
    await at.emit(org);
    await at.emit(org, { mode: 'live', text: 'of live' });
    at.dispatcher();
    await until(() => receiver.received.length >= 3);
    await until(async () => (await waiting()) === 0);
    expect(receiver.received.map((each) => each.path).sort()).toEqual(['/in/all', '/in/listed', '/in/live']);
    const rows = await rowsOf(at.server.db, { status: text() }, sql`SELECT status FROM webhook_deliveries`);
    expect(rows).toEqual(Array(3).fill({ status: 'succeeded' }));
    expect(receiver.received.find((each) => each.path === '/in/live')?.body).toContain('of live');
  });

  it('is recorded with its status code and its duration [WHD-002, WHD-016, WHD-017, WHK-014]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(202, {}, 'thanks'));
    const endpoint = await at.endpoint(org, receiver.url);
    const eventId = await at.emit(org);
    const [pending] = await at.deliveries(org, endpoint);
    expect(pending).toEqual({
      object: 'webhook_delivery',
      id: expect.stringMatching(/^whd_[0-9a-z]{24}$/),
      endpoint_id: endpoint.id,
      event_id: eventId,
      event_type: 'task.completed',
      attempt: 1,
      status: 'pending',
      status_code: null,
      duration_ms: null,
      error: null,
      next_attempt_at: pending?.created_at,
      created_at: expect.any(String),
    });
    at.dispatcher();
    const [shown] = await at.untilDeliveries(org, endpoint, ([each]) => each?.status === 'succeeded');
    expect(shown).toEqual({
      ...pending,
      status: 'succeeded',
      status_code: 202,
      duration_ms: expect.any(Number),
      next_attempt_at: null,
    });
  });

  it('is not made where the change that it tells was undone', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, receiver.url);
    const work = transaction(at.server.db, async (tx) => {
      await emit(tx, someEvent(org.id));
      throw new Error('undone');
    });
    await expect(work).rejects.toThrow('undone');
    expect(await at.deliveries(org, endpoint)).toEqual([]);
  });

  it('counts as received when the answer is long, and the rest of it is not read', async () => {
    const org = await at.newOrg();
    let written = 0;
    const receiver = await at.receiver((response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) written += 65_536;
      };
      response.on('drain', more);
      more();
    });
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    at.dispatcher();
    const [shown] = await at.untilDeliveries(org, endpoint, ([each]) => each?.status !== 'pending');
    expect([shown?.status, shown?.status_code]).toEqual(['succeeded', 200]);
    expect(written).toBeLessThan(50_000_000);
  });
});

describe('a failed delivery', () => {
  it.each([
    [500, {}, /answered 500/],
    [404, {}, /answered 404/],
    [302, { location: '/elsewhere' }, /302: redirects are not followed/],
    [304, {}, /answered 304/],
  ])('fails with status %i [WHD-011, WHD-012]', async (status, headers, error) => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(status, headers, status === 304 ? '' : 'internal-details'));
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    at.dispatcher();
    const [next, failed] = await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
    expect([failed?.status, failed?.status_code]).toEqual(['failed', status]);
    expect(failed?.error).toMatch(error);
    expect([next?.attempt, next?.status, next?.next_attempt_at]).toEqual([2, 'pending', failed?.next_attempt_at]);
    expect(receiver.received).toHaveLength(1);
    const listed = (await at.call(org, 'GET', `/v1/webhooks/${endpoint.id}/deliveries`)).text;
    expect(listed).not.toContain('internal-details');
    expect(listed).not.toContain(endpoint.secret);
  });

  it('is attempted ten times with the same id and body, on schedule [WHD-002, WHD-005, WHD-006, WHD-014]', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(503));
    const endpoint = await at.endpoint(org, receiver.url);
    const eventId = await at.emit(org);
    const dispatcher = at.dispatcher();
    const minute = 60_000;
    const hour = 60 * minute;
    const pauses = [5000, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
    for (const [before, pause] of pauses.entries()) {
      const [next, failed] = await at.untilDeliveries(org, endpoint, (all) => all.length === before + 2);
      expect([failed?.status, failed?.attempt, next?.attempt]).toEqual(['failed', before + 1, before + 2]);
      const due = Date.parse(next?.next_attempt_at as string) - at.now().getTime();
      expect(due).toBeLessThanOrEqual(pause);
      expect(due).toBeGreaterThan(pause - 30_000);
      dispatcher.wake();
      at.advance(pause);
      dispatcher.wake();
    }
    const all = await at.untilDeliveries(org, endpoint, ([last]) => last?.status === 'failed' && last.attempt === 10);
    expect(all.map(({ status }) => status)).toEqual(Array(10).fill('failed'));
    expect(all[0]?.next_attempt_at).toBeNull();
    expect(new Set(all.map((each) => each.event_id))).toEqual(new Set([eventId]));
    expect(receiver.received).toHaveLength(10);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([eventId]));
    const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect((times[9] as number) - (times[0] as number)).toBeGreaterThanOrEqual(75 * 3600);
  });

  it('succeeds with a later attempt', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver(answering(500));
    const endpoint = await at.endpoint(org, receiver.url);
    await at.emit(org);
    const dispatcher = at.dispatcher();
    await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
    receiver.answer = answering(200);
    at.advance(5000);
    dispatcher.wake();
    const all = await at.untilDeliveries(org, endpoint, ([last]) => last?.status === 'succeeded');
    expect(all.map(({ attempt, status }) => [attempt, status])).toEqual([
      [2, 'succeeded'],
      [1, 'failed'],
    ]);
  });

  it('fails if the receiver is unreachable, and the error names only the host', async () => {
    const org = await at.newOrg();
    const receiver = await at.receiver();
    const endpoint = await at.endpoint(org, `http://127.0.0.1:1/in?token=hidden-in-the-query`);
    await at.emit(org);
    at.dispatcher();
    const [, failed] = await at.untilDeliveries(org, endpoint, (all) => all.length === 2);
    expect([failed?.status_code, failed?.error]).toEqual([null, '127.0.0.1 could not be reached: ECONNREFUSED.']);
    expect(receiver.received).toEqual([]);
  });
});

const waiting = async () =>
  Number(
    (
      await rowsOf(
        at.server.db,
        { count: count() },
        sql`SELECT count(*) AS count FROM webhook_deliveries WHERE due_at IS NOT NULL`,
      )
    )[0]?.count,
  );
