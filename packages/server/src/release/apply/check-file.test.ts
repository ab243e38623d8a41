import type { ErrorCode } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { reservedToolNames } from '@vestra/contract/reserved-names';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '../../platform/db/sql.ts';
import { faultsOf, type Org, rowsOf, startApply } from '../apply.fixture.ts';

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
const routine = (fields: object = {}) => ({ ask: 'Report.', every: 'day at 08:00', ...fields });
const webhook = (fields: object = {}) => ({ url: 'https://hooks.example.com/in', events: '*', ...fields });

type Case = [what: string, fields: object, code: ErrorCode, param: string];

const skill = newId('skl');
const notebook = newId('nb');
const file = newId('file');

const refused: Case[] = [
  ['no name', { name: undefined }, 'invalid_manifest', 'name'],
  ['an unknown key', { colour: 'red' }, 'invalid_manifest', 'colour'],
  ['a bad language', { language: 'english' }, 'invalid_language', 'language'],
  ['another name than the path’s', { name: 'other' }, 'name_mismatch', 'name'],
  ['an unknown level of reasoning', { reasoning: 'a lot' }, 'invalid_manifest', 'reasoning'],
  ['a model that is not listed', { model: 'gpt-none' }, 'invalid_manifest', 'model'],
  [
    'too many tools',
    { tools: Array.from({ length: 51 }, (_, at) => call({ function: `f_${at}` })) },
    'invalid_manifest',
    'tools',
  ],
  ['a function twice', { tools: [call(), mcp(), call()] }, 'duplicate_name', 'tools.2.function'],
  ['a reserved name', { tools: [call({ function: 'finish' })] }, 'tool_name_reserved', 'tools.0.function'],
  ['a server’s name', { tools: [call({ function: 'mcp__x' })] }, 'tool_name_reserved', 'tools.0.function'],
  ['an unreadable type', { tools: [call({ input: { id: 'strin' } })] }, 'invalid_tool_input', 'tools.0.input'],
  [
    'a JSON Schema that does not hold together',
    { tools: [call({ input: { type: 'object', properties: { a: { type: 'strin' } } } })] },
    'invalid_tool_input',
    'tools.0.input',
  ],
  [
    'a JSON Schema that leads elsewhere',
    { tools: [call({ input: { type: 'object', properties: { a: { $ref: 'https://a.example/b' } } } })] },
    'invalid_tool_input',
    'tools.0.input',
  ],
  ['a server twice', { tools: [mcp({ name: 'a' }), mcp({ name: 'b' })] }, 'duplicate_name', 'tools.1.mcp'],
  [
    'a server twice, spelled otherwise',
    { tools: [mcp({ name: 'a' }), mcp({ mcp: 'https://TOOLS.example.com:443/mcp', name: 'b' })] },
    'duplicate_name',
    'tools.1.mcp',
  ],
  [
    'a server’s name twice',
    { tools: [mcp({ name: 'CRM' }), mcp({ mcp: 'https://crm.example.com/mcp', name: 'CRM' })] },
    'duplicate_name',
    'tools.1.name',
  ],
  [
    'a host twice without names',
    { tools: [mcp(), mcp({ mcp: 'https://tools.example.com/other' })] },
    'duplicate_name',
    'tools.1',
  ],
  ['a private server', { tools: [mcp({ mcp: 'https://10.0.0.1/mcp' })] }, 'invalid_manifest', 'tools.0.mcp'],
  ['a server on plain http', { tools: [mcp({ mcp: 'http://a.example.com/mcp' })] }, 'invalid_manifest', 'tools.0.mcp'],
  ['a key in a URL', { tools: [mcp({ mcp: 'https://a.example.com/mcp?api_key=1' })] }, 'secret_in_url', 'tools.0.mcp'],
  ['a password in a URL', { tools: [mcp({ mcp: 'https://a:b@a.example.com/' })] }, 'secret_in_url', 'tools.0.mcp'],
  ['a raw `auth`', { tools: [mcp({ auth: 'sk-123' })] }, 'raw_secret_in_header', 'tools.0.auth'],
  [
    'a raw header',
    { tools: [mcp({ headers: { Authorization: 'Bearer sk-123' } })] },
    'raw_secret_in_header',
    'tools.0.headers.Authorization',
  ],
  [
    'two ways to authorize',
    { tools: [mcp({ auth: '${STORED}', headers: { aUTHORIZATION: 'Basic ${STORED}' } })] },
    'auth_twice',
    'tools.0.auth',
  ],
  [
    'a header in two cases',
    { tools: [mcp({ headers: { 'X-A': '1', 'x-a': '2' } })] },
    'invalid_manifest',
    'tools.0.headers.x-a',
  ],
  ['a folder of skills', { skills: './skills' }, 'path_not_resolved', 'skills'],
  ['a folder among the skills', { skills: [{ name: 'spreadsheets' }, './a'] }, 'path_not_resolved', 'skills.1'],
  ['a folder of knowledge', { knowledge: './docs' }, 'path_not_resolved', 'knowledge'],
  ['a file among the knowledge', { knowledge: ['faq.md'] }, 'path_not_resolved', 'knowledge.0'],
  ['an unknown skill', { skills: [{ id: skill }] }, 'invalid_manifest', 'skills.0.id'],
  ['an unknown built-in skill', { skills: [{ name: 'none' }] }, 'invalid_manifest', 'skills.0.name'],
  ['an unknown notebook', { knowledge: [{ notebook }] }, 'invalid_manifest', 'knowledge.0.notebook'],
  ['memory kept nowhere', { memory: 'customer' }, 'memory_endpoint_required', 'memory'],
  [
    'an unknown file',
    { computer: { files: [{ file_id: file, path: 'a' }] } },
    'invalid_manifest',
    'computer.files.0.file_id',
  ],
  [
    'a raw repo token',
    { computer: { repos: [{ url: 'a.io/b/c', token: 'x' }] } },
    'raw_secret_in_header',
    'computer.repos.0.token',
  ],
  ['a repo that runs a command', { computer: { repos: ['ext::sh -c id'] } }, 'invalid_repo', 'computer.repos.0'],
  ['a repo on this machine', { computer: { repos: ['file:///etc/passwd'] } }, 'invalid_repo', 'computer.repos.0'],
  ['a repo that is an option', { computer: { repos: ['--upload-pack=id'] } }, 'invalid_repo', 'computer.repos.0'],
  ['a repo whose host is an option', { computer: { repos: ['-a.io/b/c'] } }, 'invalid_repo', 'computer.repos.0'],
  [
    'a repo whose folder is an option',
    { computer: { repos: [{ url: 'a.io/b/--c' }] } },
    'invalid_repo',
    'computer.repos.0.url',
  ],
  ...['localhost/b/c', '127.0.0.1/b/c', 'https://metadata.google.internal/b/c', 'https://0x7f.1/b/c'].map(
    (repo): Case => [`the repo ${repo}`, { computer: { repos: [repo] } }, 'invalid_repo', 'computer.repos.0'],
  ),
  // The name of the repository would be its folder: keys, the files of the shell, the home folder itself, its parent.
  ...['.ssh', '.bashrc', '.git', '..git', '...git'].map(
    (name): Case => [
      `the repo ${name}`,
      { computer: { repos: [`a.io/b/${name}`] } },
      'invalid_repo',
      'computer.repos.0',
    ],
  ),
  [
    'a repo without a path whose name begins with a dot',
    { computer: { repos: [{ url: 'https://a.io/b/.github' }] } },
    'invalid_repo',
    'computer.repos.0.url',
  ],
  ['a repo in a private net', { computer: { repos: ['https://192.168.1.2/b/c'] } }, 'invalid_repo', 'computer.repos.0'],
  ['a repo on plain http', { computer: { repos: ['http://a.io/b/c'] } }, 'invalid_repo', 'computer.repos.0'],
  [
    'a repo above its folder',
    { computer: { repos: [{ url: 'a.io/b/c', path: '../c' }] } },
    'invalid_manifest',
    'computer.repos.0.path',
  ],
  [
    'a repo outside the home folder',
    { computer: { repos: [{ url: 'a.io/b/c', path: '/etc/c' }] } },
    'invalid_manifest',
    'computer.repos.0.path',
  ],
  [
    'a repo in the folder of ssh keys',
    { computer: { repos: [{ url: 'a.io/b/c', path: '.ssh' }] } },
    'invalid_manifest',
    'computer.repos.0.path',
  ],
  ...['.bashrc', '.git', './.git/x', '/home/agent/.ssh', '.', './', '/home/agent/'].map(
    (path): Case => [
      `a repo at ${path}`,
      { computer: { repos: [{ url: 'a.io/b/c', path }] } },
      'invalid_manifest',
      'computer.repos.0.path',
    ],
  ),
  [
    'a repo in the hooks of another',
    { computer: { repos: [{ url: 'a.io/b/c', path: 'r1/.git/hooks' }] } },
    'invalid_manifest',
    'computer.repos.0.path',
  ],
  [
    'a repo in a hidden folder of the home',
    { computer: { repos: [{ url: 'a.io/b/c', path: '/home/agent/.config/c' }] } },
    'invalid_manifest',
    'computer.repos.0.path',
  ],
  [
    'two repos of one folder',
    { computer: { repos: ['a.io/b/c', 'a.io/d/c'] } },
    'invalid_manifest',
    'computer.repos.1',
  ],
  [
    'two repos of one folder, written otherwise',
    { computer: { repos: ['a.io/b/c', { url: 'a.io/d/e', path: './c/' }] } },
    'invalid_manifest',
    'computer.repos.1',
  ],
  ['a script that only the sender has', { computer: { setup: './setup.sh' } }, 'path_not_resolved', 'computer.setup'],
  ['a script named alone', { computer: { setup: 'setup.sh' } }, 'path_not_resolved', 'computer.setup'],
  [
    'a raw credential in a variable',
    { computer: { env: { SHOP_API_KEY: 'sk-123456' } } },
    'raw_secret_in_header',
    'computer.env.SHOP_API_KEY',
  ],
  ['a secret of a variable', { computer: { env: { KEY: 'a ${LACKING}' } } }, 'secret_missing', 'computer.env.KEY'],
  [
    'a secret of a repo',
    { computer: { repos: [{ url: 'a.io/b/c', token: '${LACKING}' }] } },
    'secret_missing',
    'computer.repos.0.token',
  ],
  ['a secret of `auth`', { tools: [mcp({ auth: '${LACKING}' })] }, 'secret_missing', 'tools.0.auth'],
  [
    'a secret of a header',
    { tools: [mcp({ headers: { A: '${secret:LACKING}' } })] },
    'secret_missing',
    'tools.0.headers.A',
  ],
  ['no schedule', { routines: [routine({ every: undefined })] }, 'invalid_schedule', 'routines.0'],
  ['two schedules', { routines: [routine({ on: 'call' })] }, 'invalid_schedule', 'routines.0'],
  [
    'an unreadable schedule',
    { routines: [routine({ every: 'blue moon' })] },
    'schedule_unreadable',
    'routines.0.every',
  ],
  [
    'a schedule of six fields',
    { routines: [routine({ every: undefined, cron: '0 0 8 * * *' })] },
    'invalid_schedule',
    'routines.0.cron',
  ],
  [
    'a schedule of every minute',
    { routines: [routine({ every: '1 minutes' })] },
    'schedule_too_frequent',
    'routines.0.every',
  ],
  ['filters without a call', { routines: [routine({ filters: {} })] }, 'invalid_trigger', 'routines.0.filters'],
  ['a bad zone', { routines: [routine({ timezone: 'Mars/Base' })] }, 'invalid_user_timezone', 'routines.0.timezone'],
  [
    'a routine twice',
    { routines: [routine({ name: 'a' }), routine({ name: 'a' })] },
    'duplicate_name',
    'routines.1.name',
  ],
  [
    'a routine twice by its ask',
    { routines: [routine(), routine({ every: '30 minutes' })] },
    'duplicate_name',
    'routines.1',
  ],
  ['a test twice', { tests: [test(), test()] }, 'duplicate_name', 'tests.1.name'],
  [
    'a result of no tool',
    { tests: [test({ tool_results: { none: 1 } })] },
    'invalid_manifest',
    'tests.0.tool_results.none',
  ],
  ['an endpoint twice', { webhooks: [webhook(), webhook()] }, 'duplicate_name', 'webhooks.1.url'],
  [
    'a private endpoint',
    { webhooks: [webhook({ url: 'https://localhost/in' })] },
    'invalid_manifest',
    'webhooks.0.url',
  ],
];

