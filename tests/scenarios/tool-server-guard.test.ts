import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { startTalk, type Talk } from './conversations.fixture.ts';
import { isOver } from './test-runs.fixture.ts';

/** A test key must never decide where a live credential is sent, nor which one. */
let talk: Talk;
let name: string;
let at = 0;
beforeAll(async () => {
  talk = await startTalk();
  for (const [key, mode] of [
    [talk.liveKey, 'live'],
    [talk.testKey, 'test'],
  ] as const) {
    for (const secret of ['A_TOK', 'B_TOK']) {
      await talk.call('PUT', `/v1/secrets/${secret}`, { key, body: { value: `${secret}-of-${mode}` } });
    }
  }
});
afterAll(() => talk.stop());

/** An MCP server that notes each credential that reaches it. */
async function vendor() {
  const credentials = new Set<string>();
  const served = await serveMcp('2025 with sessions', [tool('find', { annotations: { readOnlyHint: true } })], {
    call: () => ({ content: [{ type: 'text', text: 'found' }] }),
    authorize(request) {
      credentials.add(request.headers.get('authorization') ?? '');
      return true;
    },
  });
  return { url: served.url, heard: () => [...credentials].sort(), forget: () => credentials.clear() };
}

type Vendor = Awaited<ReturnType<typeof vendor>>;
let good: Vendor;
let evil: Vendor;
beforeEach(async () => {
  at += 1;
  name = `guarded-${at}`;
  good = await vendor();
  evil = await vendor();
  const slug = `mcp__${name}__find`;
  talk.script(({ tools, messages }) =>
    messages.at(-1)?.role === 'tool' || !tools.some((each) => each.name === slug)
      ? { text: tools.some((each) => each.name === slug) ? 'Done.' : 'No tools.' }
      : { calls: [{ name: slug, arguments: {} }] },
  );
});

const file = (more: object = {}) => ({ name, memory: 'none', ...more });
const withServer = (entry: object = {}) => file({ tools: [{ mcp: good.url, name, auth: '${A_TOK}', ...entry }] });
const put = (body: object, key = talk.liveKey, promote = 'now') =>
  talk.call('PUT', `/v1/deployments/${name}?promote=${promote}`, { key, body });
const post = (what: string, key = talk.liveKey, body?: object) =>
  talk.call('POST', `/v1/deployments/${name}/${what}`, { key, ...(body && { body }) });
const serverId = async (): Promise<string> =>
  (await talk.call('GET', '/v1/mcp-servers?limit=100')).body.data.find(({ slug }: { slug: string }) => slug === name)
    .id;
const patch = (id: string, body: object, key = talk.testKey) =>
  talk.call('PATCH', `/v1/mcp-servers/${id}`, { key, body });
const remove = (id: string, key = talk.testKey) => talk.call('DELETE', `/v1/mcp-servers/${id}`, { key });
const versionOf = async (version: number) =>
  (await talk.call('GET', `/v1/deployments/${name}/versions/${version}`)).body;
const codeOf = ({ status, body }: { status: number; body: { error?: { code: string; names?: string[] } } }) => [
  status,
  body.error?.code,
];
async function ask(key: string, deployment = name): Promise<string> {
  const { id } = await talk.begin({ deployment }, key);
  return (await talk.tell(id, 'Find it.', key)).reply.text;
}

const changes = () => [
  { url: evil.url },
  { auth: { type: 'headers', headers: { Authorization: 'Bearer ${secret:B_TOK}' } } },
  { auth: { type: 'none' } },
  { tools: { deny: ['find'] } },
  { tools: { require_approval: ['find'] } },
  { sampling: true },
  { name: 'Other' },
];

async function expectLocked(id: string): Promise<void> {
  for (const body of changes()) {
    const answer = await patch(id, body);
    expect([body, ...codeOf(answer), answer.body.error.deployments]).toEqual([body, 409, 'mcp_server_live', [name]]);
  }
  expect(codeOf(await remove(id))).toEqual([409, 'mcp_server_live']);
  const applied = await put(withServer({ auth: '${B_TOK}' }), talk.testKey);
  expect([...codeOf(applied), applied.body.error.param]).toEqual([409, 'mcp_server_live', 'tools.0.auth']);
  expect(codeOf(await put(withServer({ headers: { 'X-Region': 'eu' }, auth: undefined }), talk.testKey))).toEqual([
    409,
    'mcp_server_live',
  ]);
}

