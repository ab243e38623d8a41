import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { functionTool, scenarioOf, startScenarios } from './scenarios.fixture.ts';
import { hasScenarios, type ScenarioFields, scenariosOfVersion } from './scenarios.ts';

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

const call = (method: string, path: string, body?: unknown) =>
  server.call(method, path, { key: org.testKey, ...(body !== undefined && { body }) });
const path = () => `/v1/deployments/${deployment.id}/scenarios`;
const list = async (): Promise<(ScenarioFields & { id: string; managed_by: string | null; updated_at: string })[]> =>
  (await call('GET', path())).body.data;
const byName = async (name: string) => {
  const found = (await list()).find((scenario) => scenario.name === name);
  if (!found) throw new Error(`There is no scenario ${name}.`);
  return found;
};

describe('a scenario of the file', () => {
  it('shows that the file manages it and is listed with the others', async () => {
    const own = (await call('POST', path(), scenarioOf({ name: 'Own' }))).body;
    const declared = scenarioOf({ name: 'Declared', tool_results: { find_order: { id: 17 } } });
    await server.applyTests(deployment, [declared]);
    const [first, second] = await list();
    expect(first).toMatchObject({ ...declared, object: 'scenario', deployment_id: deployment.id, managed_by: 'file' });
    expect(second).toEqual(own);
  });

  it('cannot be changed or deleted over the API [SCN-024]', async () => {
    await server.applyTests(deployment, [scenarioOf({ name: 'Declared' })]);
    const before = await byName('Declared');
    const refused = { status: 409, body: { error: { code: 'managed_by_file', type: 'conflict' } } };
    for (const changes of [{ name: 'Mine' }, { approves: true }, { tool_results: { unknown: 1 } }, {}]) {
      expect(await call('PATCH', `${path()}/${before.id}`, changes)).toMatchObject(refused);
    }
    expect(await call('DELETE', `${path()}/${before.id}`)).toMatchObject(refused);
    expect(await list()).toEqual([before]);
  });

  it('keeps its id by name, and its time if nothing changed', async () => {
    const tool_results = { find_order: { a: 1, b: 2 } };
    await server.applyTests(deployment, [
      scenarioOf({ name: 'Same', tool_results }),
      scenarioOf({ name: 'Other goal', tool_results }),
      scenarioOf({ name: 'Other criteria' }),
      scenarioOf({ name: 'Other lines' }),
      scenarioOf({ name: 'Other persona' }),
      scenarioOf({ name: 'No results', tool_results }),
    ]);
    const before = new Map((await list()).map((scenario) => [scenario.name, scenario]));
    const next = [
      scenarioOf({ name: 'No results' }),
      scenarioOf({ name: 'Other goal', goal: 'Another.', tool_results }),
      scenarioOf({ name: 'Other criteria', success_criteria: ['Another.'] }),
      scenarioOf({ name: 'Other lines', must_never: [] }),
      scenarioOf({ name: 'Other persona', persona: 'Another.' }),
      scenarioOf({ name: 'Same', tool_results: { find_order: { b: 2, a: 1 } } }),
    ];
    await server.applyTests(deployment, next);
    const after = await list();
    expect(after).toHaveLength(6);
    for (const declared of next) {
      const [old, now] = [before.get(declared.name), after.find(({ name }) => name === declared.name)];
      expect(now?.id).toBe(old?.id);
      if (declared.name === 'Same') expect(now).toEqual(old);
      else {
        expect(now).toMatchObject(declared);
        expect(String(now?.updated_at) > String(old?.updated_at)).toBe(true);
      }
    }
    expect(after.find(({ name }) => name === 'No results')).not.toHaveProperty('tool_results');
  });

  it('is deleted when a file drops it, and gets a new id when it returns [SCN-025]', async () => {
    await server.applyTests(deployment, [scenarioOf({ name: 'Kept' }), scenarioOf({ name: 'Dropped' })]);
    const [kept, dropped] = [await byName('Kept'), await byName('Dropped')];
    await server.applyTests(deployment, [scenarioOf({ name: 'Kept' })]);
    expect(await list()).toEqual([kept]);
    await server.applyTests(deployment, []);
    expect(await list()).toEqual([]);
    await server.applyTests(deployment, [scenarioOf({ name: 'Dropped' })]);
    expect((await byName('Dropped')).id).not.toBe(dropped.id);
  });

  it('does not affect scenarios of the API, also with the same name [SCN-025]', async () => {
    const own = (await call('POST', path(), scenarioOf({ name: 'Refund' }))).body;
    const elsewhere = await server.newDeployment(org.id);
    await server.applyTests(elsewhere, [scenarioOf({ name: 'Refund' })]);
    await server.applyTests(deployment, [scenarioOf({ name: 'Refund', goal: 'From the file.' })]);
    expect((await list()).map(({ managed_by, goal }) => [managed_by, goal])).toEqual([
      ['file', 'From the file.'],
      [null, own.goal],
    ]);
    await server.applyTests(deployment, []);
    expect(await list()).toEqual([own]);
    const { body } = await call('GET', `/v1/deployments/${elsewhere.id}/scenarios`);
    expect(body.data).toHaveLength(1);
  });

  it('is that of the last apply, also with concurrent applies', async () => {
    const files = Array.from({ length: 6 }, (_, at) => [
      scenarioOf({ name: `Only in file ${at}`, goal: `File ${at}.` }),
      scenarioOf({ name: 'In all files', goal: `File ${at}.` }),
    ]);
    await Promise.all(files.map((file) => server.applyTests(deployment, file)));
    const all = await list();
    expect(all).toHaveLength(2);
    expect(new Set(all.map(({ goal }) => goal)).size).toBe(1);
  });
});

describe('the scenarios that gate a version', () => {
  it('are those of the API and of its own file, with the ids of tests that the newest file still has [VER-710]', async () => {
    await server.applyTests(deployment, [scenarioOf({ name: 'A' }), scenarioOf({ name: 'New' })]);
    const byApi = (await call('POST', path(), scenarioOf({ name: 'By hand' }))).body;
    await server.applyTests(await server.newDeployment(org.id), [scenarioOf()]);
    const empty = await server.newDeployment(org.id);
    const own = [scenarioOf({ name: 'A', goal: 'Earlier.' }), scenarioOf({ name: 'Dropped' })];
    const [gates, hasAny, hasNone] = await transaction(server.db, async (tx) => [
      await scenariosOfVersion(tx, deployment, own),
      await hasScenarios(tx, deployment.id, []),
      await hasScenarios(tx, empty.id, []),
    ]);
    expect(gates.map(({ name, goal }) => [name, goal])).toEqual([
      ['By hand', byApi.goal],
      ['A', 'Earlier.'],
      ['Dropped', own[1]?.goal],
    ]);
    const named = (await list()).find(({ name }) => name === 'A');
    expect(gates.slice(0, 2).map(({ id }) => id)).toEqual([byApi.id, named?.id]);
    expect([hasAny, hasNone]).toEqual([true, false]);
  });
});