describe('a file is refused with the exact code and place of its one fault [APPLY-015]', () => {
  it.each(refused)('%s', async (_what, fields, code, param) => {
    const answer = await org.put({ name: 'refused', ...fields }, { path: 'refused' });
    expect(faultsOf(answer)).toEqual([[code, param]]);
    expect(answer).toMatchObject({ status: 400, body: { error: { code, param, type: 'invalid_request' } } });
  });

  it('a skill with the name of a built-in one; a repeated reference is saved once [APPLY-123]', async () => {
    const own = await org.addNotebook('twice');
    const id = await org.addSkill('spreadsheets');
    const skills = [{ id }, { name: 'spreadsheets' }, { id }];
    expect(faultsOf(await org.put({ name: 'doubles', skills }))).toEqual([['duplicate_name', 'skills.1.name']]);
    const twice = {
      apps: ['notion', 'notion'],
      approvals: ['payment', 'payment'],
      skills: [{ id }, { id }],
      knowledge: [{ notebook: own }, { notebook: own }],
      computer: { repos: ['a.io/b/c', 'a.io/b/c'] },
    };
    const applied = await org.put({ name: 'doubles', ...twice });
    expect(applied.body.version.manifest).toMatchObject({
      apps: ['notion'],
      approvals: ['payment'],
      skills: [{ id }],
      notebooks: [own],
      environment: { repos: ['a.io/b/c'] },
    });
    const manifest = { notebooks: [own, own], skills: [{ name: 'spreadsheets' }, { id }] };
    const made = await org.call('POST', '/v1/deployments', { body: { name: 'Doubles', manifest } });
    expect(faultsOf(made)).toEqual([['duplicate_name', 'manifest.skills.1.id']]);
  });

  it('a function with the name of an own tool of the agent, but not with a similar one [TOOL-014, TOOL-015, TOOL-023]', async () => {
    const names = [...reservedToolNames];
    const answer = await org.put({ name: 'names', tools: names.map((name) => call({ function: name })) });
    expect(faultsOf(answer)).toEqual(names.map((_, at) => ['tool_name_reserved', `tools.${at}.function`]));
    const like = names.map((name) => call({ function: `${name}_order` }));
    expect((await org.put({ name: 'names', tools: like })).status).toBe(200);
  });

  it('a body that is not an object', async () => {
    for (const body of [[], 'file', 5, null]) {
      const answer = await org.call('PUT', '/v1/deployments/refused', { body });
      expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_manifest' } } });
    }
  });
});

