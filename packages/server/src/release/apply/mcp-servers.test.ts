import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultsOf, type Org, startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
let org: Org;

beforeAll(async () => {
  server = await startApply();
});

afterAll(() => server.stop());

/** Each test gets separate servers. */
const fresh = async () => {
  org = await server.newOrg();
  for (const name of ['ONE', 'TWO']) await org.storeSecret(name);
};

const url = 'https://tools.example.com/mcp';
const file = (name: string, ...entries: object[]) => ({ name, tools: entries });
const only = async () => {
  const servers = await org.servers();
  expect(servers).toHaveLength(1);
  return servers[0] as (typeof servers)[number];
};

describe('a server that a file names', () => {
  it('is registered by its URL, under the name of the file or of its host [APPLY-006, TOOL-002, MAN-005]', async () => {
    await fresh();
    const { body } = await org.put(
      file(
        'shop',
        { mcp: url, name: 'Sales CRM' },
        { mcp: 'https://9to5.example.com:8443' },
        { mcp: 'https://os.example.com/', name: 'OS hands' },
      ),
    );
    const servers = await org.servers();
    expect(servers.map(({ slug, name, url: at, headers, deny }) => [slug, name, at, headers, deny])).toEqual([
      ['sales-crm', 'Sales CRM', url, {}, []],
      ['to5-example-com-8443', '9to5.example.com:8443', 'https://9to5.example.com:8443', {}, []],
      ['os-hands-server', 'OS hands', 'https://os.example.com/', {}, []],
    ]);
    expect(body.version.manifest.mcp_servers).toEqual(servers.map(({ id, slug, url: at }) => ({ id, slug, url: at })));
  });

  it('is found by its URL in any spelling and not registered twice [APPLY-007]', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, name: 'CRM', auth: '${ONE}' }));
    const before = await only();
    const { body } = await org.put(file('desk', { mcp: 'https://TOOLS.example.com:443/mcp' }));
    expect(body.version.manifest.mcp_servers).toEqual([{ id: before.id, slug: 'crm', url }]);
    expect(await only()).toEqual(before);
    expect((await org.put(file('shop', { mcp: url, name: 'CRM', auth: '${secret:ONE}' }))).body.changed).toEqual([]);
  });

  it('is the same server with and without a fragment, which no request carries [DFILE-703]', async () => {
    await fresh();
    await org.put(file('shop', { mcp: `${url}#a` }));
    const before = await only();
    await org.put(file('desk', { mcp: url }));
    expect(await only()).toEqual(before);
    const twice = await org.put(file('both', { mcp: `${url}#b` }, { mcp: `${url}#c` }));
    expect(faultsOf(twice)).toEqual([['duplicate_name', 'tools.1.mcp']]);
  });

  it('is registered once by concurrent files', async () => {
    await fresh();
    const names = Array.from({ length: 6 }, (_, at) => `file-${at}`);
    const answers = await Promise.all(names.map((name) => org.put(file(name, { mcp: url }))));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    await only();
  });

  it('gets a free slug', async () => {
    await fresh();
    for (const at of [1, 2, 3]) await org.put(file('shop', { mcp: `https://a${at}.example.com/`, name: 'CRM' }));
    expect((await org.servers()).map(({ slug }) => slug)).toEqual(['crm', 'crm-2', 'crm-3']);
  });

  it('shows `auth` as a bearer token by reference [TOOL-029]', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, auth: '${ONE}', headers: { 'X-Trace': 'a-${TWO}-${user_secret:MINE}' } }));
    expect((await only()).headers).toEqual({
      'X-Trace': 'a-${secret:TWO}-${user_secret:MINE}',
      Authorization: 'Bearer ${secret:ONE}',
    });
  });

  it('keeps its policy in the version and its floor to itself [APPLY-008, MAN-006]', async () => {
    await fresh();
    const lists = { deny: ['drop'], require_approval: ['pay'], run_without_asking: ['note'], approver: 'org' };
    const first = await org.put(file('shop', { mcp: url, name: 'CRM', ...lists }));
    const second = await org.put(file('shop', { mcp: url, name: 'CRM' }));
    expect(first.body.version.manifest.mcp_tool_policy).toEqual({ crm: lists });
    expect(second.body).toMatchObject({ changed: ['tools'], version: { manifest: { mcp_tool_policy: {} } } });
    expect(await only()).toMatchObject({ deny: [], require_approval: [] });
  });

  it('keeps `allow` and `run_without_asking: all` in the version and in its file [MCPS-721, MCPS-723]', async () => {
    await fresh();
    const given = { allow: ['find', 'pay'], run_without_asking: 'all' };
    const { body } = await org.put(file('shop', { mcp: url, name: 'CRM', ...given }));
    expect(body.version.manifest.mcp_tool_policy.crm).toMatchObject(given);
    expect((await org.put(file('shop', { mcp: url, name: 'CRM', ...given }))).body.changed).toEqual([]);
    const without = await org.put(file('shop', { mcp: url, name: 'CRM', run_without_asking: 'all' }));
    expect(without.body.changed).toEqual(['tools']);
    expect(without.body.version.manifest.mcp_tool_policy.crm).not.toHaveProperty('allow');
  });

  it('is not registered if the file is refused', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, auth: '${ONE}' }));
    await org.put(file('desk', { mcp: url }));
    const answer = await org.put(file('desk', { mcp: 'https://new.example.com/' }, { mcp: url, auth: '${TWO}' }));
    expect(answer.body.error.code).toBe('mcp_server_shared');
    await only();
  });
});

