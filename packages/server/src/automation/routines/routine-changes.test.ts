import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sharedNow } from '../../platform/db/clock.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { moveRoutinesToTimezone } from './routine-changes.ts';
import { type RoutineServer, startRoutines } from './routines.fixture.ts';

type Org = Awaited<ReturnType<RoutineServer['newOrg']>>;

let server: RoutineServer;
let org: Org;

beforeAll(async () => {
  server = await startRoutines();
  org = await server.newOrg();
});

afterAll(() => server.stop());

const tenant = () => ({ orgId: org.id, mode: 'test' as const });

async function make(body: Record<string, unknown>) {
  const answer = await server.call('POST', '/v1/routines', {
    key: org.testKey,
    body: { ask: 'Report the open tickets.', ...body },
  });
  expect(answer.status).toBe(201);
  return answer.body;
}

const patch = (id: string, body: unknown) => server.call('PATCH', `/v1/routines/${id}`, { key: org.testKey, body });

async function refused(id: string, body: unknown) {
  const before = await server.rowOf(id);
  const answer = await patch(id, body);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await server.rowOf(id)).toEqual(before);
  const { code, param } = answer.body.error;
  return [answer.status, code, param];
}

describe('changing a routine', () => {
  it('takes every field of the create and answers the changed routine [RTN-032, RTN-040]', async () => {
    const made = await make({ every: 'weekday at 08:00' });
    const desk = await server.newDeployment(org.id);
    const conversation = await server.newConversation(tenant(), 'anna');
    const { status, body } = await patch(made.id, {
      name: 'Evening',
      ask: 'Count the orders.',
      every: 'day at 18:00',
      timezone: 'Asia/Kolkata',
      user_id: 'anna',
      conversation_id: conversation,
      deployment: desk.slug,
      enabled: true,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: made.id,
      name: 'Evening',
      ask: 'Count the orders.',
      schedule: { every: 'day at 18:00', cron: '0 18 * * *', timezone: 'Asia/Kolkata' },
      user_id: 'anna',
      conversation_id: conversation,
      next_run_at: expect.stringMatching(/T12:30:00\.000Z$/),
    });
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse(made.updated_at));
    expect((await server.rowOf(made.id)).deployment_id).toBe(desk.id);
    expect((await server.call('GET', `/v1/routines/${made.id}`, { key: org.testKey })).body).toEqual(body);
    const [, entry] = await server.auditOf(made.id);
    expect(entry).toMatchObject({ action: 'routine.updated' });
    expect(entry?.details.changed).toEqual(expect.arrayContaining(['name', 'ask', 'every', 'cron', 'timezone']));
  });

  it('goes from words to cron and back, and keeps the zone', async () => {
    const made = await make({ every: 'day at 8', timezone: 'Europe/Berlin' });
    const { body } = await patch(made.id, { schedule: { cron: '0 9 * * 1' } });
    expect(body.schedule).toEqual({ every: null, cron: '0 9 * * 1', timezone: 'Europe/Berlin' });
    expect((await patch(made.id, { every: 'hour' })).body.schedule).toEqual({
      every: 'hour',
      cron: '0 * * * *',
      timezone: 'Europe/Berlin',
    });
  });

  it('changes nothing by what is already so, and writes no audit entry', async () => {
    const made = await make({ every: 'day at 8', timezone: 'Europe/Berlin', name: 'Same' });
    for (const body of [{}, { name: 'Same', every: 'day at 8', timezone: 'Europe/Berlin', enabled: true }]) {
      expect((await patch(made.id, body)).body).toEqual(made);
    }
    expect(await server.auditOf(made.id)).toHaveLength(1);
  });

  it('steps over no run that is due', async () => {
    const made = await make({ every: 'day at 8' });
    const due = new Date(Date.now() - 60_000);
    await server.setRow(made.id, { next_run_at: due });
    const { body } = await patch(made.id, { name: 'Renamed', ask: 'Anew.', every: 'every day at 8am', enabled: true });
    expect(body.next_run_at).toBe(due.toISOString());
    expect((await patch(made.id, { every: 'day at 9' })).body.next_run_at > new Date().toISOString()).toBe(true);
  });

  it.each([
    [{ every: 'hour', on: 'call' }, 'invalid_schedule'],
    [{ every: 'whenever' }, 'schedule_unreadable'],
    [{ every: '5 minutes' }, 'schedule_too_frequent'],
    [{ schedule: { cron: '*/5 * * * *' } }, 'schedule_too_frequent'],
    [{ schedule: { cron: '0 99 * * *' } }, 'invalid_schedule'],
    [{ timezone: 'Mars/Olympus' }, 'invalid_user_timezone'],
    [{ every: 'hour', filters: {} }, 'invalid_trigger'],
    [{ deployment: 'no-such-desk' }, 'invalid_deployment'],
    [{ ask: '' }, 'invalid_request'],
    [{ user_id: null }, 'invalid_request'],
  ])('refuses %j by the rules of creation [RTN-040]', async (body, code) => {
    const made = await make({ every: 'day at 8' });
    expect((await refused(made.id, body)).slice(0, 2)).toEqual([400, code]);
  });
});

