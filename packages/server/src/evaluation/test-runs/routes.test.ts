import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countWhere, rowsWhere } from '../../../../../tests/support/rows.ts';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import { moveDraft } from '../../agents/versions/versions.ts';
import { rowsOf, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { jsonb, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { functionTool, scenarioOf, startScenarios } from '../scenarios/scenarios.fixture.ts';
import { type ResultRow, type TestRun, type TestRunRow, testRunResults, testRuns } from '../tables.ts';

type Server = Awaited<ReturnType<typeof startScenarios>>;

let server: Server;
let org: Awaited<ReturnType<Server['newOrg']>>;
let deployment: DeploymentRow;

beforeAll(async () => {
  server = await startScenarios();
  org = await server.newOrg();
});
afterAll(() => server.stop());
beforeEach(async () => {
  deployment = await server.newDeployment(org.id, { tools: [functionTool('find_order')] });
});

const call = (method: string, path: string, body?: unknown, key = org.testKey) =>
  server.call(method, path, { key, ...(body !== undefined && { body }) });
const runsPath = (of = deployment.id) => `/v1/deployments/${of}/test-runs`;
const addScenario = async (fields: Parameters<typeof scenarioOf>[0] = {}) =>
  (await call('POST', `/v1/deployments/${deployment.id}/scenarios`, scenarioOf(fields))).body;
const create = async (key = org.testKey) => {
  const answer = await call('POST', runsPath(), undefined, key);
  if (answer.status !== 202) throw new Error(answer.text);
  return answer.body;
};
const get = async (id: string) => (await call('GET', `/v1/test-runs/${id}`)).body;

/** Writes a result as the player does. */
const setResult = (runId: string, scenarioId: string, values: Partial<ResultRow>) =>
  update(server.db, testRunResults, values, sql`run_id = ${runId} AND scenario_id = ${scenarioId}`);
const setRun = (runId: string, values: Partial<TestRunRow>) => update(server.db, testRuns, values, sql`id = ${runId}`);
const eventsOf = (runId: string) =>
  rowsOf(
    server.db,
    { type: text(), mode: text(), deployment_id: text().nullable(), data: jsonb() },
    sql`SELECT type, mode, deployment_id, data FROM events WHERE org_id = ${org.id} AND data ->> 'id' = ${runId}`,
  );

const queuedResult = ({ id, name }: { id: string; name: string }) => ({
  scenario_id: id,
  name,
  status: 'queued',
  criteria: [],
  must_never: [],
  conversation_id: null,
  transcript: [],
  duration_ms: 0,
  cost_usd: 0,
  error_code: null,
  error_message: null,
  runs: { total: 1, passed: 0, failed: 0, error: 0 },
  flaky: false,
  judged_by: null,
});

describe('creating', () => {
  it('creates a queued run of every scenario (202) [TRUN-017, TRUN-020, TRUN-024]', async () => {
    const first = await addScenario({ name: 'First' });
    const second = await addScenario({ name: 'Second' });
    await server.applyTests(deployment, [scenarioOf({ name: 'From the file' })]);
    const { body: all } = await call('GET', `/v1/deployments/${deployment.id}/scenarios`);
    const { status, body } = await call('POST', runsPath(deployment.slug));
    expect(status).toBe(202);
    expect(body).toEqual({
      object: 'test_run',
      id: expect.stringMatching(/^trun_[0-9a-z]{24}$/),
      deployment_id: deployment.id,
      version: 1,
      mode: 'test',
      status: 'queued',
      promote_on_pass: false,
      promoted: null,
      counts: { total: 3, queued: 3, running: 0, passed: 0, failed: 0, error: 0 },
      results: [first, second, all.data[0]].map(queuedResult),
      resumes: 0,
      error_code: null,
      note: null,
      cost_usd: 0,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      started_at: null,
      finished_at: null,
    });
    expect(await get(body.id)).toEqual(body);
    const [entry] = (await server.auditOf(org.id, 'test_run.created')).slice(-1);
    expect(entry).toMatchObject({
      actor_type: 'key',
      target_type: 'test_run',
      target_id: body.id,
      details: { deployment_id: deployment.id, version: 1, promote_on_pass: false, scenarios: 3 },
    });
  });

  it('uses the newest version, also if it is not the draft, and the mode of the key', async () => {
    await addScenario();
    await server.saveVersion(deployment);
    await server.saveVersion(deployment);
    await transaction(server.db, (tx) => moveDraft(tx, { deployment, version: 2 }));
    expect(await create()).toMatchObject({ version: 3, mode: 'test' });
    expect(await create(org.liveKey)).toMatchObject({ version: 3, mode: 'live' });
  });

  it('copies the scenarios, so later changes do not matter', async () => {
    const scenario = await addScenario({ tool_results: { find_order: { z: null, a: 1 } }, approves: true });
    const run = await create();
    const path = `/v1/deployments/${deployment.id}/scenarios/${scenario.id}`;
    expect((await call('PATCH', path, { name: 'Other', success_criteria: ['Other.'] })).status).toBe(200);
    expect((await call('DELETE', path)).status).toBe(200);
    await addScenario({ name: 'Later' });
    expect(await get(run.id)).toEqual(run);
    const [row] = await rowsWhere(server.db, testRunResults, sql`run_id = ${run.id}`);
    const played = scenarioOf({ tool_results: { find_order: { z: null, a: 1 } }, approves: true });
    expect(row?.scenario).toEqual({ ...played, recorded_calls: null, runs: null, acts_as: null });
  });

  it('is refused without scenarios [TRUN-036]', async () => {
    const answer = await call('POST', runsPath());
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_request' } } });
    expect(answer.body.error.message).toContain('no scenarios');
    expect((await call('GET', runsPath())).body.data).toEqual([]);
  });

  it('is refused for an archived deployment until it is restored', async () => {
    await addScenario();
    await call('POST', `/v1/deployments/${deployment.id}/archive`);
    const answer = await call('POST', runsPath());
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'deployment_archived' } } });
    await call('POST', `/v1/deployments/${deployment.id}/unarchive`);
    expect((await call('POST', runsPath())).status).toBe(202);
  });

  it('returns the same response for the same idempotency key and creates one run', async () => {
    await addScenario();
    const once = { key: org.testKey, headers: { 'idempotency-key': newId('req') } };
    const answers = await Promise.all([1, 2, 3].map(() => server.call('POST', runsPath(), once)));
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await call('GET', runsPath())).body.data).toHaveLength(1);
  });

  it('requires the scope `setup` and a deployment of the org', async () => {
    await addScenario();
    const key = await org.newKey('test', ['runtime', 'admin']);
    expect((await call('POST', runsPath(), undefined, key)).body.error.code).toBe('scope_missing');
    const other = await server.newOrg();
    const noDeployment = { status: 404, body: { error: { code: 'deployment_not_found' } } };
    expect(await call('POST', runsPath(), undefined, other.testKey)).toMatchObject(noDeployment);
    expect(await call('GET', runsPath(), undefined, other.testKey)).toMatchObject(noDeployment);
    expect(await call('POST', runsPath(newId('dep')))).toMatchObject(noDeployment);
  });
});

