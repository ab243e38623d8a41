import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type RoutineServer, startRoutines } from './routines.fixture.ts';
import { deleteRoutinesOf } from './store.ts';

type Org = Awaited<ReturnType<RoutineServer['newOrg']>>;
type Declared = Parameters<RoutineServer['apply']>[2][number];

let server: RoutineServer;
let org: Org;

beforeAll(async () => {
  server = await startRoutines();
});

afterAll(() => server.stop());

const declare = (fields: Partial<Declared> = {}): Declared => ({
  name: 'Morning',
  ask: 'Report.',
  every: 'day at 8',
  enabled: true,
  users: [],
  ...fields,
});

/** Entries with `cron` or `on` have no `every`. */
function declareWithout({ every: _, ...rest }: Declared, fields: Partial<Declared>): Declared {
  return { ...rest, ...fields };
}

async function fresh(): Promise<DeploymentRow> {
  org = await server.newOrg();
  return org.deployment;
}

const list = async (userId?: string, key = org.testKey) =>
  (await server.call('GET', `/v1/routines${userId === undefined ? '' : `?user_id=${userId}`}`, { key })).body.data;

describe('routines of a deployment file', () => {
  it('are created in the mode that runs the version, for the org’s own agent or for each user', async () => {
    const deployment = await fresh();
    await server.apply(deployment, 'test', [
      declare(),
      declare({ name: 'For two', users: ['anna', 'bert', 'anna'] }),
      declareWithout(declare({ name: 'By cron' }), { cron: '0 9 * * 1', timezone: 'Europe/Berlin', enabled: false }),
      declareWithout(declare({ name: 'On call' }), { on: 'call', filters: { a: 1 } }),
    ]);
    const [onCall, byCron, morning] = await list();
    expect(morning).toMatchObject({
      name: 'Morning',
      conversation_id: null,
      schedule: { every: 'day at 8', cron: '0 8 * * *', timezone: 'UTC' },
      next_run_at: expect.stringMatching(/T08:00:00\.000Z$/),
    });
    expect(byCron).toMatchObject({
      schedule: { every: null, cron: '0 9 * * 1', timezone: 'Europe/Berlin' },
      enabled: false,
      next_run_at: null,
    });
    expect(onCall).toMatchObject({
      kind: 'trigger',
      schedule: null,
      trigger: { filters: { a: 1 } },
      next_run_at: null,
    });
    expect(await list('anna')).toMatchObject([{ name: 'For two', user_id: 'anna' }]);
    expect(await list('bert')).toMatchObject([{ name: 'For two', user_id: 'bert' }]);
    expect(await list(undefined, org.liveKey)).toEqual([]);
    expect(await server.rowOf(morning.id)).toMatchObject({ deployment_id: deployment.id, deployment_version: null });
  });

  it('cannot be changed, paused or deleted over the API (409) [RTN-054]', async () => {
    await server.apply(await fresh(), 'test', [declare()]);
    const [made] = await list();
    for (const [method, body] of [
      ['PATCH', { name: 'Mine' }],
      ['PATCH', { enabled: false }],
      ['PATCH', {}],
      ['DELETE', undefined],
    ] as const) {
      const path = `/v1/routines/${made.id}`;
      const answer = await server.call(method, path, { key: org.testKey, ...(body && { body }) });
      expect([method, body, answer.status, answer.body.error.code]).toEqual([method, body, 409, 'managed_by_file']);
    }
    expect(await list()).toEqual([made]);
  });

  it('keep id, conversation and counts if name and user stay the same', async () => {
    const deployment = await fresh();
    await server.apply(deployment, 'test', [declare({ users: ['anna', 'bert'] })]);
    const [before] = await list('anna');
    const conversation_id = await server.newConversation({ orgId: org.id, mode: 'test' }, 'anna');
    await server.setRow(before.id, { conversation_id, run_count: 3, last_run_at: new Date(0) });
    await server.apply(deployment, 'test', [
      declare({ ask: 'Report more.', every: 'day at 9', users: ['anna', 'carl'] }),
    ]);
    const [after] = await list('anna');
    expect(after).toMatchObject({
      id: before.id,
      // The API shows only conversations of routines that it created.
      conversation_id: null,
      run_count: 3,
      ask: 'Report more.',
      schedule: { every: 'day at 9', cron: '0 9 * * *' },
      next_run_at: expect.stringMatching(/T09:00:00\.000Z$/),
    });
    expect((await server.rowOf(after.id)).conversation_id).toBe(conversation_id);
    expect(await list('bert')).toEqual([]);
    expect(await list('carl')).toHaveLength(1);
  });

  it('can change from a schedule to a call and back', async () => {
    const deployment = await fresh();
    await server.apply(deployment, 'test', [declare()]);
    const [{ id }] = await list();
    await server.apply(deployment, 'test', [declareWithout(declare(), { on: 'call', filters: { a: 1 } })]);
    expect(await list()).toMatchObject([{ id, kind: 'trigger', schedule: null, next_run_at: null }]);
    await server.apply(deployment, 'test', [declare()]);
    expect(await list()).toMatchObject([{ id, kind: 'schedule', trigger: null, next_run_at: expect.any(String) }]);
  });

  it('stay unchanged if the declaration is unchanged, including a due run', async () => {
    const deployment = await fresh();
    await server.apply(deployment, 'test', [declare({ users: ['anna'] })]);
    const [{ id }] = await list('anna');
    await server.setRow(id, { next_run_at: new Date(Date.now() - 60_000) });
    const before = await server.rowOf(id);
    await server.apply(deployment, 'test', [declare({ users: ['anna'] })]);
    expect(await server.rowOf(id)).toEqual(before);
  });

  it('run again after an error had stopped them', async () => {
    const deployment = await fresh();
    await server.apply(deployment, 'test', [declare()]);
    const [{ id }] = await list();
    await server.setRow(id, { status: 'failed', next_run_at: null });
    await server.apply(deployment, 'test', [declare()]);
    expect(await list()).toMatchObject([{ id, status: 'active', next_run_at: expect.any(String) }]);
  });

  it('run in their own zone, else in that of the user', async () => {
    const deployment = await fresh();
    await server.setUser({ orgId: org.id, mode: 'test' }, 'kim', { timezone: 'Asia/Kolkata' });
    await server.apply(deployment, 'test', [declare({ users: ['kim', 'anna'] })]);
    expect((await list('kim'))[0].schedule.timezone).toBe('Asia/Kolkata');
    expect((await list('anna'))[0].schedule.timezone).toBe('UTC');
    await server.apply(deployment, 'test', [declare({ users: ['kim'], timezone: 'Europe/Berlin' })]);
    expect((await list('kim'))[0].schedule.timezone).toBe('Europe/Berlin');
  });

  it('do not affect the other mode, other deployments or routines of the API', async () => {
    const deployment = await fresh();
    const other = await server.newDeployment(org.id);
    const body = { ask: 'Mine.', name: 'Morning', every: 'hour', deployment: deployment.slug };
    const { body: mine } = await server.call('POST', '/v1/routines', { key: org.testKey, body });
    await server.apply(deployment, 'live', [declare()]);
    await server.apply(other, 'test', [declare()]);
    await server.apply(deployment, 'test', [declare()]);
    expect(await list()).toHaveLength(3);
    await server.apply(deployment, 'test', []);
    expect(await list()).toHaveLength(2);
    expect(await list()).toContainEqual(mine);
    expect(await list(undefined, org.liveKey)).toHaveLength(1);
  });

  it('are deleted with their deployment', async () => {
    const deployment = await fresh();
    await server.apply(deployment, 'test', [declare()]);
    await run(server.db, sql`DELETE FROM deployments WHERE id = ${deployment.id}`);
    expect(await list()).toEqual([]);
  });

  it('can be fifty entries with a hundred users each', async () => {
    const deployment = await fresh();
    const users = Array.from({ length: 100 }, (_, at) => `user-${at}`);
    const all = (ask: string) => Array.from({ length: 50 }, (_, at) => declare({ name: `Routine ${at}`, ask, users }));
    await server.apply(deployment, 'test', all('First.'));
    const [first] = await list('user-7');
    await server.apply(deployment, 'test', all('Second.'));
    const rows = await rowsOf(
      server.db,
      { count: count(), ask: text() },
      sql`SELECT count(*) AS count, min(ask) AS ask FROM routines WHERE deployment_id = ${deployment.id}`,
    );
    expect(rows).toEqual([{ count: 5000, ask: 'Second.' }]);
    expect(await list('user-7')).toContainEqual(expect.objectContaining({ id: first.id, ask: 'Second.' }));
  });
});

describe('routines of an erased user', () => {
  it('are deleted in that mode, from the file and from the API', async () => {
    const deployment = await fresh();
    for (const mode of ['test', 'live'] as const) {
      await server.apply(deployment, mode, [declare({ users: ['anna', 'bert'] })]);
    }
    const tenant = { orgId: org.id, mode: 'test' as const };
    for (let time = 0; time < 2; time++) await transaction(server.db, (tx) => deleteRoutinesOf(tx, tenant, 'anna'));
    expect(await list('anna')).toEqual([]);
    expect(await list('bert')).toHaveLength(1);
    expect(await list('anna', org.liveKey)).toHaveLength(1);
  });
});
