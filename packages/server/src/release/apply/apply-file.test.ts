import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { type Org, startApply } from '../apply.fixture.ts';
import { applyFile } from './apply-file.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;

beforeAll(async () => {
  server = await startApply();
  org = await server.newOrg();
});

afterAll(() => server.stop());

const test = { name: 'Greets', ask: 'Hello?', expect: 'It greets.' };
const mcp = (fields: object = {}) => ({ mcp: 'https://tools.example.com/mcp', ...fields });
const call = { function: 'find_order', description: 'Find an order.' };

describe('the first apply of a name', () => {
  it('creates the deployment with version 1 [APPLY-001, APPLY-003, APPLY-004, APPLY-021, APPLY-023]', async () => {
    const answer = await org.put({ name: 'first', instructions: 'Be kind.', tools: [call] }, { promote: 'no' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      object: 'deployment',
      name: 'first',
      slug: 'first',
      description: '',
      status: 'active',
      draft_version: 1,
      live_version: null,
      version: {
        object: 'deployment_version',
        version: 1,
        note: null,
        changed: ['instructions', 'tools'],
        tests: null,
        is_draft: true,
        is_live: false,
        created_by: { type: 'key', name: 'test key' },
      },
      changed: ['instructions', 'tools'],
      created: true,
      promoted: false,
      became_default: false,
      test_run: null,
      webhook_secrets: [],
    });
    expect((await org.call('GET', '/v1/deployments/first')).body.id).toBe(answer.body.id);
    const again = await org.put({ name: 'first', instructions: 'Be brief.', tools: [call] }, { promote: 'no' });
    expect(again.body).toMatchObject({ created: false, draft_version: 2, changed: ['instructions'] });
  });

  it('requires only the name [DFILE-003]', async () => {
    const { body } = await org.put({ name: 'bare' });
    expect(body).toMatchObject({ created: true, changed: [], version: { version: 1 } });
    expect(body.version.manifest).toMatchObject({ approvals: ['payment', 'booking', 'cancellation'], memory: null });
  });

  it('creates one version, however many run concurrently', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => org.put({ name: 'race', instructions: 'Be kind.' })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ body }) => body.version.version)).toEqual(answers.map(() => 1));
    expect(answers.filter(({ body }) => body.created)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.changed.length > 0)).toHaveLength(1);
  });

  it('becomes the next version if the API creates the same slug concurrently', async () => {
    const [applied, created] = await Promise.all([
      org.put({ name: 'both', instructions: 'Be kind.' }),
      org.call('POST', '/v1/deployments', { body: { name: 'Both', slug: 'both' } }),
    ]);
    expect(applied.status).toBe(200);
    expect([201, 409]).toContain(created.status);
    expect(applied.body.version.version).toBe(created.status === 201 ? 2 : 1);
  });

  it('matches the slug, also if another deployment has that name', async () => {
    const named = await org.call('POST', '/v1/deployments', { body: { name: 'named', slug: 'named-eu' } });
    const applied = await org.put({ name: 'named' });
    expect(applied.body).toMatchObject({ created: true, slug: 'named' });
    expect(applied.body.id).not.toBe(named.body.id);
  });
});

describe('the name in the path', () => {
  it('must be that of the file [APPLY-005]', async () => {
    const answer = await org.put({ name: 'one' }, { path: 'two' });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'name_mismatch', param: 'name' } } });
    for (const path of ['one@1', 'One']) expect((await org.put({ name: 'one' }, { path })).status).toBe(400);
  });

  it('can be the id of the deployment with that slug [APPLY-033]', async () => {
    const { body } = await org.put({ name: 'by-id' });
    const again = await org.put({ name: 'by-id', model: 'offline' }, { path: body.id });
    expect(again.body).toMatchObject({ id: body.id, changed: ['model'] });
    const other = await org.put({ name: 'other' }, { path: body.id });
    expect(other.body.error).toMatchObject({ code: 'name_mismatch', param: 'name' });
  });

  it('answers 404 for an unknown id and for one of another org', async () => {
    expect((await org.put({ name: 'nobody' }, { path: newId('dep') })).body.error.code).toBe('deployment_not_found');
    const theirs = await (await server.newOrg()).put({ name: 'theirs' });
    expect((await org.put({ name: 'theirs' }, { path: theirs.body.id })).body.error.code).toBe('deployment_not_found');
  });

  it('accepts no other value for `promote` [APPLY-002]', async () => {
    expect((await org.put({ name: 'wish' }, { promote: 'later' })).body.error).toMatchObject({
      code: 'invalid_query',
      param: 'promote',
    });
    for (const promote of ['', 'after_tests', 'now', 'no']) {
      expect((await org.put({ name: 'wish' }, { promote })).status).toBe(200);
    }
  });
});