describe('a server of a version that can be rolled back to', () => {
  it('is not changed or deleted with a test key, and the rollback sends the credential to the same address [MCPS-620]', async () => {
    await put(withServer());
    const id = await serverId();
    await expectLocked(id);
    await put(file({ instructions: 'Two.' }));
    await expectLocked(id);
    // A server of the same address that a test key registers does not take its place.
    await talk.call('POST', '/v1/mcp-servers', {
      key: talk.testKey,
      body: { name: 'Twin', slug: `${name}-twin`, url: good.url, auth: { type: 'none' } },
    });
    expect((await post('rollback')).body.live_version).toBe(1);
    expect([await ask(talk.liveKey), good.heard(), evil.heard()]).toEqual(['Done.', ['Bearer A_TOK-of-live'], []]);
    good.forget();
    expect([await ask(talk.testKey, `${name}@1`), good.heard()]).toEqual(['Done.', ['Bearer A_TOK-of-test']]);
  });

  it('is guarded while its deployment is archived, and free once no version relies on it [MCPS-620]', async () => {
    await put(withServer());
    const id = await serverId();
    await put(file());
    await post('archive');
    const refused = await patch(id, { url: evil.url });
    expect(codeOf(refused)).toEqual([409, 'mcp_server_live']);
    await post('unarchive');
    await post('rollback');
    // Rolled back past: version 2 has left the stack, and a server that only it used would be free.
    const other = `${name}-b`;
    await put(file({ tools: [{ mcp: evil.url, name: other }] }));
    await post('rollback');
    const { data } = (await talk.call('GET', '/v1/mcp-servers?limit=100')).body;
    const free = data.find(({ slug }: { slug: string }) => slug === other).id;
    expect((await patch(free, { sampling: true })).status).toBe(200);
    expect((await remove(free)).status).toBe(200);
  });
});

describe('a version calls a server only at the URL and with the headers that it fixed', () => {
  it('so a server that a test key moves is called where the version says [MCPS-622]', async () => {
    await put(withServer(), talk.testKey);
    const id = await serverId();
    const headers = { Authorization: 'Bearer ${secret:B_TOK}' };
    expect((await patch(id, { url: evil.url, auth: { type: 'headers', headers } })).status).toBe(200);
    // Test traffic at the draft follows the change, with the credential of its own mode.
    expect([await ask(talk.testKey), evil.heard()]).toEqual(['Done.', ['Bearer B_TOK-of-test']]);
    evil.forget();
    good.forget();
    // A named version is promoted as it was saved, with its URL and its credential.
    expect((await post('promote', talk.liveKey, { version: 1 })).body.live_version).toBe(1);
    expect([await ask(talk.liveKey), good.heard(), evil.heard()]).toEqual(['Done.', ['Bearer A_TOK-of-live'], []]);
    // Without a number the newest state is meant: it is a version that shows the URL.
    const promoted = await post('promote');
    expect(promoted.body.version).toMatchObject({ version: 2, changed: ['mcp_servers'] });
    expect((await versionOf(2)).manifest.mcp_servers).toMatchObject([{ id, url: evil.url }]);
    expect([await ask(talk.liveKey), evil.heard()]).toEqual(['Done.', ['Bearer B_TOK-of-live']]);
  });

  it('and what a live key changes is live at once as a new version, which a rollback leaves [MCPS-623, VER-700]', async () => {
    await put(withServer());
    const id = await serverId();
    // Applying the file listed the tools.
    good.forget();
    expect((await patch(id, { url: evil.url }, talk.liveKey)).status).toBe(200);
    expect(await versionOf(2)).toMatchObject({
      is_live: true,
      changed: ['mcp_servers'],
      manifest: { mcp_servers: [{ id, url: evil.url }] },
    });
    expect([await ask(talk.liveKey), evil.heard()]).toEqual(['Done.', ['Bearer A_TOK-of-live']]);
    const headers = { Authorization: 'Bearer ${secret:B_TOK}' };
    expect((await patch(id, { auth: { type: 'headers', headers } }, talk.liveKey)).status).toBe(200);
    expect(await versionOf(3)).toMatchObject({ is_live: true, changed: ['mcp_servers'] });
    evil.forget();
    expect([await ask(talk.liveKey), evil.heard()]).toEqual(['Done.', ['Bearer B_TOK-of-live']]);
    expect(good.heard()).toEqual([]);
    for (const _ of [2, 1]) expect((await post('rollback')).status).toBe(200);
    expect([await ask(talk.liveKey), good.heard()]).toEqual(['Done.', ['Bearer A_TOK-of-live']]);
  });

  it('also if a test key changes it during a promotion [MCPS-620, MCPS-622]', async () => {
    for (let round = 0; round < 6; round += 1) {
      const own = `${name}-${round}`;
      const body = { ...withServer(), name: own };
      const url = `${good.url}?round=${round}`;
      await talk.call('PUT', `/v1/deployments/${own}?promote=no`, {
        key: talk.testKey,
        body: { ...body, tools: [{ mcp: url, name: own, auth: '${A_TOK}' }] },
      });
      const { data } = (await talk.call('GET', '/v1/mcp-servers?limit=100')).body;
      const { id } = data.find(({ slug }: { slug: string }) => slug === own);
      const headers = { Authorization: 'Bearer ${secret:B_TOK}' };
      const [promoted, moved] = await Promise.all([
        talk.call('POST', `/v1/deployments/${own}/promote`, { key: talk.liveKey, body: { version: 1 } }),
        patch(id, { url: evil.url, auth: { type: 'headers', headers } }),
      ]);
      // If the promotion came first, the change was refused. If not, the version still calls the URL that it fixed.
      expect(promoted.status).toBe(200);
      expect([200, 409]).toContain(moved.status);
      good.forget();
      const { id: conversation } = await talk.begin({ deployment: own }, talk.liveKey);
      await talk.tell(conversation, 'Find it.', talk.liveKey);
      expect(good.heard()).toEqual(['Bearer A_TOK-of-live']);
    }
    expect(evil.heard()).toEqual([]);
  });
});

