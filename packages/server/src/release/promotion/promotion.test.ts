import type { Mode } from '@vestra/contract/route';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type Org, rowsOf, startApply } from '../apply.fixture.ts';
import { promoteAfterTests } from './promote.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;

beforeAll(async () => {
  server = await startApply();
  org = await server.newOrg();
  await org.put({ name: 'default' }, { promote: 'now' });
});

afterAll(() => server.stop());

const test = { name: 'Greets', ask: 'Hello?', expect: 'It greets.' };
const version = (name: string, number: number, more: object = {}) => ({ name, instructions: `${number}.`, ...more });
const put = (name: string, number: number, mode: Mode, promote: string, more: object = {}) =>
  org.put(version(name, number, more), { mode, promote });
const promote = (name: string, mode: Mode, body: object = {}) =>
  org.call('POST', `/v1/deployments/${name}/promote`, { mode, body });
const rollback = (name: string, mode: Mode = 'live') => org.call('POST', `/v1/deployments/${name}/rollback`, { mode });
const pointers = async (name: string) => {
  const { body } = await org.call('GET', `/v1/deployments/${name}`);
  return [body.draft_version, body.live_version];
};
/** Reports a passed run as its owner does. */
const passed = (run: { id: string; deployment_id: string; version: number; mode: Mode }) =>
  transaction(server.db, (tx) => promoteAfterTests(tx, server.dependencies, { orgId: org.id, run }));
const endRun = (id: string, status: string) =>
  run(
    server.db,
    sql`UPDATE test_runs SET status = ${status}, started_at = now(), finished_at = now() WHERE id = ${id}`,
  );

describe('apply promotes in the mode of its key', () => {
  it('at once with `now`, tests or not [VER-019, VER-021]', async () => {
    const first = await put('now', 1, 'live', 'now', { tests: [test] });
    expect(first.body).toMatchObject({ promoted: true, test_run: null, draft_version: 1, live_version: 1 });
    expect(first.body.version).toMatchObject({ is_draft: true, is_live: true });
    const second = await put('now', 2, 'test', 'now', { tests: [test] });
    expect(second.body).toMatchObject({ promoted: true, test_run: null, draft_version: 2, live_version: 1 });
  });

  it('not at all with `no`', async () => {
    await put('no', 1, 'live', 'now');
    expect((await put('no', 2, 'live', 'no')).body).toMatchObject({
      promoted: false,
      draft_version: 2,
      live_version: 1,
    });
  });

  it('at once with `after_tests` if the file has no tests [APPLY-025]', async () => {
    expect((await put('untested', 1, 'live', '')).body).toMatchObject({
      promoted: true,
      live_version: 1,
      test_run: null,
    });
    expect((await put('untested', 2, 'test', '')).body).toMatchObject({
      promoted: true,
      draft_version: 2,
      live_version: 1,
    });
  });

  it('only when they pass where it has some [APPLY-024, VER-017, VER-018]', async () => {
    const { body } = await put('tested', 1, 'live', 'after_tests', { tests: [test] });
    expect(body).toMatchObject({
      promoted: false,
      draft_version: 1,
      live_version: null,
      test_run: {
        object: 'test_run',
        version: 1,
        mode: 'live',
        status: 'queued',
        promote_on_pass: true,
        counts: { total: 1 },
      },
      version: { tests: { run_id: body.test_run.id, status: 'queued' } },
    });
    expect(await pointers('tested')).toEqual([1, null]);
    expect(await passed(body.test_run)).toEqual({ promoted: true });
    expect(await pointers('tested')).toEqual([1, 1]);
    expect(await passed(body.test_run)).toEqual({ promoted: false, reason: 'superseded' });
  });

  it('with a test key the draft is there already, and the run only reports [VER-026]', async () => {
    const { body } = await put('reports', 1, 'test', '', { tests: [test] });
    expect(body).toMatchObject({
      promoted: false,
      draft_version: 1,
      test_run: { mode: 'test', promote_on_pass: true },
    });
    const before = (await org.events()).length;
    expect(await passed(body.test_run)).toEqual({ promoted: true });
    expect(await pointers('reports')).toEqual([1, null]);
    expect(await org.events()).toHaveLength(before);
  });

  it('an unchanged file still promotes the newest version [VER-029]', async () => {
    await put('later', 1, 'test', 'no');
    expect((await put('later', 1, 'live', 'no')).body).toMatchObject({
      changed: [],
      promoted: false,
      live_version: null,
    });
    expect((await put('later', 1, 'live', 'now')).body).toMatchObject({ changed: [], promoted: true, live_version: 1 });
    expect((await put('later', 1, 'live', 'now')).body).toMatchObject({ changed: [], promoted: true, live_version: 1 });
    expect((await rollback('later')).body.error.code).toBe('nothing_to_roll_back');
  });

  it('an unchanged file goes to its tests in the mode that does not run it yet, once, unless they failed [TRUN-703]', async () => {
    await put('twice', 1, 'test', '', { tests: [test] });
    const first = await put('twice', 1, 'live', '', { tests: [test] });
    const second = await put('twice', 1, 'live', '', { tests: [test] });
    expect(first.body).toMatchObject({ changed: [], promoted: false, test_run: { mode: 'live', status: 'queued' } });
    expect(second.body.test_run.id).toBe(first.body.test_run.id);
    await endRun(first.body.test_run.id, 'failed');
    const red = await put('twice', 1, 'live', '', { tests: [test] });
    expect(red.body).toMatchObject({ promoted: false, test_run: { id: first.body.test_run.id, status: 'failed' } });
    // Bad luck is no verdict.
    await endRun(first.body.test_run.id, 'error');
    const third = await put('twice', 1, 'live', '', { tests: [test] });
    expect(third.body.test_run.id).not.toBe(first.body.test_run.id);
    expect(await passed(third.body.test_run)).toEqual({ promoted: true });
    await endRun(third.body.test_run.id, 'passed');
    expect((await put('twice', 1, 'live', '', { tests: [test] })).body).toMatchObject({
      promoted: true,
      test_run: null,
    });
  });
});

