import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { integer, text } from '../../platform/db/table.ts';
import { publicUrl, type RoutineServer, startRoutines } from './routines.fixture.ts';

type Org = Awaited<ReturnType<RoutineServer['newOrg']>>;

let server: RoutineServer;
let org: Org;

beforeAll(async () => {
  server = await startRoutines();
  org = await server.newOrg();
});

afterAll(() => server.stop());

const call = (method: string, path: string, body?: unknown, key = org.testKey) =>
  server.call(method, path, { key, ...(body !== undefined && { body }) });
const create = (body: Record<string, unknown>, key?: string) =>
  call('POST', '/v1/routines', { ask: 'Report the open tickets.', ...body }, key);
const tenant = (mode: 'test' | 'live' = 'test') => ({ orgId: org.id, mode });

async function refused(body: Record<string, unknown>, key?: string) {
  const answer = await create(body, key);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  const { code, param, message } = answer.body.error;
  return { status: answer.status, code, param, message };
}

describe('creating a routine', () => {
  it('creates a routine from plain words (201) [RTN-001, RTN-002, RTN-004, RTN-005, RTN-011, RTN-014, RTN-028]', async () => {
    const before = Date.now();
    const { status, body } = await create({ name: 'Morning', every: 'weekday at 08:00', timezone: 'Europe/Berlin' });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'routine',
      id: expect.stringMatching(/^rtn_[0-9a-z]{24}$/),
      user_id: null,
      conversation_id: expect.stringMatching(/^conv_/),
      name: 'Morning',
      ask: 'Report the open tickets.',
      kind: 'schedule',
      schedule: { every: 'weekday at 08:00', cron: '0 8 * * 1-5', timezone: 'Europe/Berlin' },
      trigger: null,
      trigger_url: null,
      enabled: true,
      status: 'active',
      last_run_at: null,
      next_run_at: expect.any(String),
      run_count: 0,
      last_error: null,
      created_at: expect.any(String),
      updated_at: body.created_at,
    });
    const next = new Date(body.next_run_at);
    expect(next.getTime()).toBeGreaterThan(before);
    expect(next.getTime()).toBeLessThan(before + 4 * 24 * 60 * 60_000);
    const shown = next.toLocaleString('en-GB', {
      timeZone: 'Europe/Berlin',
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    });
    expect(shown).toMatch(/^(Mon|Tue|Wed|Thu|Fri) 08:00$/);
    expect((await call('GET', `/v1/routines/${body.id}`)).body).toEqual(body);
    expect(await server.auditOf(body.id)).toMatchObject([
      { action: 'routine.created', mode: 'test', details: { kind: 'schedule' } },
    ]);
  });

  it('keeps a cron schedule in five fields, with its own time zone [RTN-005, RTN-020]', async () => {
    const { body } = await create({ schedule: { cron: ' 30  6 1,15 * * ', timezone: 'Asia/Kolkata' } });
    expect(body.schedule).toEqual({ every: null, cron: '30 6 1,15 * *', timezone: 'Asia/Kolkata' });
    expect(body.next_run_at).toMatch(/T01:00:00\.000Z$/);
    const same = await create({
      schedule: { cron: '0 8 * * *', timezone: 'Asia/Kolkata' },
      timezone: 'Asia/Kolkata',
    });
    expect(same.body.schedule.timezone).toBe('Asia/Kolkata');
  });

  it('makes a routine that waits for a call, with its address [RTN-004, RTN-006, RTN-007, RTN-009, RTN-022]', async () => {
    const { body } = await create({ on: 'call' });
    expect(body).toMatchObject({
      kind: 'trigger',
      schedule: null,
      trigger: { filters: null },
      trigger_url: `${publicUrl}/v1/routines/${body.id}/trigger`,
      next_run_at: null,
    });
    const filters = { z: 1, a: { deep: [null, true] } };
    const filtered = (await create({ on: 'call', filters, timezone: 'Europe/Berlin' })).body;
    expect(filtered.trigger).toEqual({ filters });
    expect(Object.keys(filtered.trigger.filters)).toEqual(['z', 'a']);
  });

  it('takes an `ask` of 1 to 8000 characters [RTN-012]', async () => {
    expect((await create({ every: 'hour', ask: 'x'.repeat(8000) })).status).toBe(201);
    for (const ask of ['', 'x'.repeat(8001), undefined]) {
      expect(await refused({ every: 'hour', ask })).toMatchObject({
        status: 400,
        code: 'invalid_request',
        param: 'ask',
      });
    }
  });

  it('takes a `name` of 1 to 200 characters, or the start of `ask` [RTN-013]', async () => {
    expect((await create({ every: 'hour', name: 'x'.repeat(200) })).body.name).toBe('x'.repeat(200));
    expect((await create({ every: 'hour', ask: '  Count the orders.\nThen report.' })).body.name).toBe(
      'Count the orders.',
    );
    for (const name of ['', 'x'.repeat(201)]) {
      expect(await refused({ every: 'hour', name })).toMatchObject({ code: 'invalid_request', param: 'name' });
    }
  });

  it.each([
    [{}],
    [{ every: 'hour', on: 'call' }],
    [{ every: 'hour', schedule: { cron: '0 8 * * *' } }],
    [{ schedule: { cron: '0 8 * * *' }, on: 'call' }],
    [{ on: 'email' }],
    [{ every: '' }],
    [{ every: 'x'.repeat(101) }],
    [{ schedule: {} }],
    [{ schedule: { cron: 'x'.repeat(121) } }],
    [{ schedule: { cron: '0 25 * * *' } }],
    [{ schedule: { cron: '0 8 31 2 *' } }],
    [{ schedule: { cron: '0 8 * * *', timezone: 'UTC' }, timezone: 'Europe/Berlin' }],
  ])('refuses %j as `invalid_schedule` [RTN-021, RTN-048]', async (body) => {
    expect(await refused(body)).toMatchObject({ status: 400, code: 'invalid_schedule' });
  });

  it('says what of the words it did not understand [RTN-018]', async () => {
    const fault = await refused({ every: 'month on monday at 9' });
    expect(fault).toMatchObject({ status: 400, code: 'schedule_unreadable', param: 'every' });
    expect(fault.message).toContain('`month on` is understood, but `monday` is not');
  });

  it.each([
    [{ every: '10 minutes' }, 'every'],
    [{ schedule: { cron: '*/10 * * * *' } }, 'schedule.cron'],
    [{ schedule: { cron: '0,50 0,23 * * *' } }, 'schedule.cron'],
  ])('refuses %j as too frequent [RTN-019]', async (body, param) => {
    expect(await refused(body)).toMatchObject({ status: 400, code: 'schedule_too_frequent', param });
  });

  it.each(['Mars/Olympus', '+02:00', '', 'x'.repeat(65)])('refuses the time zone %j [RTN-047]', async (timezone) => {
    expect(await refused({ every: 'hour', timezone })).toMatchObject({
      status: 400,
      code: 'invalid_user_timezone',
      param: 'timezone',
    });
    expect(await refused({ schedule: { cron: '0 8 * * *', timezone } })).toMatchObject({
      code: 'invalid_user_timezone',
      param: 'schedule.timezone',
    });
  });

  it('refuses `filters` without `on: call` [RTN-049]', async () => {
    const fault = await refused({ every: 'hour', filters: {} });
    expect(fault).toMatchObject({ status: 400, code: 'invalid_trigger', param: 'filters' });
  });

  it('uses the given zone, else that of the user, else UTC [RTN-023]', async () => {
    await server.setUser(tenant(), 'anna', { timezone: 'America/New_York' });
    const zoneOf = async (body: Record<string, unknown>) =>
      (await create({ every: 'day at 8', ...body })).body.schedule.timezone;
    expect(await zoneOf({ user_id: 'anna' })).toBe('America/New_York');
    expect(await zoneOf({ user_id: 'anna', timezone: 'Europe/Berlin' })).toBe('Europe/Berlin');
    expect(await zoneOf({ user_id: 'bert' })).toBe('UTC');
    expect(await zoneOf({})).toBe('UTC');
  });

  it('creates one routine for one Idempotency-Key', async () => {
    const send = () =>
      server.call('POST', '/v1/routines', {
        key: org.testKey,
        body: { ask: 'Once.', every: 'hour', user_id: 'once' },
        headers: { 'idempotency-key': 'the-same' },
      });
    const answers = await Promise.all([send(), send(), send()]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await call('GET', '/v1/routines?user_id=once')).body.data).toHaveLength(1);
  });

  it('can start paused [RTN-009, RTN-038]', async () => {
    const { body } = await create({ every: 'hour', enabled: false });
    expect(body).toMatchObject({ enabled: false, status: 'active', next_run_at: null });
  });

  it('refuses a disabled user', async () => {
    await server.setUser(tenant(), 'gone', { status: 'disabled' });
    expect(await refused({ every: 'hour', user_id: 'gone' })).toMatchObject({ status: 403, code: 'user_disabled' });
  });
});