describe('reading', () => {
  it('counts results by status and sums their cost [TRUN-019]', async () => {
    const statuses = ['passed', 'passed', 'passed', 'failed', 'failed', 'error', 'running', 'queued'] as const;
    const scenarios: { id: string; name: string }[] = [];
    for (const [at] of statuses.entries()) scenarios.push(await addScenario({ name: `Scenario ${at}` }));
    const { id } = await create();
    // Results of another run must not be counted.
    const other = await create();
    for (const [at, status] of statuses.entries()) {
      const scenario = scenarios[at] as { id: string };
      await setResult(id, scenario.id, { status, cost_micros: BigInt(at * 1_000_003), duration_ms: at });
    }
    await setRun(id, { status: 'running', started_at: new Date(), resumes: 2 });
    const run: TestRun = await get(id);
    const { total, ...parts } = run.counts;
    expect(parts).toEqual({ queued: 1, running: 1, passed: 3, failed: 2, error: 1 });
    expect(total).toBe(8);
    expect(total).toBe(Object.values(parts).reduce((sum, part) => sum + part, 0));
    expect(run.results.map(({ status }) => status)).toEqual([...statuses]);
    expect(run.results.map(({ name }) => name)).toEqual(scenarios.map(({ name }) => name));
    expect(run.results.map(({ duration_ms }) => duration_ms)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(run.results[3]?.cost_usd).toBe(3.00001);
    expect(run).toMatchObject({ status: 'running', resumes: 2, cost_usd: 28.00008, started_at: expect.any(String) });
    expect(await get(other.id)).toEqual(other);
  });

  it('shows each verdict and transcript as stored', async () => {
    const scenario = await addScenario();
    const { id } = await create();
    const written = {
      status: 'failed' as const,
      criteria: [
        { text: 'It asks for the reason.', met: true, decided: true, reason: 'It did.' },
        { text: 'It makes the refund.', met: false, decided: false, reason: 'It did not.' },
      ],
      must_never: [{ text: 'It promises a date.', broken: true, decided: true, reason: '"Tomorrow"' }],
      judged_by: 'offline',
      conversation_id: newId('conv'),
      transcript: [
        { role: 'user' as const, text: 'I want my money back. 🦊' },
        { role: 'agent' as const, text: 'Tomorrow.' },
      ],
      error_code: 'model_error',
    };
    await setResult(id, scenario.id, written);
    const finished = new Date();
    await setRun(id, { status: 'error', error_code: 'no_judge_model', finished_at: finished });
    expect(await get(id)).toMatchObject({
      status: 'error',
      error_code: 'no_judge_model',
      finished_at: finished.toISOString(),
      results: [{ scenario_id: scenario.id, name: scenario.name, ...written }],
    });
  });

  it('is visible in both modes and to no other org [TRUN-038]', async () => {
    await addScenario();
    const run = await create(org.liveKey);
    expect(await get(run.id)).toEqual(run);
    const other = await server.newOrg();
    const noRun = { status: 404, body: { error: { code: 'test_run_not_found' } } };
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const) {
      expect(await call(method, `/v1/test-runs/${run.id}${suffix}`, undefined, other.testKey)).toMatchObject(noRun);
      for (const id of [newId('trun'), 'trun_1', newId('scn')]) {
        expect(await call(method, `/v1/test-runs/${id}${suffix}`)).toMatchObject(noRun);
      }
    }
    expect(await get(run.id)).toEqual(run);
  });

  it('lists the runs of a deployment by pages, newest first, of both modes [TRUN-025]', async () => {
    await addScenario();
    const made: TestRun[] = [];
    for (let at = 0; at < 5; at++) made.unshift(await create(at % 2 ? org.liveKey : org.testKey));
    const first = await call('GET', `${runsPath()}?limit=3`);
    expect(first.body.data).toEqual(made.slice(0, 3));
    const second = await call('GET', `${runsPath()}?limit=3&cursor=${first.body.next_cursor}`);
    expect(second.body).toEqual({ data: made.slice(3), next_cursor: null });
    const other = await server.newDeployment(org.id);
    expect((await call('GET', runsPath(other.id))).body).toEqual({ data: [], next_cursor: null });
    const foreign = await call('GET', `${runsPath(other.id)}?cursor=${first.body.next_cursor}`);
    expect(foreign).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor' } } });
  });

  it('ends with the deployment', async () => {
    await addScenario();
    const run = await create();
    expect((await call('DELETE', `/v1/deployments/${deployment.id}`)).status).toBe(200);
    expect((await call('GET', `/v1/test-runs/${run.id}`)).status).toBe(404);
    expect(await countWhere(server.db, testRunResults, sql`run_id = ${run.id}`)).toBe(0);
  });
});

