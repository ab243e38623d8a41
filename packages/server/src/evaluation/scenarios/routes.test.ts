import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { countWhere } from '../../../../../tests/support/rows.ts';
import type { DeploymentRow } from '../../agents/deployments/tables.ts';
import { sql } from '../../platform/db/sql.ts';
import { scenarios } from '../tables.ts';
import { functionTool, scenarioOf, startScenarios } from './scenarios.fixture.ts';

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
  deployment = await server.newDeployment(org.id);
});

const listPath = (of = deployment.id) => `/v1/deployments/${of}/scenarios`;
const call = (method: string, path: string, body?: unknown, key = org.testKey) =>
  server.call(method, path, { key, ...(body !== undefined && { body }) });
const create = async (fields: Parameters<typeof scenarioOf>[0] = {}, of = deployment.id) => {
  const answer = await call('POST', listPath(of), scenarioOf(fields));
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body;
};
/** Read outside of that transaction, which would always see its first result. */
const waitingForLocks = async () => {
  const { rowCount } = await server.db.$client.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rowCount;
};
const refused = (code: string, param?: string) => ({
  status: 400,
  body: { error: { code, ...(param !== undefined && { param }) } },
});

describe('creating', () => {
  it('answers 201 with every field, and writes an audit entry [SCN-001, SCN-008, SCN-010]', async () => {
    const tools = await server.newDeployment(org.id, { tools: [functionTool('find_order')] });
    const fields = scenarioOf({ tool_results: { find_order: { z: 1, a: [null, 'x'] } }, approves: false });
    const { status, body, text } = await call('POST', listPath(tools.slug), fields);
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'scenario',
      id: expect.stringMatching(/^scn_[0-9a-z]{24}$/),
      deployment_id: tools.id,
      ...fields,
      managed_by: null,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: body.created_at,
    });
    expect(text).toContain('{"z":1,"a":[null,"x"]}');
    expect((await call('GET', `${listPath(tools.id)}/${body.id}`)).text).toBe(text);
    const [entry] = (await server.auditOf(org.id, 'scenario.created')).slice(-1);
    expect(entry).toMatchObject({
      actor_type: 'key',
      target_type: 'scenario',
      target_id: body.id,
      details: { deployment_id: tools.id, name: fields.name },
    });
  });

  it('leaves out what was not given, and takes no `must_never` as none [SCN-006]', async () => {
    const { must_never: _, ...fields } = scenarioOf();
    const { body } = await call('POST', listPath(), fields);
    expect(body.must_never).toEqual([]);
    expect(body).not.toHaveProperty('tool_results');
    expect(body).not.toHaveProperty('approves');
  });

  it('takes each field up to its limit [SCN-002, SCN-003, SCN-004, SCN-005, SCN-006]', async () => {
    const lines = Array.from({ length: 12 }, () => '🦊'.repeat(500));
    const fields = {
      name: '🦊'.repeat(120),
      persona: '🦊'.repeat(2000),
      goal: '🦊'.repeat(2000),
      success_criteria: lines,
      must_never: lines,
    };
    expect(await create(fields)).toMatchObject(fields);
  });

  const tooMany = Array.from({ length: 13 }, (_, at) => `Line ${at}.`);
  it.each([
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a long name', { name: 'x'.repeat(121) }, 'name'],
    ['no persona', { persona: undefined }, 'persona'],
    ['a long persona', { persona: 'x'.repeat(2001) }, 'persona'],
    ['no goal', { goal: undefined }, 'goal'],
    ['a long goal', { goal: 'x'.repeat(2001) }, 'goal'],
    ['no criteria', { success_criteria: undefined }, 'success_criteria'],
    ['an empty list of criteria', { success_criteria: [] }, 'success_criteria'],
    ['13 criteria', { success_criteria: tooMany }, 'success_criteria'],
    ['a long criterion', { success_criteria: ['x', 'x'.repeat(501)] }, 'success_criteria.1'],
    ['13 lines of must_never', { must_never: tooMany }, 'must_never'],
    ['a long line of must_never', { must_never: ['x'.repeat(501)] }, 'must_never.0'],
    ['approves as text', { approves: 'yes' }, 'approves'],
    ['tool_results as a list', { tool_results: [] }, 'tool_results'],
    ['an unknown field', { managed_by: 'file' }, 'managed_by'],
  ])('refuses %s [SCN-002, SCN-003, SCN-004, SCN-005, SCN-006, SCN-008]', async (_what, fields, param) => {
    const answer = await call('POST', listPath(), { ...scenarioOf(), ...fields });
    expect(answer).toMatchObject(refused('invalid_request', param));
    expect((await call('GET', listPath())).body.data).toEqual([]);
  });

  it('gives the same answer for the same idempotency key, and makes one scenario', async () => {
    const once = { key: org.testKey, body: scenarioOf(), headers: { 'idempotency-key': newId('req') } };
    const answers = await Promise.all([1, 2, 3].map(() => server.call('POST', listPath(), once)));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await countWhere(server.db, scenarios, sql`deployment_id = ${deployment.id}`)).toBe(1);
  });

  it('needs the scope of setup', async () => {
    const key = await org.newKey('test', ['runtime', 'admin']);
    const answer = await call('POST', listPath(), scenarioOf(), key);
    expect(answer).toMatchObject({ status: 403, body: { error: { code: 'scope_missing' } } });
  });

  it('waits for a deployment that is being deleted, and then finds none', async () => {
    const client = await server.db.$client.connect();
    try {
      await client.query('BEGIN');
      await client.query('DELETE FROM deployments WHERE id = $1', [deployment.id]);
      const answer = call('POST', listPath(), scenarioOf());
      await expect.poll(waitingForLocks, { timeout: 10_000 }).toBe(1);
      await client.query('COMMIT');
      expect(await answer).toMatchObject({ status: 404, body: { error: { code: 'deployment_not_found' } } });
    } finally {
      client.release();
    }
  });
});

