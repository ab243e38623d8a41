import type { Mode } from '@vestra/contract/route';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../../../tests/support/server.ts';
import { sql } from '../../platform/db/sql.ts';
import { type Org, rowsOf, startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;

beforeAll(async () => {
  server = await startApply();
  org = await server.newOrg();
  for (const name of ['A_TOKEN', 'B_TOKEN']) {
    await org.storeSecret(name);
    await org.storeSecret(name, 'live');
  }
});

afterAll(() => server.stop());

type PutOptions = { mode?: Mode; promote?: string; uploads?: string };

const plan = (file: { name: string; [key: string]: unknown }, { mode = 'test', promote, uploads }: PutOptions = {}) => {
  const query = new URLSearchParams({ dry_run: 'true', ...(promote && { promote }), ...(uploads && { uploads }) });
  return org.call('PUT', `/v1/deployments/${file.name}?${query}`, { mode, body: file });
};

/** A digest of every row of every table, without the counters of requests. */
async function allRows(): Promise<Record<string, string>> {
  const tables = await rowsOf<{ name: string }>(
    server.db,
    sql`SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const counted = tables.filter(({ name }) => name !== 'rate_windows');
  const digest = (name: string) =>
    `SELECT '${name}' AS name, md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) AS digest FROM "${name}" t`;
  const { rows } = await server.db.$client.query(counted.map(({ name }) => digest(name)).join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

const topKeys = (changed: { path: string }[]) => [...new Set(changed.map(({ path }) => path.split(/[.[]/)[0]))];

describe('a plan', () => {
  it('shows before and after of each field, and then nothing [PLAN-700, PLAN-701]', async () => {
    const mcp = 'https://diff.example.com/mcp';
    const lookUp = { function: 'look_up', description: 'Finds an order.', input: { id: 'string' } };
    const first = {
      name: 'diff',
      instructions: 'Be kind.',
      limits: { per_task_usd: 2 },
      tools: [{ mcp, auth: '${A_TOKEN}', headers: { 'X-Region': 'eu' } }, lookUp],
      computer: { env: { REGION: 'eu', TOKEN: '${A_TOKEN}' } },
      tests: [{ name: 'Greets', ask: 'Hello', expect: 'It greets.' }],
    };
    const created = (await plan(first)).body;
    expect(created).toMatchObject({
      object: 'plan',
      faults: [],
      creates_version: true,
      promotes: true,
      tests_to_run: ['Greets'],
    });
    expect(created.changed).toContainEqual({ path: 'instructions', before: null, after: 'Be kind.' });
    expect((await org.call('GET', '/v1/deployments/diff')).status).toBe(404);

    expect((await org.put(first, { promote: 'now' })).status).toBe(200);
    expect((await plan(first, { promote: 'now' })).body).toMatchObject({
      changed: [],
      creates_version: false,
      promotes: false,
      tests_to_run: [],
    });

    const next = {
      ...first,
      instructions: 'Be brief.',
      limits: {},
      tools: [
        { mcp, auth: '${B_TOKEN}', headers: { 'X-Region': 'us' } },
        { ...lookUp, timeout_s: 60 },
      ],
      computer: { env: { REGION: 'us' } },
      tests: [...first.tests, { name: 'Thanks', ask: 'Thanks', expect: ['It thanks.'] }],
    };
    expect((await plan(next)).body.changed).toEqual([
      { path: 'instructions', before: 'Be kind.', after: 'Be brief.' },
      { path: `tools["${mcp}"].auth`, before: '${A_TOKEN}', after: '${B_TOKEN}' },
      { path: `tools["${mcp}"].headers.X-Region`, before: 'eu', after: 'us' },
      { path: 'tools["look_up"].timeout_s', before: null, after: 60 },
      { path: 'computer.env.REGION', before: 'eu', after: 'us' },
      { path: 'computer.env.TOKEN', before: '${A_TOKEN}', after: null },
      { path: 'limits.per_task_usd', before: 2, after: null },
      { path: 'tests["Thanks"]', before: null, after: { name: 'Thanks', ask: 'Thanks', expect: ['It thanks.'] } },
    ]);
  });

  it('counts local files that a client uploads first as changes [PLAN-702]', async () => {
    const file = { name: 'uploads', tests: [{ name: 'Greets', ask: 'Hello', expect: 'It greets.' }] };
    await org.put(file, { promote: 'now' });
    expect((await plan(file, { uploads: 'skills,knowledge' })).body).toMatchObject({
      changed: [],
      creates_version: true,
      tests_to_run: ['Greets'],
    });
    const refused = await plan(file, { uploads: 'tests' });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'uploads']);
  });

  it('shows changed documents and the order of a list', async () => {
    const notebook = await org.addNotebook('plan-faq');
    const [one, two] = ['one', 'two'].map((name) => ({ function: name, description: 'Finds.' }));
    const file = { name: 'content', knowledge: [{ notebook }], tools: [one, two] };
    await org.put(file);
    const before = (await org.call('GET', '/v1/deployments/content')).body;
    await org.call('POST', `/v1/notebooks/${notebook}/documents`, { body: { title: 'a.md', text: 'Nine to five.' } });
    expect(topKeys((await plan(file)).body.changed)).toEqual(['knowledge']);
    expect((await plan({ ...file, tools: [two, one] })).body.changed).toContainEqual({
      path: 'tools',
      before: ['one', 'two'],
      after: ['two', 'one'],
    });
    expect((await org.call('GET', '/v1/deployments/content')).body).toEqual(before);
  });

  it('lists all faults and the missing secrets, and writes nothing [PLAN-703]', async () => {
    const before = await allRows();
    const file = {
      name: 'faulty',
      model: 'gpt-9',
      limits: { per_task_usd: 'x' },
      tools: [
        { mcp: 'https://faulty.example.com/mcp', auth: '${NOT_THERE}' },
        { function: 'finish', description: 'x' },
      ],
    };
    const { status, body } = await plan(file);
    expect(status).toBe(200);
    expect(body.faults.map(({ code, param }: { code: string; param: string }) => [code, param])).toEqual([
      ['invalid_manifest', 'limits.per_task_usd'],
      ['invalid_manifest', 'model'],
      ['tool_name_reserved', 'tools.1.function'],
      ['secret_missing', 'tools.0.auth'],
    ]);
    expect(body).toMatchObject({ changed: [], missing_secrets: ['NOT_THERE'], creates_version: false });
    expect(await allRows()).toEqual(before);
  });

  it('fails as an apply does if the deployment cannot take a file', async () => {
    const file = { name: 'put-away' };
    await org.put(file);
    await org.call('POST', '/v1/deployments/put-away/archive');
    const refused = await plan(file);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'deployment_archived']);
  });
});

describe('a plan and the apply after it', () => {
  const mcp = (fields: object) => ({ mcp: 'https://walk.example.com/mcp', ...fields });
  const some = <Value>(...values: Value[]) => fc.constantFrom(undefined, ...values);
  const anyChange = fc.record({
    mode: fc.constantFrom<Mode>('test', 'live'),
    promote: fc.constantFrom('after_tests', 'now', 'no'),
    file: fc.record({
      instructions: some('Be kind.', 'Be brief.'),
      language: some('en', 'de'),
      approvals: some(['payment'], []),
      limits: some({ per_task_usd: 1 }, { per_task_usd: 3 }),
      tools: some(
        [mcp({ auth: '${A_TOKEN}' })],
        [mcp({ auth: '${B_TOKEN}', name: 'Walk' })],
        [mcp({})],
        [mcp({ headers: { 'X-Region': 'eu' }, deny: ['wipe'] }), { function: 'find', description: 'Finds.' }],
        [
          { function: 'find', description: 'Finds it.' },
          { function: 'book', description: 'Books.' },
        ],
      ),
      computer: some({ env: { REGION: 'eu' } }, { env: { REGION: 'us', TOKEN: '${A_TOKEN}' }, setup: 'echo ok' }),
      routines: some([{ ask: 'Report.', every: 'weekday at 08:00' }], [{ ask: 'Report.', every: 'day at 09:00' }]),
      tests: some(
        [{ name: 'Greets', ask: 'Hello', expect: 'It greets.' }],
        [{ name: 'Greets', ask: 'Hello', expect: ['It greets.', 'It is kind.'] }],
      ),
      webhooks: some([{ url: 'https://hooks.example.com/a', events: ['task.completed'] }]),
    }),
  });

  it('agree about every change, and the plan writes nothing [PLAN-704, PLAN-705]', async () => {
    const changes = fc.sample(anyChange, { numRuns: 20, seed: 20261117 });
    for (const { file: fields, ...options } of changes) {
      const file = JSON.parse(JSON.stringify({ name: 'walk', ...fields }));
      const before = await allRows();
      const { body: planned } = await plan(file, options);
      expect(await allRows()).toEqual(before);
      const running = await runningIn(options.mode);
      const applied: ApiResponse = await org.put(file, options);
      if (applied.status !== 200) {
        expect(planned.faults.map(({ code }: { code: string }) => code)).toContain(applied.body.error.code);
        continue;
      }
      const { changed, version, test_run, promoted, warnings } = applied.body;
      expect(planned.faults).toEqual([]);
      expect(topKeys(planned.changed)).toEqual(changed);
      expect(planned.warnings).toEqual(warnings);
      expect(planned.creates_version).toBe((await allRows()).deployment_versions !== before.deployment_versions);
      if (planned.tests_to_run.length > 0) {
        expect(test_run.results.map(({ name }: { name: string }) => name)).toEqual(planned.tests_to_run);
      }
      const isOther = (await runningIn(options.mode)) !== running;
      expect(planned.promotes).toBe(isOther || (test_run !== null && !promoted && running !== version.version));
    }
  });

  const runningIn = async (mode: Mode) => {
    const { body } = await org.call('GET', '/v1/deployments/walk');
    return (mode === 'live' ? body.live_version : body.draft_version) ?? null;
  };
});