describe('pausing a routine', () => {
  it('keeps its schedule and clears its next run; resuming sets it again [RTN-009, RTN-038, RTN-039]', async () => {
    const made = await make({ every: 'hour' });
    const paused = (await patch(made.id, { enabled: false })).body;
    expect(paused).toEqual({ ...made, enabled: false, next_run_at: null, updated_at: paused.updated_at });
    const resumed = (await patch(made.id, { enabled: true })).body;
    expect(resumed).toMatchObject({ enabled: true, schedule: made.schedule });
    expect(Date.parse(resumed.next_run_at)).toBeGreaterThan(Date.now());
  });

  it('outlasts every other change [RTN-038]', async () => {
    const made = await make({ every: 'hour', enabled: false });
    for (const body of [{ name: 'Other' }, { every: 'day at 9' }, { timezone: 'Europe/Berlin' }, { user_id: 'anna' }]) {
      expect((await patch(made.id, body)).body).toMatchObject({ enabled: false, next_run_at: null });
    }
  });

  it('ends with the error that had stopped it when it is resumed [RTN-008]', async () => {
    const made = await make({ every: 'hour' });
    await server.setRow(made.id, { status: 'failed', next_run_at: null });
    const renamed = (await patch(made.id, { name: 'Still stopped', every: '2 hours' })).body;
    expect(renamed).toMatchObject({ status: 'failed', next_run_at: null });
    const resumed = (await patch(made.id, { enabled: true })).body;
    expect(resumed).toMatchObject({ status: 'active', next_run_at: expect.any(String) });
  });
});

describe('a routine that runs once', () => {
  const ended = { status: 'completed' as const, next_run_at: null };
  const passed = (every = '2020-03-01 at 09:00') => ({ every, cron: '0 9 1 3 *' });

  it('moves to another year, whose cron is the same, and to one of every year', async () => {
    const made = await make({ every: '2090-03-01 at 09:00' });
    const later = (await patch(made.id, { every: '2091-03-01 at 09:00' })).body;
    expect(later).toMatchObject({ schedule: passed('2091-03-01 at 09:00'), next_run_at: '2091-03-01T09:00:00.000Z' });
    const yearly = (await patch(made.id, { every: 'year on march 1 at 9' })).body;
    expect(Date.parse(yearly.next_run_at)).toBeLessThan(Date.now() + 367 * 86_400_000);
  });

  it('begins again with a new time, and is not resumed without one [RTN-265]', async () => {
    const made = await make({ every: '2090-03-01 at 09:00' });
    await server.setRow(made.id, { ...passed(), ...ended });
    const paused = await make({ every: '2090-03-01 at 09:00', enabled: false });
    await server.setRow(paused.id, passed());
    for (const { id } of [made, paused]) {
      expect(await refused(id, { enabled: true })).toEqual([400, 'invalid_schedule', 'every']);
      expect((await patch(id, { name: 'Other' })).body).toMatchObject({ name: 'Other', next_run_at: null });
    }
    expect((await patch(made.id, { every: '2090-03-02 at 09:00' })).body).toMatchObject({
      status: 'active',
      next_run_at: '2090-03-02T09:00:00.000Z',
    });
  });

  it('runs at once where its user’s new zone has left its time behind [RTN-265]', async () => {
    const soon = new Date(sharedNow() + 2 * 3_600_000).toISOString().slice(0, 16);
    const made = await make({ every: soon, user_id: 'mover' });
    const before = Date.now();
    await transaction(server.db, (tx) => moveRoutinesToTimezone(tx, tenant(), 'mover', 'Asia/Tokyo'));
    const { next_run_at, timezone } = await server.rowOf(made.id);
    expect([timezone, Number(next_run_at) >= before, Number(next_run_at) <= Date.now()]).toEqual([
      'Asia/Tokyo',
      true,
      true,
    ]);
  });
});