describe('tool results', () => {
  const manifest = {
    tools: [functionTool('find_order')],
    mcp_servers: [{ id: newId('mcp'), slug: 'crm', url: 'https://crm.example/mcp' }],
  };
  beforeEach(async () => {
    deployment = await server.newDeployment(org.id, manifest);
  });

  it('are keyed by a declared function or by a tool of a listed server [SCN-026]', async () => {
    const tool_results = { find_order: 1, 'crm.get-user': null, 'crm.v2.Find_User': [] };
    expect((await create({ tool_results })).tool_results).toEqual(tool_results);
  });

  it.each(['cancel_order', 'crm', 'crm.', 'crm. x', 'crm.a/b', 'erp.get', '.get', 'find_order.x', '', 'toString'])(
    'refuses the key %j on create and update [SCN-026]',
    async (key) => {
      const tool_results = { find_order: 1, [key]: 1 };
      const wrong = refused('invalid_request', `tool_results.${key}`);
      expect(await call('POST', listPath(), scenarioOf({ tool_results }))).toMatchObject(wrong);
      const { id } = await create({ tool_results: { find_order: 2 } });
      expect(await call('PATCH', `${listPath()}/${id}`, { tool_results })).toMatchObject(wrong);
      expect((await call('GET', `${listPath()}/${id}`)).body.tool_results).toEqual({ find_order: 2 });
    },
  );

  it('accept at most 20 entries of any JSON [SCN-007]', async () => {
    const entries = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`crm.tool_${at}`, at % 2 ? at : { at: [null] }]));
    expect((await create({ tool_results: entries(20) })).tool_results).toEqual(entries(20));
    const answer = await call('POST', listPath(), scenarioOf({ tool_results: entries(21) }));
    expect(answer).toMatchObject(refused('invalid_request', 'tool_results'));
  });

  it('are held against the newest version, and only when they are sent [SCN-026]', async () => {
    const { id } = await create({ tool_results: { find_order: 1 } });
    await server.saveVersion(deployment, { tools: [functionTool('seek_order')] });
    const path = `${listPath()}/${id}`;
    expect((await call('PATCH', path, { name: 'Renamed' })).body.tool_results).toEqual({ find_order: 1 });
    const old = await call('PATCH', path, { tool_results: { find_order: 1 } });
    expect(old).toMatchObject(refused('invalid_request', 'tool_results.find_order'));
    expect(old.body.error.message).toBe('Name a function of version 2.');
    const fresh = await call('PATCH', path, { tool_results: { seek_order: 2 } });
    expect(fresh.body.tool_results).toEqual({ seek_order: 2 });
    expect((await call('PATCH', path, { tool_results: {} })).body.tool_results).toEqual({});
  });
});

describe('listing', () => {
  it('goes page by page, newest first, and shows no other deployment [SCN-009]', async () => {
    const made: string[] = [];
    for (let at = 0; at < 5; at++) made.unshift((await create({ name: `Scenario ${at}` })).id);
    const other = await server.newDeployment(org.id);
    await create({}, other.id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const { body } = await call('GET', `${listPath()}?limit=2${cursor ? `&cursor=${cursor}` : ''}`);
      expect(body.data.length).toBeLessThanOrEqual(2);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    } while (cursor);
    expect(seen).toEqual(made);
  });

  it('refuses the cursor of another deployment', async () => {
    for (let at = 0; at < 2; at++) await create();
    const { body } = await call('GET', `${listPath()}?limit=1`);
    const other = await server.newDeployment(org.id);
    const answer = await call('GET', `${listPath(other.id)}?cursor=${body.next_cursor}`);
    expect(answer).toMatchObject(refused('invalid_cursor', 'cursor'));
  });
});