describe('a run that was to promote is overtaken', () => {
  const started = async (name: string, number: number, mode: Mode = 'live') =>
    (await put(name, number, mode, '', { tests: [test] })).body.test_run;

  it.each<[what: string, overtake: (name: string) => Promise<unknown>, live: number | null]>([
    ['a newer apply that goes to its tests', (name) => put(name, 2, 'live', '', { tests: [test] }), null],
    ['a newer apply that goes live', (name) => put(name, 2, 'live', 'now', { tests: [test] }), 2],
    ['a newer apply that is only saved', (name) => put(name, 2, 'live', 'no', { tests: [test] }), null],
    ['a promotion', (name) => promote(name, 'live', { version: 1, when: 'now' }), 1],
  ])('by %s', async (_what, overtake, live) => {
    const name = `overtaken-${Math.random().toString(36).slice(2, 8)}`;
    const run = await started(name, 1);
    await overtake(name);
    expect(await passed(run)).toEqual({ promoted: false, reason: 'superseded' });
    expect((await pointers(name))[1]).toBe(live);
  });

  it('by a rollback', async () => {
    for (const number of [1, 2]) await put('rolled', number, 'live', 'now', { tests: [test] });
    const run = await started('rolled', 3);
    await rollback('rolled');
    expect(await passed(run)).toEqual({ promoted: false, reason: 'superseded' });
    expect(await pointers('rolled')).toEqual([3, 1]);
  });

  it('and not by changes in the other mode', async () => {
    const run = await started('apart', 1);
    await put('apart', 2, 'test', '', { tests: [test] });
    await promote('apart', 'test', { version: 1, when: 'now' });
    expect(await passed(run)).toEqual({ promoted: true });
    expect(await pointers('apart')).toEqual([1, 1]);
  });

  it('promotes nothing that is archived or deleted or lacks a secret', async () => {
    const archived = await started('archived', 1);
    await org.call('POST', '/v1/deployments/archived/archive');
    expect(await passed(archived)).toEqual({ promoted: false, reason: 'deployment_archived' });
    const deleted = await started('deleted', 1);
    await org.call('DELETE', '/v1/deployments/deleted');
    expect(await passed(deleted)).toEqual({ promoted: false, reason: 'deployment_not_found' });
    await org.storeSecret('GONE', 'live');
    const more = { tests: [test], computer: { env: { A: '${GONE}' } } };
    const { body } = await put('secret', 1, 'live', '', more);
    await run(server.db, sql`DELETE FROM secrets WHERE org_id = ${org.id} AND name = 'GONE'`);
    expect(await passed(body.test_run)).toEqual({ promoted: false, reason: 'secret_missing' });
    expect(await pointers('secret')).toEqual([1, null]);
  });

  it('a run that passes while a newer file is applied promotes before it or not at all', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `tight-${round}`;
      const run = await started(name, 1);
      const [outcome] = await Promise.all([passed(run), put(name, 2, 'live', 'now')]);
      expect(outcome.promoted || outcome.reason === 'superseded').toBe(true);
      expect(await pointers(name)).toEqual([2, 2]);
    }
  });
});