describe('the deployment of a routine', () => {
  it('is given by id, slug or name, optionally with a version, and stored by id [RTN-027]', async () => {
    const desk = await server.newDeployment(org.id, 'night-desk');
    for (const [deployment, version] of [
      [desk.id, null],
      ['night-desk', null],
      ['night-desk@1', 1],
    ] as const) {
      const { body } = await create({ every: 'hour', deployment });
      expect(await server.rowOf(body.id)).toMatchObject({ deployment_id: desk.id, deployment_version: version });
    }
  });

  it('is resolved at each run if none is named', async () => {
    const { body } = await create({ every: 'hour' });
    expect(await server.rowOf(body.id)).toMatchObject({ deployment_id: null, deployment_version: null });
  });

  it('is required if neither the user nor the org has a default [RTN-027]', async () => {
    const bare = await server.newOrg({ default_deployment: null });
    const asked = { every: 'hour', user_id: 'anna' };
    expect(await refused(asked, bare.testKey)).toMatchObject({
      status: 400,
      code: 'deployment_required',
      param: 'deployment',
    });
    expect((await refused({ every: 'hour' }, bare.testKey)).code).toBe('deployment_required');
    await server.setUser({ orgId: bare.id, mode: 'test' }, 'anna', { default_deployment: bare.deployment.id });
    expect((await create(asked, bare.testKey)).status).toBe(201);
    expect((await create({ every: 'hour', deployment: bare.deployment.slug }, bare.testKey)).status).toBe(201);
  });

  it('must exist in the org and not be archived', async () => {
    const other = await server.newOrg();
    for (const deployment of ['no-such-desk', other.deployment.id, `${org.deployment.slug}@9`]) {
      expect(await refused({ every: 'hour', deployment })).toMatchObject({
        status: 400,
        code: 'invalid_deployment',
        param: 'deployment',
      });
    }
    const old = await server.newDeployment(org.id);
    await run(server.db, sql`UPDATE deployments SET status = 'archived' WHERE id = ${old.id}`);
    expect(await refused({ every: 'hour', deployment: old.id })).toMatchObject({
      status: 409,
      code: 'deployment_archived',
    });
  });

  it('must have a live version in live mode', async () => {
    const { slug } = org.deployment;
    for (const deployment of [undefined, slug, `${slug}@1`]) {
      const body = { every: 'hour', ...(deployment && { deployment }) };
      expect(await refused(body, org.liveKey)).toMatchObject({ status: 409, code: 'deployment_not_live' });
    }
  });

  it('deletes its routines with it', async () => {
    const desk = await server.newDeployment(org.id);
    const { body } = await create({ every: 'hour', deployment: desk.id });
    await run(server.db, sql`DELETE FROM deployments WHERE id = ${desk.id}`);
    expect((await call('GET', `/v1/routines/${body.id}`)).status).toBe(404);
  });
});