describe('one scenario', () => {
  it('is read by its id, in both modes alike [SCN-018]', async () => {
    const made = await create();
    const { status, body } = await call('GET', `${listPath()}/${made.id}`, undefined, org.liveKey);
    expect({ status, body }).toEqual({ status: 200, body: made });
  });

  it('is changed field by field, and the others stay [SCN-016, SCN-017]', async () => {
    let expected = await create();
    const changes = {
      name: 'Other name',
      persona: 'Other persona.',
      goal: 'Other goal.',
      success_criteria: ['One.'],
      must_never: [],
      tool_results: {},
      approves: true,
    };
    for (const [field, value] of Object.entries(changes)) {
      const { status, body } = await call('PATCH', `${listPath()}/${expected.id}`, { [field]: value });
      expect(status).toBe(200);
      expect(body).toEqual({ ...expected, [field]: value, updated_at: body.updated_at });
      expect(body.updated_at > expected.updated_at).toBe(true);
      const [entry] = (await server.auditOf(org.id, 'scenario.updated')).slice(-1);
      expect(entry).toMatchObject({ target_id: body.id, details: { changed: [field] } });
      expected = body;
    }
    expect((await call('GET', `${listPath()}/${expected.id}`)).body).toEqual(expected);
  });

  it('stays as it is where nothing is sent, without an audit entry', async () => {
    const made = await create();
    const before = await server.auditOf(org.id, 'scenario.');
    expect((await call('PATCH', `${listPath()}/${made.id}`, {})).body).toEqual(made);
    expect(await server.auditOf(org.id, 'scenario.')).toHaveLength(before.length);
  });

  it.each([
    ['a long name', { name: 'x'.repeat(121) }, 'name'],
    ['an empty list of criteria', { success_criteria: [] }, 'success_criteria'],
    ['null', { approves: null }, 'approves'],
    ['another owner', { deployment_id: 'dep_000000000000000000000000' }, 'deployment_id'],
  ])('cannot be changed to %s [SCN-017]', async (_what, changes, param) => {
    const made = await create();
    const answer = await call('PATCH', `${listPath()}/${made.id}`, changes);
    expect(answer).toMatchObject(refused('invalid_request', param));
    expect((await call('GET', `${listPath()}/${made.id}`)).body).toEqual(made);
  });

  it('is deleted once [SCN-019]', async () => {
    const { id, name } = await create();
    const kept = await create();
    const { status, body } = await call('DELETE', `${listPath()}/${id}`);
    expect({ status, body }).toEqual({ status: 200, body: { object: 'scenario', id, deleted: true } });
    const [entry] = (await server.auditOf(org.id, 'scenario.deleted')).slice(-1);
    expect(entry).toMatchObject({ target_id: id, details: { deployment_id: deployment.id, name } });
    const gone = await call('DELETE', `${listPath()}/${id}`);
    expect(gone).toMatchObject({ status: 404, body: { error: { code: 'scenario_not_found' } } });
    expect((await call('GET', listPath())).body.data).toEqual([kept]);
  });

  it('goes with its deployment', async () => {
    await create();
    expect((await call('DELETE', `/v1/deployments/${deployment.id}`)).status).toBe(200);
    expect(await countWhere(server.db, scenarios, sql`deployment_id = ${deployment.id}`)).toBe(0);
  });
});

describe('what is not there', () => {
  it.each([
    ['GET', undefined],
    ['PATCH', { name: 'Mine now' }],
    ['DELETE', undefined],
  ])('answers %s with 404 and stays unchanged [SCN-028]', async (method, body) => {
    const made = await create();
    const otherDeployment = await server.newDeployment(org.id);
    const other = await server.newOrg();
    const noScenario = { status: 404, body: { error: { code: 'scenario_not_found' } } };
    const noDeployment = { status: 404, body: { error: { code: 'deployment_not_found' } } };
    for (const id of [newId('scn'), 'scn_1', 'x']) {
      expect(await call(method, `${listPath()}/${id}`, body)).toMatchObject(noScenario);
    }
    expect(await call(method, `${listPath(otherDeployment.id)}/${made.id}`, body)).toMatchObject(noScenario);
    expect(await call(method, `${listPath(newId('dep'))}/${made.id}`, body)).toMatchObject(noDeployment);
    expect(await call(method, `${listPath()}/${made.id}`, body, other.testKey)).toMatchObject(noDeployment);
    const otherOwn = await server.newDeployment(other.id);
    const elsewhere = await call(method, `${listPath(otherOwn.id)}/${made.id}`, body, other.testKey);
    expect(elsewhere).toMatchObject(noScenario);
    expect((await call('GET', `${listPath()}/${made.id}`)).body).toEqual(made);
  });

  it('cannot be listed or added in another org', async () => {
    const other = await server.newOrg();
    const noDeployment = { status: 404, body: { error: { code: 'deployment_not_found' } } };
    expect(await call('GET', listPath(), undefined, other.testKey)).toMatchObject(noDeployment);
    expect(await call('POST', listPath(), scenarioOf(), other.testKey)).toMatchObject(noDeployment);
  });
});