describe('headers that a file changes with a live key', () => {
  const failing = { name: 'Red', ask: 'Find it.', expect: 'It sings.' };
  const heardLive = async () => {
    good.forget();
    await ask(talk.liveKey);
    return good.heard();
  };

  it('wait for the promotion with promote=no, in the draft they apply at once [VER-700]', async () => {
    await put(withServer());
    const saved = await put(withServer({ auth: '${B_TOK}' }), talk.liveKey, 'no');
    expect(saved.body).toMatchObject({ changed: ['tools'], promoted: false, live_version: 1, draft_version: 2 });
    expect(await heardLive()).toEqual(['Bearer A_TOK-of-live']);
    good.forget();
    expect([await ask(talk.testKey), good.heard()]).toEqual(['Done.', ['Bearer B_TOK-of-test']]);
    // The file of the draft is what was saved, and applying it again changes nothing.
    const yaml = await talk.call('GET', `/v1/deployments/${name}?format=yaml`);
    expect(yaml.text).toContain('auth: ${B_TOK}');
    expect((await put(withServer({ auth: '${B_TOK}' }), talk.testKey, 'no')).body.changed).toEqual([]);
    // A test key may save other changes of the same file, but no other headers.
    expect((await put(withServer({ auth: '${B_TOK}', deny: ['x'] }), talk.testKey, 'no')).body.changed).toEqual([
      'tools',
    ]);
    expect(codeOf(await put(withServer({ headers: { 'X-Region': 'eu' } }), talk.testKey))).toEqual([
      409,
      'mcp_server_live',
    ]);
    expect(await heardLive()).toEqual(['Bearer A_TOK-of-live']);
    expect((await post('promote', talk.liveKey, { version: 3 })).body.live_version).toBe(3);
    expect(await heardLive()).toEqual(['Bearer B_TOK-of-live']);
    const registered = await talk.call('GET', `/v1/mcp-servers/${await serverId()}`);
    expect(registered.body.auth.headers).toEqual({ Authorization: 'Bearer ${secret:B_TOK}' });
    expect((await post('rollback')).body.live_version).toBe(1);
    expect(await heardLive()).toEqual(['Bearer A_TOK-of-live']);
  });

  it('change nothing live if their tests fail [VER-700]', async () => {
    await put(withServer());
    const tests = [failing];
    const { body } = await put({ ...withServer({ auth: '${B_TOK}' }), tests }, talk.liveKey, 'after_tests');
    // The pretend user and the judge never do what they must, so the run cannot pass.
    const run = await talk.until(`/v1/test-runs/${body.test_run.id}`, isOver);
    expect(['failed', 'error']).toContain(run.status);
    expect(await heardLive()).toEqual(['Bearer A_TOK-of-live']);
    expect((await talk.call('GET', `/v1/deployments/${name}`)).body.live_version).toBe(1);
  });
});

describe('a deleted server', () => {
  it('is missing in every version that names it, so none of them is promoted or rolled back to [MCPS-621]', async () => {
    await put(withServer());
    const id = await serverId();
    await put(withServer({ deny: ['other'] }));
    expect((await remove(id, talk.liveKey)).status).toBe(200);
    expect(await versionOf(3)).toMatchObject({
      is_live: true,
      missing: [],
      changed: ['mcp_servers', 'mcp_tool_policy'],
      manifest: { mcp_servers: [], mcp_tool_policy: {} },
    });
    expect([(await versionOf(1)).missing, (await versionOf(2)).missing]).toEqual([[id], [id]]);
    const back = await post('rollback');
    expect([...codeOf(back), back.body.error.names]).toEqual([409, 'version_incomplete', [id]]);
    for (const key of [talk.testKey, talk.liveKey]) {
      expect(codeOf(await post('promote', key, { version: 1 }))).toEqual([409, 'version_incomplete']);
    }
    expect(await ask(talk.liveKey)).toBe('No tools.');
    // Another server of the same slug is another server.
    const body = {
      name: 'Evil',
      slug: name,
      url: evil.url,
      auth: { type: 'headers', headers: { Authorization: 'Bearer ${A_TOK}' } },
    };
    expect((await talk.call('POST', '/v1/mcp-servers', { key: talk.testKey, body })).status).toBe(201);
    expect(codeOf(await post('promote', talk.liveKey, { version: 1 }))).toEqual([409, 'version_incomplete']);
    expect([await ask(talk.liveKey, `${name}@1`), evil.heard()]).toEqual(['No tools.', []]);
  });
});