describe('headers that a file changes', () => {
  it('change the server and save a new version', async () => {
    await fresh();
    const { body: first } = await org.put(file('shop', { mcp: url, auth: '${ONE}' }));
    const { body } = await org.put(file('shop', { mcp: url, auth: '${TWO}' }));
    expect(body).toMatchObject({ changed: ['tools'], draft_version: 2, version: { changed: ['mcp_servers'] } });
    expect(body.version.manifest).toEqual(first.version.manifest);
    expect((await only()).headers).toEqual({ Authorization: 'Bearer ${secret:TWO}' });
    expect(
      (await org.put(file('shop', { mcp: url, headers: { authorization: 'Bearer ${TWO}' } }))).body.changed,
    ).toEqual([]);
  });

  it('stay if another file set them and this one gives none, and are removed by an empty map', async () => {
    await fresh();
    await org.put(file('first', { mcp: url, auth: '${ONE}' }));
    await org.put(file('shop', { mcp: url }));
    await org.call('POST', '/v1/deployments/first/archive');
    expect((await org.put(file('shop', { mcp: url }))).body.changed).toEqual([]);
    expect((await only()).headers).toEqual({ Authorization: 'Bearer ${secret:ONE}' });
    expect((await org.put(file('shop', { mcp: url, headers: {} }))).body.changed).toEqual(['tools']);
    expect((await only()).headers).toEqual({});
  });

  it('require the secrets of the server also if the file gives none', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, auth: '${ONE}' }));
    const answer = await org.put(file('desk', { mcp: url }), { mode: 'live' });
    expect(faultsOf(answer)).toEqual([['secret_missing', 'tools.0.mcp']]);
    expect(answer.body.error.names).toEqual(['ONE']);
  });

  it('are refused while other deployments run the server [APPLY-013]', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, auth: '${ONE}' }));
    await org.put(file('desk', { mcp: url }));
    await org.put(file('hall', { mcp: url }));
    const answer = await org.put(file('shop', { mcp: url, auth: '${TWO}' }));
    expect(answer).toMatchObject({
      status: 409,
      body: { error: { code: 'mcp_server_shared', param: 'tools.0.auth', deployments: ['desk', 'hall'] } },
    });
    expect((await only()).headers).toEqual({ Authorization: 'Bearer ${secret:ONE}' });
    expect((await org.call('GET', '/v1/deployments/shop')).body.draft_version).toBe(1);
    await org.put(file('desk'));
    await org.call('POST', '/v1/deployments/hall/archive');
    expect((await org.put(file('shop', { mcp: url, auth: '${TWO}' }))).status).toBe(200);
  });

  it('are refused with a test key while a live version uses the server', async () => {
    await fresh();
    await org.storeSecret('ONE', 'live');
    await org.storeSecret('TWO', 'live');
    await org.put(file('shop', { mcp: url, auth: '${ONE}' }), { mode: 'live', promote: 'now' });
    const refused = await org.put(file('shop', { mcp: url, auth: '${TWO}' }));
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'mcp_server_live', param: 'tools.0.auth' } } });
    const changed = await org.put(file('shop', { mcp: url, auth: '${TWO}' }), { mode: 'live' });
    expect(changed.body.changed).toEqual(['tools']);
    expect((await org.put(file('shop', { mcp: url, auth: '${TWO}', deny: ['drop'] }))).body.changed).toEqual(['tools']);
  });
});

describe('another name for a server', () => {
  it('renames the server and keeps its slug', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, name: 'CRM' }));
    expect((await org.put(file('shop', { mcp: url, name: 'Sales' }))).body.changed).toEqual(['tools']);
    expect(await only()).toMatchObject({ name: 'Sales', slug: 'crm' });
    expect((await org.put(file('shop', { mcp: url, name: 'Sales', deny: ['drop'] }))).body.changed).toEqual(['tools']);
    expect(await only()).toMatchObject({ name: 'Sales', slug: 'crm' });
  });

  it('changes nothing while other deployments use the server', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, name: 'CRM' }));
    expect((await org.put(file('desk', { mcp: url, name: 'Sales' }))).status).toBe(200);
    expect((await org.put(file('desk', { mcp: url, name: 'Sales' }))).body.changed).toEqual([]);
    expect(await only()).toMatchObject({ name: 'CRM' });
  });
});