describe('a file with every kind of mistake', () => {
  const broken = {
    name: 'elsewhere',
    colour: 'red',
    language: 'english',
    model: 'gpt-none',
    tools: [
      call({ function: 'finish', timeout_s: 4 }),
      call({ input: { id: 'strin' } }),
      call({ input: { type: 'object', required: 'id' } }),
      mcp({ auth: '${LACKING}', headers: { authorization: 'Bearer ${ALSO}' } }),
      mcp({ mcp: 'https://a:b@crm.example.com/mcp', headers: { 'X-Api-Key': 'abc' } }),
      mcp({ name: 'Again' }),
    ],
    skills: ['./skills', { id: skill }],
    knowledge: [{ notebook }, 'faq.md'],
    memory: 'customer',
    computer: {
      repos: ['ext::sh', { url: 'a.io/-b/c', token: '${ALSO}' }],
      env: { A: '${LACKING} ${STORED} ${user_secret:MINE}' },
      files: [{ file_id: file, path: '../a' }],
    },
    routines: [routine({ every: 'blue moon' }), routine({ filters: {}, every: 7 })],
    tests: [test({ expect: [] }), test({ tool_results: { find_order: 1, none: 2 } })],
    webhooks: [webhook({ url: 'https://localhost/in' })],
  };

  it('is refused with the code and place of the first, and all others in `errors` [MAN-012, APPLY-012]', async () => {
    const answer = await org.put(broken, { path: 'broken' });
    expect(answer.body.error).toMatchObject({
      code: 'invalid_language',
      param: 'language',
      names: ['ALSO', 'LACKING'],
    });
    expect(faultsOf(answer)).toEqual([
      ['invalid_language', 'language'],
      ['invalid_manifest', 'tools.0.timeout_s'],
      ['invalid_tool_input', 'tools.1.input'],
      ['invalid_repo', 'computer.repos.0'],
      ['invalid_manifest', 'routines.1.every'],
      ['invalid_manifest', 'tests.0.expect'],
      ['invalid_manifest', 'colour'],
      ['name_mismatch', 'name'],
      ['invalid_manifest', 'model'],
      ['tool_name_reserved', 'tools.0.function'],
      ['duplicate_name', 'tools.2.function'],
      ['invalid_tool_input', 'tools.2.input'],
      ['auth_twice', 'tools.3.auth'],
      ['secret_in_url', 'tools.4.mcp'],
      ['raw_secret_in_header', 'tools.4.headers.X-Api-Key'],
      ['duplicate_name', 'tools.5.mcp'],
      ['path_not_resolved', 'skills.0'],
      ['invalid_manifest', 'skills.1.id'],
      ['invalid_manifest', 'knowledge.0.notebook'],
      ['path_not_resolved', 'knowledge.1'],
      ['memory_endpoint_required', 'memory'],
      ['invalid_repo', 'computer.repos.1.url'],
      ['invalid_manifest', 'computer.files.0.path'],
      ['invalid_manifest', 'computer.files.0.file_id'],
      ['schedule_unreadable', 'routines.0.every'],
      ['invalid_trigger', 'routines.1.filters'],
      ['duplicate_name', 'routines.1'],
      ['duplicate_name', 'tests.1.name'],
      ['invalid_manifest', 'tests.1.tool_results.none'],
      ['invalid_manifest', 'webhooks.0.url'],
      ['secret_missing', 'tools.3.auth'],
      ['secret_missing', 'tools.3.headers.authorization'],
      ['secret_missing', 'computer.env.A'],
      ['secret_missing', 'computer.repos.1.token'],
    ]);
  });

  it('stores nothing [APPLY-016]', async () => {
    const lone = await server.newOrg();
    const whole = {
      name: 'broken',
      tools: [mcp()],
      tests: [test()],
      routines: [routine()],
      webhooks: [webhook()],
      memory: 'customer',
    };
    expect((await lone.put(whole)).status).toBe(400);
    expect((await lone.call('GET', '/v1/deployments')).body.data).toEqual([]);
    expect(await lone.servers()).toEqual([]);
    expect(await lone.audit()).toEqual([]);
    for (const table of ['scenarios', 'routines', 'webhook_endpoints', 'test_runs', 'deployment_versions']) {
      const [row] = await rowsOf<{ count: string }>(
        server.db,
        sql`SELECT count(*) FROM ${sql.raw(table)} WHERE org_id = ${lone.id}`,
      );
      expect(row?.count, table).toBe('0');
    }
  });

  it('reports at most a hundred', async () => {
    const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`key_${at}`, at]));
    expect((await org.put({ name: 'many', ...keys })).body.error.errors).toHaveLength(100);
  });
});