it('warns about apps that the server does not have, and accepts them [APPLY-125]', async () => {
  const file = { name: 'apps', apps: ['notion', 'no-such-app'] };
  const warnings = [{ param: 'apps.1', message: expect.stringContaining('no-such-app') }];
  expect((await org.put(file)).body).toMatchObject({ created: true, warnings });
  expect((await org.put(file)).body).toMatchObject({ changed: [], warnings });
  expect((await org.put({ name: 'apps', apps: 'all' })).body.warnings).toEqual([]);
});

describe('a file that changes nothing', () => {
  const file = (fields: object = {}) => ({
    name: 'same',
    instructions: 'Be kind.',
    tools: [call, mcp({ mcp: 'https://same.example.com/mcp', name: 'Same', headers: { 'X-Region': 'eu' } })],
    tests: [test],
    ...fields,
  });

  it('saves no version and returns `changed: []`, whatever its notation [VER-016, VER-028]', async () => {
    const first = await org.put(file());
    const { name, ...rest } = file();
    const written = {
      $schema: 'https://a.example/s.json',
      ...rest,
      model: 'default',
      tests: [{ ...test, expect: [test.expect] }],
      name,
    };
    const again = await org.put(written);
    expect(again.body).toMatchObject({ changed: [], created: false, draft_version: 1, promoted: false });
    expect(again.body.test_run.id).toBe(first.body.test_run.id);
    expect(again.body.version).toEqual({
      ...first.body.version,
      tests: { run_id: first.body.test_run.id, status: 'queued' },
    });
    expect(again.body.updated_at).toBe(first.body.updated_at);
  });

  it('writes nothing and locks no row', async () => {
    await org.put(file());
    const answer = await transaction(server.db, async (tx) => {
      await run(tx, sql`SET TRANSACTION READ ONLY`);
      return applyFile(tx, server.dependencies, { ...org.as('test'), reference: 'same', body: file(), promote: 'now' });
    });
    expect(answer).toMatchObject({ changed: [], draft_version: 1, promoted: true });
  });

  it('does not wait for a concurrent apply', async () => {
    await org.put(file());
    const other = await server.db.$client.connect();
    try {
      await other.query('BEGIN');
      await other.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`vestra apply ${org.id}`]);
      await other.query('SELECT 1 FROM deployments WHERE org_id = $1 FOR UPDATE', [org.id]);
      expect((await org.put(file())).body.changed).toEqual([]);
    } finally {
      await other.query('ROLLBACK');
      other.release();
    }
  });

  it('is compared with the newest version, not with the live or the draft one [VER-027]', async () => {
    await org.put({ name: 'compared', instructions: 'One.' }, { mode: 'live', promote: 'now' });
    await org.put({ name: 'compared', instructions: 'Two.' }, { promote: 'no' });
    await org.call('POST', '/v1/deployments/compared/promote', { body: { version: 1 } });
    const two = await org.put({ name: 'compared', instructions: 'Two.' }, { promote: 'no' });
    expect(two.body).toMatchObject({ changed: [], draft_version: 1, live_version: 1, version: { version: 2 } });
    const one = await org.put({ name: 'compared', instructions: 'One.' }, { promote: 'no' });
    expect(one.body).toMatchObject({ changed: ['instructions'], draft_version: 3, version: { version: 3 } });
  });

  it('is the YAML of its own version [DEP-018, VER-016]', async () => {
    await org.storeSecret('CRM');
    const whole = {
      name: 'whole',
      instructions: 'Be kind.\n\nBe brief.',
      language: 'no',
      apps: [],
      tools: [
        { function: 'b', description: 'B: no.', input: { on: 'string?', size: 's|m' }, read_only: true },
        mcp({ mcp: 'https://whole.example.com', auth: '${CRM}', headers: { 'X-Region': 'eu' }, deny: ['drop'] }),
        { function: 'a', description: 'A.', timeout_s: 5 },
      ],
      skills: [{ id: await org.addSkill('whole') }],
      knowledge: [{ notebook: await org.addNotebook('whole') }],
      computer: { setup: 'apt update\n', repos: ['github.com/a/b'], env: { A: '${CRM}' } },
      routines: [{ ask: 'Report.', on: 'call', filters: { on: true } }],
      limits: { per_task_usd: 0.5 },
      tests: [{ ...test, tool_results: { a: [1, null, { yes: 'no' }] } }],
      webhooks: [{ url: 'https://hooks.example.com/whole', events: ['task.failed'] }],
    };
    await org.put(whole, { promote: 'no' });
    const { text, headers } = await org.call('GET', '/v1/deployments/whole?format=yaml');
    expect(headers.get('content-type')).toContain('application/yaml');
    const again = await org.put(parse(text), { promote: 'no' });
    expect(again.body).toMatchObject({ changed: [], draft_version: 1 });
  });
});

