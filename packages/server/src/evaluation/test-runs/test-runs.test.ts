import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import type { Origin } from '../../platform/caller.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { fileScenariosIn, scenarioOf, startScenarios } from '../scenarios/scenarios.fixture.ts';
import { latestRuns } from './store.ts';
import { findTestRun, type NewTestRun, startRun } from './test-runs.ts';

type Server = Awaited<ReturnType<typeof startScenarios>>;

let server: Server;
let org: Awaited<ReturnType<Server['newOrg']>>;

beforeAll(async () => {
  server = await startScenarios();
  org = await server.newOrg();
});
afterAll(() => server.stop());

const origin = (): Origin => ({
  orgId: org.id,
  mode: 'test',
  actor: { type: 'member', id: newId('mbr'), name: 'Ada' },
  requestId: newId('req'),
  ip: null,
});
const start = (deployment: DeploymentRow, run: Partial<NewTestRun> = {}) =>
  transaction(server.db, async (tx) => {
    const fileScenarios = await fileScenariosIn(tx, deployment);
    const wanted = { deployment, version: 1, mode: 'test' as const, promoteOnPass: false, fileScenarios };
    return startRun(tx, server.jobs, origin(), { ...wanted, ...run });
  });

it('starts a run with the given version, mode and promotion', async () => {
  const deployment = await server.newDeployment(org.id);
  await server.applyTests(deployment, [scenarioOf({ name: 'A' }), scenarioOf({ name: 'B' })]);
  await server.saveVersion(deployment);
  const run = await start(deployment, { version: 1, mode: 'live', promoteOnPass: true });
  expect(run).toMatchObject({
    version: 1,
    mode: 'live',
    promote_on_pass: true,
    status: 'queued',
    counts: { total: 2, queued: 2 },
    results: [{ name: 'A' }, { name: 'B' }],
  });
  const { body } = await server.call('GET', `/v1/test-runs/${run.id}`, { key: org.testKey });
  expect(body).toEqual(run);
  expect(server.sent.filter(({ name }) => name === 'test_run.play').at(-1)?.payload).toEqual({
    run_id: run.id,
    org_id: org.id,
  });
  const [entry] = (await server.auditOf(org.id, 'test_run.created')).slice(-1);
  expect(entry).toMatchObject({ actor_type: 'member', target_id: run.id, details: { promote_on_pass: true } });
});

it('starts a run without scenarios', async () => {
  const run = await start(await server.newDeployment(org.id));
  expect(run).toMatchObject({ status: 'queued', counts: { total: 0, queued: 0 }, results: [], cost_usd: 0 });
});

it('stores nothing if the transaction fails', async () => {
  const deployment = await server.newDeployment(org.id);
  await server.applyTests(deployment, [scenarioOf()]);
  const run = { deployment, version: 1, mode: 'test' as const, promoteOnPass: false, fileScenarios: [scenarioOf()] };
  const attempt = transaction(server.db, async (tx) => {
    await startRun(tx, server.jobs, origin(), run);
    throw new Error('no');
  });
  await expect(attempt).rejects.toThrow('no');
  const { body } = await server.call('GET', `/v1/deployments/${deployment.id}/test-runs`, { key: org.testKey });
  expect(body.data).toEqual([]);
});

it('finds only runs of the org', async () => {
  const deployment = await server.newDeployment(org.id);
  await server.applyTests(deployment, [scenarioOf()]);
  const run = await start(deployment);
  const other = await server.newOrg();
  const find = (orgId: string, runId: string) => transaction(server.db, (tx) => findTestRun(tx, orgId, runId));
  expect(await find(org.id, run.id)).toEqual(run);
  expect(await find(other.id, run.id)).toBeUndefined();
  expect(await find(org.id, newId('trun'))).toBeUndefined();
});

it('returns the latest run of each version, which the version shows [VER-004]', async () => {
  const deployment = await server.newDeployment(org.id);
  const elsewhere = await server.newDeployment(org.id);
  await server.applyTests(deployment, [scenarioOf()]);
  for (let round = 0; round < 3; round++) await server.saveVersion(deployment);
  await start(deployment, { version: 1 });
  const first = await start(deployment, { version: 1, mode: 'live' });
  const third = await start(deployment, { version: 3 });
  await start(elsewhere, { version: 2 });
  await server.call('POST', `/v1/test-runs/${third.id}/cancel`, { key: org.testKey });
  const latest = await latestRuns(server.db, deployment.id, [1, 2, 3, 4]);
  expect([...latest]).toEqual([
    [1, { run_id: first.id, status: 'queued' }],
    [3, { run_id: third.id, status: 'cancelled' }],
  ]);
  expect([...(await latestRuns(server.db, deployment.id, [3]))]).toHaveLength(1);
  expect([...(await latestRuns(server.db, deployment.id, []))]).toEqual([]);
  const { body } = await server.call('GET', `/v1/deployments/${deployment.id}/versions`, { key: org.testKey });
  expect(body.data.map(({ tests }: { tests: unknown }) => tests)).toEqual([
    null,
    { run_id: third.id, status: 'cancelled' },
    null,
    { run_id: first.id, status: 'queued' },
  ]);
});