describe('promoting a version', () => {
  it('promotes the newest version, or the named one, also an older one [VER-009, VER-010, VER-011, VER-022]', async () => {
    for (const number of [1, 2, 3]) await put('named', number, 'test', 'no');
    const newest = await promote('named', 'live');
    expect(newest.body).toMatchObject({
      promoted: true,
      became_default: false,
      test_run: null,
      live_version: 3,
      version: { version: 3, is_live: true },
      webhook_secrets: [],
    });
    expect((await promote('named', 'live', { version: 1 })).body).toMatchObject({ live_version: 1, draft_version: 3 });
    expect((await promote('named', 'test', { version: 2 })).body).toMatchObject({
      draft_version: 2,
      live_version: 1,
      version: { version: 2, is_draft: true },
    });
  });

  it('waits for tests with `when: after_tests`, and promotes at once without any [VER-012]', async () => {
    await put('when', 1, 'test', 'no');
    const atOnce = await promote('when', 'live', { when: 'after_tests' });
    expect(atOnce.body).toMatchObject({ promoted: true, live_version: 1 });
    await put('when', 2, 'test', 'no');
    const byHand = { name: 'By hand', persona: 'Anybody.', goal: 'Hello?', success_criteria: ['It greets.'] };
    await org.call('POST', '/v1/deployments/when/scenarios', { body: byHand });
    const { body: waiting } = await promote('when', 'live', { when: 'after_tests' });
    expect(waiting).toMatchObject({
      promoted: false,
      live_version: 1,
      test_run: { version: 2, promote_on_pass: true },
    });
    expect(await passed(waiting.test_run)).toEqual({ promoted: true });
    expect(await pointers('when')).toEqual([2, 2]);
  });

  it('refuses unknown versions and archived deployments [VER-034, DEP-029]', async () => {
    await put('refused', 1, 'test', 'no');
    expect(await promote('refused', 'live', { version: 2 })).toMatchObject({
      status: 404,
      body: { error: { code: 'version_not_found', param: 'version' } },
    });
    expect((await promote('nobody', 'live')).body.error.code).toBe('deployment_not_found');
    await org.call('POST', '/v1/deployments/refused/archive');
    expect((await promote('refused', 'live')).body.error.code).toBe('deployment_archived');
  });

  it('promotes once for one Idempotency-Key, and repeats the secrets', async () => {
    await put('keyed', 1, 'test', 'no', { webhooks: [{ url: 'https://hooks.example.com/keyed', events: '*' }] });
    const headers = { 'idempotency-key': 'promote-keyed' };
    const once = () => org.call('POST', '/v1/deployments/keyed/promote', { mode: 'live', headers });
    const [first, second] = [await once(), await once()];
    expect(second.text).toBe(first.text);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(first.body.webhook_secrets).toEqual([
      {
        endpoint_id: expect.stringMatching(/^whk_/),
        url: 'https://hooks.example.com/keyed',
        mode: 'live',
        secret: expect.stringMatching(/^whsec_/),
      },
    ]);
  });

  it('races an apply: the pointers name versions that were asked for, and the stack has each once', async () => {
    for (let round = 0; round < 4; round++) {
      const name = `raced-${round}`;
      await put(name, 1, 'live', 'now');
      await put(name, 2, 'test', 'no');
      const answers = await Promise.all([put(name, 3, 'live', 'now'), promote(name, 'live', { version: 2 })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const [draft, live] = await pointers(name);
      expect(draft).toBe(3);
      const back = [live, (await rollback(name)).body.live_version, (await rollback(name)).body.live_version];
      expect([...back].sort()).toEqual([1, 2, 3]);
      expect(back[2]).toBe(1);
    }
  });

  it('promotes a version with a function name that was reserved later [VER-037]', async () => {
    const tools = [{ function: 'find_order', description: 'Find an order.' }];
    await put('reserved', 1, 'test', 'no', { tools });
    await run(
      server.db,
      sql`UPDATE deployment_versions SET manifest = replace(manifest::text, 'find_order', 'finish')::json
        WHERE org_id = ${org.id} AND manifest::text LIKE '%find_order%'`,
    );
    const { body } = await promote('reserved', 'live');
    expect(body).toMatchObject({ live_version: 1, version: { manifest: { tools: [{ function: 'finish' }] } } });
    const again = await put('reserved', 1, 'test', 'no', { tools: [{ ...tools[0], function: 'finish' }] });
    expect(again.body.error.code).toBe('tool_name_reserved');
  });

  it('requires the secrets of live mode [VER-041]', async () => {
    await org.storeSecret('ENV');
    await org.storeSecret('TOKEN');
    await org.storeSecret('CRM');
    const more = {
      tools: [{ mcp: 'https://secrets.example.com/mcp', auth: '${CRM}', headers: { A: '${user_secret:MINE}' } }],
      computer: { env: { A: '${ENV}' }, repos: [{ url: 'github.com/a/b', token: '${TOKEN}' }] },
    };
    await put('secrets', 1, 'test', 'now', more);
    for (const when of ['now', 'after_tests']) {
      expect(await promote('secrets', 'live', { when })).toMatchObject({
        status: 400,
        body: { error: { code: 'secret_missing', names: ['CRM', 'ENV', 'TOKEN'] } },
      });
    }
    for (const name of ['CRM', 'ENV', 'TOKEN']) await org.storeSecret(name, 'live');
    expect((await promote('secrets', 'live')).body.live_version).toBe(1);
  });
});

describe('rolling back', () => {
  it('goes back one promotion at a time, until there is none [VER-013, VER-024, VER-031, VER-032]', async () => {
    for (const number of [1, 2, 3]) await put('back', number, 'live', 'now');
    const { body, status } = await rollback('back');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'deployment', draft_version: 3, live_version: 2, webhook_secrets: [] });
    expect((await rollback('back')).body.live_version).toBe(1);
    expect(await rollback('back')).toMatchObject({ status: 409, body: { error: { code: 'nothing_to_roll_back' } } });
  });

  it('requires a live key in any case [VER-030]', async () => {
    for (const name of ['back', 'nobody']) {
      expect(await rollback(name, 'test')).toMatchObject({
        status: 403,
        body: { error: { code: 'live_key_required' } },
      });
    }
    expect((await rollback('nobody')).body.error.code).toBe('deployment_not_found');
  });

  it('is refused if the deployment is archived or a secret of the previous version is missing', async () => {
    await org.storeSecret('OLD', 'live');
    await put('older', 1, 'live', 'now', { computer: { env: { A: '${OLD}' } } });
    await put('older', 2, 'live', 'now');
    await run(server.db, sql`DELETE FROM secrets WHERE org_id = ${org.id} AND name = 'OLD'`);
    expect((await rollback('older')).body.error).toMatchObject({ code: 'secret_missing', names: ['OLD'] });
    expect(await pointers('older')).toEqual([2, 2]);
    await org.call('POST', '/v1/deployments/older/archive', { mode: 'live' });
    expect((await rollback('older')).body.error.code).toBe('deployment_archived');
  });
});