describe('a file that changes something', () => {
  it('saves one version and moves the draft, whatever `promote` says [VER-015, VER-020, VER-025]', async () => {
    await org.put({ name: 'moves', instructions: 'One.' }, { promote: 'no' });
    const { body } = await org.put({ name: 'moves', instructions: 'Two.', webhooks: [] }, { promote: 'no' });
    expect(body).toMatchObject({ draft_version: 2, live_version: null, promoted: false, changed: ['instructions'] });
    expect(body.version).toMatchObject({ version: 2, changed: ['instructions'], is_draft: true });
  });

  it('lists the keys of the file, and the version those of its manifest [APPLY-022, VER-003]', async () => {
    await org.put({ name: 'keys' }, { promote: 'no' });
    const changes = {
      tools: [mcp({ mcp: 'https://keys.example.com/mcp', deny: ['a'] })],
      knowledge: [{ notebook: await org.addNotebook('keys') }],
      computer: { env: { A: 'b' } },
      tests: [test],
    };
    const { body } = await org.put({ name: 'keys', ...changes }, { promote: 'no' });
    expect(body.changed).toEqual(['tools', 'knowledge', 'computer', 'tests']);
    expect(body.version.changed).toEqual(['mcp_servers', 'mcp_tool_policy', 'notebooks', 'environment', 'tests']);
  });

  it('is saved once, however many send it concurrently', async () => {
    await org.put({ name: 'parallel', instructions: 'One.' });
    const two = { name: 'parallel', instructions: 'Two.', tools: [mcp({ mcp: 'https://parallel.example.com/mcp' })] };
    const answers = await Promise.all(Array.from({ length: 8 }, () => org.put(two)));
    expect(answers.map(({ body }) => body.version.version)).toEqual(answers.map(() => 2));
    expect(answers.filter(({ body }) => body.changed.length > 0)).toHaveLength(1);
    expect((await org.servers()).filter(({ url }) => url.includes('parallel'))).toHaveLength(1);
  });

  it('becomes one version for each of several concurrent files, and the draft is the last', async () => {
    await org.put({ name: 'files' });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) => org.put({ name: 'files', instructions: `File ${at}.` }, { promote: 'no' })),
    );
    expect(answers.map(({ body }) => body.version.version).sort()).toEqual([2, 3, 4, 5, 6, 7]);
    expect((await org.call('GET', '/v1/deployments/files')).body.draft_version).toBe(7);
  });

  it('is refused for an archived deployment, changed or not [DEP-029, VER-035]', async () => {
    await org.put({ name: 'away' });
    await org.call('POST', '/v1/deployments/away/archive');
    for (const file of [{ name: 'away' }, { name: 'away', instructions: 'New.' }]) {
      expect(await org.put(file)).toMatchObject({ status: 409, body: { error: { code: 'deployment_archived' } } });
    }
    expect((await org.put({ name: 'away', model: 'none' })).body.error.code).toBe('invalid_manifest');
  });

  it('is audited, and a file that changes nothing is not', async () => {
    const own = await server.newOrg();
    await own.put({ name: 'audited', tools: [mcp()] }, { promote: 'no' });
    await own.put({ name: 'audited', tools: [mcp()] }, { promote: 'no' });
    await own.put({ name: 'audited' }, { promote: 'now' });
    expect(await own.audit()).toEqual([
      'mcp_server.created',
      'deployment.created',
      'deployment.applied',
      'deployment.promoted',
    ]);
  });
});

