import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtInSkills } from '../../agents/skills/skill-files.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { faultsOf, type Org, startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;

beforeAll(async () => {
  server = await startApply();
  org = await server.newOrg();
  await org.storeSecret('STORED');
});

afterAll(() => server.stop());

const mcp = (fields: object = {}) => ({ mcp: 'https://tools.example.com/mcp', ...fields });
const call = (fields: object = {}) => ({ function: 'find_order', description: 'Find an order.', ...fields });
const test = (fields: object = {}) => ({ name: 'Refund', ask: 'I want my money.', expect: 'It asks why.', ...fields });

describe('a file is accepted', () => {
  it('with what the org has, and secrets in the mode of the key [DFILE-047, APPLY-031]', async () => {
    const file_id = await org.addFile('test');
    const known = {
      name: 'known',
      skills: [{ id: await org.addSkill('known') }, { name: (await builtIn())[0] }],
      knowledge: [{ notebook: await org.addNotebook('known') }],
      computer: { files: [{ file_id, path: 'data/a.csv' }], env: { A: '${STORED}' } },
      tools: [mcp({ mcp: 'https://known.example.com/mcp', auth: '${secret:STORED}' })],
    };
    expect((await org.put(known, { promote: 'no' })).status).toBe(200);
    expect(faultsOf(await org.put(known, { mode: 'live', promote: 'no' }))).toEqual([
      ['secret_missing', 'tools.0.auth'],
      ['secret_missing', 'computer.env.A'],
    ]);
  });

  it('with what another org has it is refused', async () => {
    const other = await server.newOrg();
    const theirs = {
      name: 'theirs',
      skills: [{ id: await other.addSkill() }],
      knowledge: [{ notebook: await other.addNotebook() }],
      computer: { files: [{ file_id: await other.addFile(), path: 'a' }] },
    };
    expect(faultsOf(await org.put(theirs))).toEqual([
      ['invalid_manifest', 'skills.0.id'],
      ['invalid_manifest', 'knowledge.0.notebook'],
      ['invalid_manifest', 'computer.files.0.file_id'],
    ]);
  });

  it('with secrets of users, which are never missing [APPLY-032]', async () => {
    const tools = [
      mcp({ mcp: 'https://users.example.com/mcp', auth: '${user_secret:MINE}', headers: { B: '${user_secret:B}' } }),
    ];
    expect((await org.put({ name: 'users', tools })).status).toBe(200);
  });

  it('with memory that the customer keeps, where the org has an endpoint [DFILE-049]', async () => {
    const keeper = await server.newOrg();
    expect((await keeper.put({ name: 'memory', memory: 'customer' })).body.error.code).toBe('memory_endpoint_required');
    await run(
      server.db,
      sql`UPDATE org_settings SET memory_endpoint = 'https://m.example.com' WHERE org_id = ${keeper.id}`,
    );
    expect((await keeper.put({ name: 'memory', memory: 'customer' })).status).toBe(200);
  });

  it('with results of its functions and of its servers’ tools, also of one that is not registered yet', async () => {
    const tests = [test({ tool_results: { find_order: {}, 'sales-crm.find': 1, 'results-example-com.go': 2 } })];
    const tools = [
      call(),
      mcp({ mcp: 'https://crm.results.example.com/mcp', name: 'Sales CRM' }),
      mcp({ mcp: 'https://results.example.com/mcp' }),
    ];
    expect((await org.put({ name: 'results', tools, tests }, { promote: 'no' })).status).toBe(200);
    expect((await org.put({ name: 'results', tools, tests }, { promote: 'no' })).body.changed).toEqual([]);
    const answer = await org.put({
      name: 'results',
      tools: tools.slice(1),
      tests: [test({ tool_results: { 'crm.find': 1 } })],
    });
    expect(faultsOf(answer)).toEqual([['invalid_manifest', 'tests.0.tool_results.crm.find']]);
    expect(answer.body.error.message).toContain('`sales-crm`, `results-example-com`');
  });

  it('with JSON Schema of either draft', async () => {
    const inputs = [
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/b' }, c: { type: 'string', 'x-note': 1 } },
        $defs: { b: {} },
      },
      { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', properties: { a: { items: [{}] } } },
      {
        type: 'object',
        properties: { a: { $ref: '#' }, b: { $ref: '#here' }, c: { $anchor: 'here', pattern: '^a$' } },
      },
    ];
    const tools = inputs.map((input, at) => call({ function: `f_${at}`, input }));
    expect((await org.put({ name: 'schemas', tools })).status).toBe(200);
  });

  it.each([
    ['a keyword that there is not', { name: 'string' }],
    ['a reference that leads nowhere', { properties: { a: { $ref: '#/$defs/b' } } }],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }],
    ['33 levels', { properties: JSON.parse(`${'{"a":{"properties":'.repeat(16)}{}${'}}'.repeat(16)}`) }],
    ['properties that are no map', { properties: 5 }],
  ])('but not with JSON Schema that has %s [TOOL-020]', async (_what, schema) => {
    const tools = [call({ input: { type: 'object', ...schema } })];
    expect(faultsOf(await org.put({ name: 'schema', tools }))).toEqual([['invalid_tool_input', 'tools.0.input']]);
  });
});

async function builtIn(): Promise<string[]> {
  return (await builtInSkills()).map(({ name }) => name);
}