describe('the org’s default', () => {
  const defaultsOf = async (orgId: string) => {
    const rows = await rowsOf<{ mode: string; default_deployment: string | null }>(
      server.db,
      sql`SELECT mode, default_deployment FROM org_settings WHERE org_id = ${orgId}`,
    );
    return Object.fromEntries(rows.map((row) => [row.mode, row.default_deployment]));
  };

  it('is the first promoted deployment, in either mode [VER-023, VER-033, TEN-205]', async () => {
    for (const mode of ['test', 'live'] as const) {
      const lone = await server.newOrg();
      const saved = await lone.put({ name: 'saved' }, { mode, promote: 'no' });
      expect(saved.body.became_default).toBe(false);
      const first = await lone.put({ name: 'first' }, { mode, promote: 'now' });
      expect(first.body).toMatchObject({ promoted: true, became_default: true });
      const second = await lone.put({ name: 'second' }, { mode, promote: 'now' });
      expect(second.body.became_default).toBe(false);
      expect(await defaultsOf(lone.id)).toEqual({ test: first.body.id, live: mode === 'live' ? first.body.id : null });
    }
    const lone = await server.newOrg();
    const tried = await lone.put({ name: 'tried' }, { mode: 'test', promote: 'now' });
    const real = await lone.put({ name: 'real' }, { mode: 'live', promote: 'now' });
    expect(real.body.became_default).toBe(true);
    expect(await defaultsOf(lone.id)).toEqual({ test: tried.body.id, live: real.body.id });
  });

  it('is one of several that are first promoted concurrently', async () => {
    const lone = await server.newOrg();
    const names = ['a', 'b', 'c', 'd'];
    const answers = await Promise.all(names.map((name) => lone.put({ name }, { mode: 'live', promote: 'now' })));
    expect(answers.filter(({ body }) => body.became_default)).toHaveLength(1);
  });
});