describe('a file that names the version it was written from', () => {
  const file = (instructions: string, name = 'named-version') => ({ name, instructions });
  const put = (given: ReturnType<typeof file>, expected: number | string) =>
    org.put(given, { path: `${given.name}?expected_version=${expected}` });

  it('is refused if another is the newest, and of several concurrent ones one is saved [CON-262]', async () => {
    expect((await put(file('One.'), 0)).body).toMatchObject({ created: true, newest_version: 1 });
    const answers = await Promise.all(['Two.', 'Three.', 'Four.'].map((instructions) => put(file(instructions), 1)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const refused = answers.find(({ status }) => status === 409);
    expect(refused?.body.error).toMatchObject({ code: 'deployment_changed', param: 'expected_version' });
    expect((await org.call('GET', '/v1/deployments/named-version')).body.newest_version).toBe(2);
    expect((await put(file('Five.'), 0)).body.error.code).toBe('deployment_changed');
  });

  it('is accepted if it equals the saved version, so a lost response can be requested again [CON-262]', async () => {
    const lost = file('One.', 'lost');
    await put(lost, 0);
    expect((await put(lost, 0)).body).toMatchObject({ changed: [], newest_version: 1 });
    expect((await put(lost, '01')).body.error.code).toBe('invalid_query');
  });
});

describe('tests of a file', () => {
  it('become scenarios, and are deleted when a file drops them [APPLY-009, APPLY-029, SCN-020, SCN-021, SCN-022, SCN-023, SCN-025]', async () => {
    const tests = [
      { ...test, expect: ['It greets.', 'It is kind.'], never: 'It shouts.', tool_results: { find_order: 1 } },
      { ...test, name: 'Leaves', persona: 'Somebody in a hurry.' },
    ];
    await org.put({ name: 'tested', tools: [call], tests }, { promote: 'no' });
    const byHand = { name: 'By hand', persona: 'Anybody.', goal: 'Hello?', success_criteria: ['It greets.'] };
    await org.call('POST', '/v1/deployments/tested/scenarios', { body: byHand });
    const scenarios = async () => (await org.call('GET', '/v1/deployments/tested/scenarios')).body.data.toReversed();
    const before = await scenarios();
    expect(before).toMatchObject([
      {
        managed_by: 'file',
        name: 'Greets',
        persona: 'A person who uses this agent for the first time.',
        goal: 'Hello?',
        success_criteria: ['It greets.', 'It is kind.'],
        must_never: ['It shouts.'],
        tool_results: { find_order: 1 },
      },
      {
        managed_by: 'file',
        name: 'Leaves',
        persona: 'Somebody in a hurry.',
        goal: 'Hello?',
        success_criteria: ['It greets.'],
        must_never: [],
      },
      { managed_by: null, name: 'By hand' },
    ]);
    await org.put({ name: 'tested', tools: [call], tests: [{ ...test, ask: 'Hi?' }] }, { promote: 'no' });
    const after = await scenarios();
    expect(after.map(({ id }: { id: string }) => id)).toEqual([before[0].id, before[2].id]);
    expect(after[0]).toMatchObject({ name: 'Greets', goal: 'Hi?', must_never: [] });
  });
});