describe('the conversation of a routine', () => {
  it('is created with the routine, for its user and deployment [RTN-261]', async () => {
    const desk = await server.newDeployment(org.id);
    for (const body of [{ every: 'hour' }, { on: 'call' }]) {
      const made = (await create({ ...body, user_id: 'anna', deployment: desk.slug })).body;
      const rows = await rowsOf(
        server.db,
        { user_id: text(), mode: text(), deployment_id: text(), pinned_version: integer().nullable() },
        sql`SELECT user_id, mode, deployment_id, pinned_version FROM conversations WHERE id = ${made.conversation_id}`,
      );
      expect(rows).toEqual([{ user_id: 'anna', mode: 'test', deployment_id: desk.id, pinned_version: null }]);
    }
  });

  it('is not created if the routine is refused [RTN-261]', async () => {
    const other = await server.newOrg();
    await refused({ every: '2020-01-01 at 9' }, other.testKey);
    await refused({ every: 'hour', conversation_id: newId('conv') }, other.testKey);
    expect(await run(server.db, sql`SELECT FROM conversations WHERE org_id = ${other.id}`)).toBe(0);
  });

  it('determines the user, who need not be named', async () => {
    const conversation = await server.newConversation(tenant(), 'anna');
    const { body } = await create({ every: 'hour', user_id: 'anna', conversation_id: conversation });
    expect(body).toMatchObject({ user_id: 'anna', conversation_id: conversation });
    expect((await create({ every: 'hour', conversation_id: conversation })).body.user_id).toBe('anna');
    const own = await server.newConversation(tenant(), null);
    expect((await create({ every: 'hour', conversation_id: own })).body).toMatchObject({
      user_id: null,
      conversation_id: own,
    });
  });

  it('is refused if it belongs to another user [RTN-053]', async () => {
    const mismatch = { status: 400, code: 'conversation_user_mismatch', param: 'conversation_id' };
    const conversation = await server.newConversation(tenant(), 'anna');
    expect(await refused({ every: 'hour', user_id: 'bert', conversation_id: conversation })).toMatchObject(mismatch);
    const own = await server.newConversation(tenant(), null);
    expect(await refused({ every: 'hour', user_id: 'bert', conversation_id: own })).toMatchObject(mismatch);
  });

  it('is refused if it is unknown, malformed or of the other mode', async () => {
    const live = await server.newConversation(tenant('live'), 'anna');
    for (const conversation_id of [newId('conv'), live]) {
      expect(await refused({ every: 'hour', conversation_id })).toMatchObject({
        status: 404,
        code: 'conversation_not_found',
      });
    }
    expect(await refused({ every: 'hour', conversation_id: 'conv_x' })).toMatchObject({
      status: 400,
      code: 'invalid_conversation_id',
    });
  });

  it('can be deleted without the routine [RTN-003]', async () => {
    const conversation = await server.newConversation(tenant(), 'anna');
    const { body } = await create({ every: 'hour', conversation_id: conversation });
    await run(server.db, sql`DELETE FROM conversations WHERE id = ${conversation}`);
    expect((await call('GET', `/v1/routines/${body.id}`)).body.conversation_id).toBeNull();
  });
});