describe('cancelling', () => {
  it('of a run that a live key began takes a live key [TEN-207]', async () => {
    await addScenario();
    const run = await create(org.liveKey);
    const cancel = (key: string) => call('POST', `/v1/test-runs/${run.id}/cancel`, undefined, key);
    expect(await cancel(org.testKey)).toMatchObject({ status: 403, body: { error: { code: 'live_key_required' } } });
    expect((await cancel(org.liveKey)).body.status).toBe('cancelled');
  });

  it('ends a queued run with all its results [TRUN-026]', async () => {
    const scenario = await addScenario();
    const run = await create();
    const { status, body } = await call('POST', `/v1/test-runs/${run.id}/cancel`);
    expect(status).toBe(200);
    expect(body).toEqual({
      ...run,
      status: 'cancelled',
      promoted: false,
      counts: { ...run.counts, queued: 0 },
      results: [{ ...queuedResult(scenario), status: 'cancelled' }],
      finished_at: expect.any(String),
    });
    expect(await get(run.id)).toEqual(body);
    const [entry] = (await server.auditOf(org.id, 'test_run.cancelled')).slice(-1);
    expect(entry).toMatchObject({ target_id: run.id, details: { deployment_id: deployment.id, version: 1 } });
  });

  it('keeps the verdicts that a running run has reached [TRUN-026]', async () => {
    const [passed, running, queued] = [await addScenario(), await addScenario(), await addScenario()];
    const { id } = await create();
    await setResult(id, passed.id, { status: 'passed' });
    await setResult(id, running.id, { status: 'running' });
    await setRun(id, { status: 'running', started_at: new Date() });
    const { body } = await call('POST', `/v1/test-runs/${id}/cancel`);
    expect(body).toMatchObject({
      status: 'cancelled',
      promoted: false,
      counts: { total: 3, queued: 0, running: 0, passed: 1, failed: 0, error: 0 },
      results: [
        { scenario_id: passed.id, status: 'passed' },
        { scenario_id: running.id, status: 'cancelled' },
        { scenario_id: queued.id, status: 'cancelled' },
      ],
    });
  });

  it.each(['passed', 'failed', 'error'] as const)('does not change a run that ended as %s', async (status) => {
    await addScenario();
    const { id } = await create();
    await setRun(id, { status, finished_at: new Date() });
    const before = await get(id);
    const answer = await call('POST', `/v1/test-runs/${id}/cancel`);
    expect(answer).toMatchObject({ status: 200, body: before });
    expect(await eventsOf(id)).toEqual([]);
  });

  it('cancels once if sent twice or concurrently, and other runs continue', async () => {
    await addScenario();
    const [run, other] = [await create(), await create()];
    const cancel = () => call('POST', `/v1/test-runs/${run.id}/cancel`);
    const answers = [...(await Promise.all([cancel(), cancel(), cancel()])), await cancel()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const entries = await server.auditOf(org.id, 'test_run.cancelled');
    expect(entries.filter(({ target_id }) => target_id === run.id)).toHaveLength(1);
    expect(await eventsOf(run.id)).toHaveLength(1);
    expect(await get(other.id)).toEqual(other);
  });

  it('emits the event in the mode of the run, whichever key cancelled it', async () => {
    await addScenario();
    const run = await create();
    const { body } = await call('POST', `/v1/test-runs/${run.id}/cancel`, undefined, org.liveKey);
    expect(await eventsOf(run.id)).toMatchObject([
      { type: 'test_run.completed', mode: 'test', deployment_id: deployment.id, data: body },
    ]);
  });
});