describe('a manifest sent to create', () => {
  const create = (manifest: object) => org.call('POST', '/v1/deployments', { body: { name: 'Made', manifest } });

  it('names its servers by id and shows them with slug and URL', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, name: 'CRM', auth: '${ONE}' }));
    const { id } = await only();
    const { body } = await create({ mcp_servers: [{ id }], mcp_tool_policy: { crm: { deny: ['drop'] } } });
    const version = await org.call('GET', `/v1/deployments/${body.id}/versions/1`);
    expect(version.body.manifest.mcp_servers).toEqual([{ id, slug: 'crm', url }]);
    expect((await org.put(file('made', { mcp: url, deny: ['drop'] }))).body.changed).toEqual([]);
  });

  it('is checked like a file, with every fault under `manifest` [MAN-003, MAN-013, MAN-014, MAN-012]', async () => {
    await fresh();
    await org.put(file('shop', { mcp: url, name: 'CRM', auth: '${user_secret:MINE}' }));
    const { id } = await only();
    const answer = await create({
      model: 'none',
      mcp_servers: [{ id }, { id: newId('mcp') }, { id }],
      mcp_tool_policy: { crm: {}, mail: {} },
      tools: [{ function: 'finish', description: 'Ends.' }],
      skills: [{ name: 'none' }],
      notebooks: [`nb_${'0'.repeat(24)}`],
      memory: 'customer',
      environment: { repos: ['https://10.0.0.1/a/b'], env: { A: '${LACKING}' } },
    });
    expect(faultsOf(answer)).toEqual([
      ['invalid_manifest', 'manifest.model'],
      ['invalid_manifest', 'manifest.mcp_servers.1.id'],
      ['duplicate_name', 'manifest.mcp_servers.2.id'],
      ['mcp_server_not_listed', 'manifest.mcp_tool_policy.mail'],
      ['tool_name_reserved', 'manifest.tools.0.function'],
      ['invalid_manifest', 'manifest.skills.0.name'],
      ['invalid_manifest', 'manifest.notebooks.0'],
      ['memory_endpoint_required', 'manifest.memory'],
      ['invalid_repo', 'manifest.environment.repos.0'],
      ['secret_missing', 'manifest.environment.env.A'],
    ]);
    expect(answer.body.error.names).toEqual(['LACKING']);
  });
});

describe('a line that is removed from the file', () => {
  const removed = 'https://removed.example.com/mcp';
  const put = (name: string, entry: object, mode: 'test' | 'live' = 'test') =>
    org.put({ name, tools: [{ mcp: removed, ...entry }] }, { mode, promote: 'now' });
  const registered = async () => (await org.servers()).find((each) => each.url === removed);

  it('is removed from the tool server that the file set before [PLAN-706]', async () => {
    await org.storeSecret('GONE');
    const declared = { name: 'Removed', auth: '${GONE}', headers: { 'X-Region': 'eu' } };
    expect((await put('removing', declared)).body.warnings).toEqual([]);
    const without = await put('removing', {});
    expect(without.body).toMatchObject({ changed: ['tools'], warnings: [], version: { version: 2 } });
    expect(await registered()).toMatchObject({ name: 'removed.example.com', headers: {} });
    expect((await put('removing', {})).body).toMatchObject({ changed: [], warnings: [], version: { version: 2 } });
  });

  it('stays with a warning if another deployment uses the server, as does a new name [PLAN-706, PLAN-707]', async () => {
    expect((await put('removing', { auth: '${GONE}' })).status).toBe(200);
    const second = await put('second', { auth: '${GONE}', name: 'Other' });
    const used = 'because other deployments use it:';
    const slug = 'removed';
    expect(second.body.warnings).toEqual([
      { param: 'tools.0.name', message: `\`${slug}\` is not renamed, ${used} removing.` },
    ]);
    const without = await put('removing', {});
    expect(without.body).toMatchObject({
      changed: [],
      warnings: [{ param: 'tools.0', message: `\`${slug}\` is still called with \`Authorization\`, ${used} second.` }],
    });
    expect((await registered())?.headers).toEqual({ Authorization: 'Bearer ${secret:GONE}' });
  });

  it('is reported if the headers were registered elsewhere [PLAN-706]', async () => {
    const third = await put('third', {});
    expect(third.body.warnings).toEqual([
      {
        param: 'tools.0',
        message: '`removed` is called with `Authorization`, as it is registered. Write `headers: {}` to send none.',
      },
    ]);
  });
});