describe('reading routines', () => {
  it('lists routines of one user or of the org’s own agent, newest first, in pages [RTN-030]', async () => {
    const own = await server.newOrg();
    const made: Record<string, string[]> = { anna: [], none: [] };
    for (let at = 0; at < 5; at++) {
      for (const user of ['anna', 'none']) {
        const { body } = await create({ every: 'hour', ...(user === 'anna' && { user_id: user }) }, own.testKey);
        made[user]?.unshift(body.id);
      }
    }
    for (const user of ['anna', 'none']) {
      const seen: string[] = [];
      let cursor = '';
      do {
        const filter = user === 'anna' ? '&user_id=anna' : '';
        const { body } = await call('GET', `/v1/routines?limit=2${filter}${cursor}`, undefined, own.testKey);
        seen.push(...body.data.map(({ id }: { id: string }) => id));
        cursor = body.next_cursor && `&cursor=${body.next_cursor}`;
      } while (cursor);
      expect(seen).toEqual(made[user]);
    }
    expect((await call('GET', '/v1/routines?user_id=bert', undefined, own.testKey)).body.data).toEqual([]);
  });

  it('requires a user if the org does', async () => {
    const strict = await server.newOrg({ require_user: true });
    const required = { status: 400, code: 'user_required', param: 'user_id' };
    expect(await refused({ every: 'hour' }, strict.testKey)).toMatchObject(required);
    const listed = await call('GET', '/v1/routines', undefined, strict.testKey);
    expect({ status: listed.status, ...listed.body.error }).toMatchObject(required);
    expect((await create({ every: 'hour', user_id: 'anna' }, strict.testKey)).status).toBe(201);
    expect((await call('GET', '/v1/routines?user_id=anna', undefined, strict.testKey)).body.data).toHaveLength(1);
  });

  it('answers 404 in every route for an unknown routine and for one of another org or mode [RTN-031, RTN-055]', async () => {
    const { body: made } = await create({ every: 'hour' });
    expect((await call('GET', `/v1/routines/${made.id}`)).body).toEqual(made);
    const other = await server.newOrg();
    for (const [id, key] of [
      [newId('rtn'), org.testKey],
      ['rtn_x', org.testKey],
      [made.id, org.liveKey],
      [made.id, other.testKey],
    ] as const) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const { status, body } = await call(method, `/v1/routines/${id}`, method === 'PATCH' ? {} : undefined, key);
        expect([method, id, status, body.error.code]).toEqual([method, id, 404, 'routine_not_found']);
      }
    }
    expect((await call('GET', '/v1/routines', undefined, org.liveKey)).body.data).not.toContainEqual(made);
  });
});