describe('the kind of a routine', () => {
  it.each([{ every: 'hour' }, { schedule: { cron: '0 8 * * *' } }, { timezone: 'Europe/Berlin' }])(
    'cannot change: refuses %j for a routine that runs on a call [RTN-036]',
    async (body) => {
      const made = await make({ on: 'call' });
      expect(await refused(made.id, body)).toEqual([400, 'not_a_schedule_routine', Object.keys(body)[0]]);
    },
  );

  it.each([{ on: 'call' }, { filters: { a: 1 } }, { filters: null }, { on: 'call', filters: { a: 1 } }])(
    'cannot change: refuses %j for a routine that runs on a schedule [RTN-049]',
    async (body) => {
      const made = await make({ every: 'hour' });
      expect(await refused(made.id, body)).toEqual([400, 'invalid_trigger', Object.keys(body)[0]]);
    },
  );

  it('allows changing and removing the filters of a routine that runs on a call [RTN-006]', async () => {
    const made = await make({ on: 'call', filters: { a: 1 } });
    expect((await patch(made.id, { on: 'call', filters: { b: [2] } })).body.trigger).toEqual({ filters: { b: [2] } });
    expect((await patch(made.id, { filters: null })).body.trigger).toEqual({ filters: null });
  });
});

describe('the user of a routine', () => {
  it('changes the zone and the conversation with the user [RTN-261]', async () => {
    await server.setUser(tenant(), 'kim', { timezone: 'Asia/Kolkata' });
    const conversation = await server.newConversation(tenant(), 'anna');
    const made = await make({ every: 'day at 8', conversation_id: conversation });
    const moved = (await patch(made.id, { user_id: 'kim' })).body;
    expect(moved).toMatchObject({ user_id: 'kim', schedule: { timezone: 'Asia/Kolkata' } });
    const rows = await rowsOf(
      server.db,
      { user_id: text(), mode: text(), deployment_id: text() },
      sql`SELECT user_id, mode, deployment_id FROM conversations WHERE id = ${moved.conversation_id}`,
    );
    expect(rows).toEqual([{ user_id: 'kim', mode: 'test', deployment_id: org.deployment.id }]);
    expect(moved.next_run_at).toMatch(/T02:30:00\.000Z$/);
  });

  it('keeps the own zone of a routine', async () => {
    await server.setUser(tenant(), 'kim', { timezone: 'Asia/Kolkata' });
    const made = await make({ every: 'day at 8', timezone: 'Europe/Berlin' });
    expect((await patch(made.id, { user_id: 'kim' })).body.schedule.timezone).toBe('Europe/Berlin');
  });

  it('must be the user of the conversation [RTN-053]', async () => {
    const conversation = await server.newConversation(tenant(), 'anna');
    const mismatch = [400, 'conversation_user_mismatch', 'conversation_id'];
    const made = await make({ every: 'hour', user_id: 'bert' });
    expect(await refused(made.id, { conversation_id: conversation })).toEqual(mismatch);
    expect(await refused(made.id, { conversation_id: conversation, user_id: 'carl' })).toEqual(mismatch);
    expect((await patch(made.id, { conversation_id: conversation, user_id: 'anna' })).status).toBe(200);
  });

  it('must not be disabled', async () => {
    await server.setUser(tenant(), 'gone', { status: 'disabled' });
    const made = await make({ every: 'hour' });
    expect((await refused(made.id, { user_id: 'gone' })).slice(0, 2)).toEqual([403, 'user_disabled']);
  });
});