it('emits an event for each promotion and rollback in its mode, and none if nothing moved [VER-040]', async () => {
  const lone = await server.newOrg();
  await lone.put({ name: 'told' }, { mode: 'live', promote: 'now' });
  await lone.put({ name: 'told' }, { mode: 'live', promote: 'now' });
  await lone.put({ name: 'told', instructions: 'Two.' }, { promote: 'no' });
  await lone.put({ name: 'told', instructions: 'Three.' }, { promote: 'now' });
  await lone.call('POST', '/v1/deployments/told/promote', { body: { version: 2 } });
  await lone.call('POST', '/v1/deployments/told/promote', { mode: 'live' });
  await lone.call('POST', '/v1/deployments/told/rollback', { mode: 'live' });
  const told = (await lone.events()).filter(({ type }) => type.startsWith('deployment.'));
  expect(told.map(({ type, mode, data }) => [type, mode, data.version])).toEqual([
    ['deployment.promoted', 'live', 1],
    ['deployment.promoted', 'test', 3],
    ['deployment.promoted', 'test', 2],
    ['deployment.promoted', 'live', 3],
    ['deployment.rolled_back', 'live', 1],
  ]);
  expect(told[0]?.data).toMatchObject({ object: 'deployment', slug: 'told', became_default: true });
  expect(told[4]?.data).toMatchObject({ live_version: 1, previous_version: 3 });
  expect((await lone.audit()).filter((action) => action !== 'deployment.applied')).toEqual([
    'deployment.created',
    'deployment.promoted',
    'deployment.promoted',
    'deployment.promoted',
    'deployment.promoted',
    'deployment.rolled_back',
  ]);
});