describe('a routine that runs once', () => {
  it('shows its date and its next run, whatever words named it [RTN-262]', async () => {
    await server.setUser(tenant(), 'tokyo', { timezone: 'Asia/Tokyo' });
    const { status, body } = await create({ every: 'on 1 March 2090 at 9am', user_id: 'tokyo' });
    expect(status).toBe(201);
    expect(body.schedule).toEqual({ every: '2090-03-01 at 09:00', cron: '0 9 1 3 *', timezone: 'Asia/Tokyo' });
    expect(body.next_run_at).toBe('2090-03-01T00:00:00.000Z');
    const [date] = new Date(Date.now() + 9 * 3_600_000 + 86_400_000).toISOString().split('T');
    const tomorrow = (await create({ every: 'tomorrow at 9', user_id: 'tokyo' })).body;
    // Tokyo has no daylight saving time.
    expect([tomorrow.schedule.every, tomorrow.next_run_at]).toEqual([`${date} at 09:00`, `${date}T00:00:00.000Z`]);
  });

  it('is refused if its time has passed [RTN-263]', async () => {
    const past = await refused({ every: '2020-12-01 at 09:00', timezone: 'Europe/Berlin' });
    expect(past).toMatchObject({ status: 400, code: 'invalid_schedule', param: 'every' });
    expect(past.message).toContain('has passed: in Europe/Berlin it is 20');
  });
});

describe('deleting a routine', () => {
  it('deletes the routine and keeps its conversation [RTN-041]', async () => {
    const conversation = await server.newConversation(tenant(), 'anna');
    const { body: made } = await create({ every: 'hour', conversation_id: conversation });
    expect((await call('DELETE', `/v1/routines/${made.id}`)).body).toEqual({
      object: 'routine',
      id: made.id,
      deleted: true,
    });
    expect((await call('GET', `/v1/routines/${made.id}`)).status).toBe(404);
    expect((await call('DELETE', `/v1/routines/${made.id}`)).status).toBe(404);
    expect(await server.rowOf(made.id)).toBeUndefined();
    expect(await run(server.db, sql`SELECT FROM conversations WHERE id = ${conversation}`)).toBe(1);
    const actions = (await server.auditOf(made.id)).map(({ action }) => action);
    expect(actions).toEqual(['routine.created', 'routine.deleted']);
  });
});
