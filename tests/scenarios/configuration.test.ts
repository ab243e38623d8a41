import { newId } from '@vestra/contract/ids';
import { manifest } from '@vestra/contract/manifest';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const codeOf = ({ body }: ApiResponse) => body?.error?.code;
const put = (file: { name: string } & Record<string, unknown>, search = '?promote=no', key?: string) =>
  server.call('PUT', `/v1/deployments/${file.name}${search}`, { body: file, ...(key && { key }) });

describe('through the whole server', () => {
  it('the YAML of a deployment, applied again, changes nothing [DEP-025]', async () => {
    await put({
      name: 'yaml',
      instructions: 'Say "yes":\n- no\n',
      language: 'no',
      tests: [{ name: 'on', ask: 'off', expect: 'y' }],
    });
    const yaml = (await server.call('GET', '/v1/deployments/yaml?format=yaml')).text;
    const again = await put(parse(yaml));
    expect([again.status, again.body.changed]).toEqual([200, []]);
  });

  it('a manifest accepts exactly its sixteen keys [MAN-001]', async () => {
    const keys = Object.keys(manifest.shape).sort();
    expect(keys).toEqual([
      'approvals',
      'apps',
      'browser',
      'environment',
      'instructions',
      'language',
      'limits',
      'mcp_servers',
      'mcp_tool_policy',
      'memory',
      'model',
      'notebooks',
      'opening',
      'reasoning',
      'skills',
      'tools',
    ]);
    const made = await server.call('POST', '/v1/deployments', {
      body: { name: 'By manifest', manifest: { instructions: 'Hi.', limits: { max_steps: 5 } } },
    });
    expect(made.status).toBe(201);
    const version = await server.call('GET', '/v1/deployments/by-manifest/versions/1');
    expect(Object.keys(version.body.manifest).sort()).toEqual(
      keys.filter((key) => !['opening', 'reasoning'].includes(key)),
    );
    const other = await server.call('POST', '/v1/deployments', {
      body: { name: 'Other', manifest: { colour: 'red' } },
    });
    expect([other.status, codeOf(other), other.body.error.param]).toEqual([400, 'invalid_manifest', 'manifest.colour']);
  });

  it('a missing secret is named, in the mode of the key [ERR-003]', async () => {
    const file = { name: 'secretive', tools: [{ mcp: 'https://tools.example.com/mcp', auth: '${TOOLS_TOKEN}' }] };
    const refused = await put(file);
    expect([refused.status, codeOf(refused), refused.body.error.names]).toEqual([
      400,
      'secret_missing',
      ['TOOLS_TOKEN'],
    ]);
    expect(codeOf(await server.call('GET', '/v1/deployments/secretive'))).toBe('deployment_not_found');
    await server.call('PUT', '/v1/secrets/TOOLS_TOKEN', { body: { value: 'v' } });
    expect((await put(file)).status).toBe(200);
    expect(codeOf(await put({ ...file, instructions: 'live' }, '?promote=now', server.liveKey))).toBe('secret_missing');
  });

  it('headers of a server that another deployment runs are not changed behind its back [ERR-004]', async () => {
    const url = 'https://shared.example.com/mcp';
    await put({ name: 'one', tools: [{ mcp: url, headers: { 'X-Region': 'eu' } }] });
    await put({ name: 'two', tools: [{ mcp: url, headers: { 'X-Region': 'eu' } }] });
    const refused = await put({ name: 'two', tools: [{ mcp: url, headers: { 'X-Region': 'us' } }] });
    expect([refused.status, codeOf(refused), refused.body.error.deployments]).toEqual([
      409,
      'mcp_server_shared',
      ['one'],
    ]);
  });

  it('a deployment becomes the org’s default by its first promotion, and null clears it [ACC-020, TEN-006, TEN-028]', async () => {
    const made = await put({ name: 'first-live' }, '?promote=now', server.liveKey);
    expect([made.body.became_default, made.body.live_version]).toEqual([true, 1]);
    expect((await server.call('GET', '/v1/org')).body.default_deployment).toBe(made.body.id);
    expect((await server.call('GET', '/v1/deployments/first-live')).body).toMatchObject({
      draft_version: 1,
      live_version: 1,
    });
    const patch = (reference: string | null) =>
      server.call('PATCH', '/v1/org', { body: { default_deployment: reference } });
    expect((await patch(null)).body.default_deployment).toBeNull();
    for (const reference of ['first-live', made.body.id])
      expect((await patch(reference)).body.default_deployment).toBe(made.body.id);
  });

  it('a missing object is reported before a forbidden state [REQ-038]', async () => {
    const nothing = await server.call('POST', `/v1/deployments/${newId('dep')}/rollback`, { key: server.liveKey });
    expect([nothing.status, codeOf(nothing)]).toEqual([404, 'deployment_not_found']);
    await put({ name: 'never-live' });
    const forbidden = await server.call('POST', '/v1/deployments/never-live/rollback', { key: server.liveKey });
    expect([forbidden.status, codeOf(forbidden)]).toEqual([409, 'nothing_to_roll_back']);
  });

  it('sizes in KB count the bytes of the text [REQ-047]', async () => {
    const notebook = (await server.call('POST', '/v1/notebooks', { body: { name: 'Sizes', slug: 'sizes' } })).body.id;
    const add = (text: string) =>
      server.call('POST', `/v1/notebooks/${notebook}/documents`, { body: { title: 't', text } });
    expect((await add('é'.repeat(262_144))).status).toBe(201);
    expect(codeOf(await add('é'.repeat(262_145)))).toBe('document_too_large');
  });

  it('every change of the account and the configuration leaves an audit row [AUD-002]', async () => {
    const url = 'https://audited.example.com/';
    await server.call('PATCH', '/v1/org', { body: { name: 'A' } });
    await server.call('PATCH', '/v1/limits', { body: { usage_alerts: { thresholds: [1] } } });
    await server.call('POST', '/v1/keys', { body: { name: 'k', scopes: ['setup'] } });
    await server.call('PUT', '/v1/secrets/AUDITED', { body: { value: 'v' } });
    await put({ name: 'audited' });
    await server.call('POST', '/v1/mcp-servers', { body: { name: 'A', slug: 'audited', url } });
    await server.call('POST', '/v1/webhooks', { body: { url, events: '*' } });
    await server.call('POST', '/v1/members', {
      key: server.liveKey,
      body: { email: 'a@example.com', role: 'developer' },
    });
    const actions = new Set<string>();
    for (const key of [server.testKey, server.liveKey]) {
      const { body } = await server.call('GET', '/v1/audit-log?limit=100', { key });
      for (const { action } of body.data) actions.add(action.split('.')[0]);
    }
    for (const kind of ['org', 'limits', 'key', 'secret', 'deployment', 'mcp_server', 'webhook_endpoint', 'member']) {
      expect([...actions]).toContain(kind);
    }
  });
});

describe('the console', () => {
  it('is open to the first owner, who may change a server that a live version uses [MBR-016, MBR-018]', async () => {
    await server.call('PUT', '/v1/deployments/with-server?promote=now', {
      key: server.liveKey,
      body: { name: 'with-server', tools: [{ mcp: 'https://live.example.com/mcp', name: 'Live' }] },
    });
    const { body: list } = await server.call('GET', '/v1/mcp-servers?limit=100');
    const { id } = list.data.find(({ name }: { name: string }) => name === 'Live');
    const byKey = await server.call('PATCH', `/v1/mcp-servers/${id}`, { body: { name: 'Renamed' } });
    expect([byKey.status, codeOf(byKey)]).toEqual([409, 'mcp_server_live']);

    const login = await server.call('POST', '/v1/console/login', { key: null, body: server.owner });
    expect([login.status, login.body.member.role]).toEqual([200, 'owner']);
    const cookie = (login.headers.get('set-cookie') ?? '').split(';', 1)[0] as string;
    const headers = { cookie, 'x-csrf-token': login.body.csrf_token };
    const byOwner = await server.call('PATCH', `/v1/mcp-servers/${id}`, {
      key: null,
      headers,
      body: { name: 'Renamed' },
    });
    expect([byOwner.status, byOwner.body.name]).toEqual([200, 'Renamed']);
    const forged = await server.call('PATCH', `/v1/mcp-servers/${id}`, {
      key: null,
      headers: { cookie },
      body: { name: 'X' },
    });
    expect([forged.status, codeOf(forged)]).toEqual([403, 'csrf_required']);
  });
});

describe('addresses', () => {
  it('that are private open with the setting alone, and public http never [START-014, START-018, START-019]', async () => {
    const open = await startTestServer({ beside: server, env: { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' } });
    const calls = (on: TestServer, url: string) => [
      on.call('POST', '/v1/webhooks', { body: { url, events: '*' } }),
      on.call('POST', '/v1/mcp-servers', { body: { name: 'A', slug: `s-${newId('mcp').slice(-20)}`, url } }),
      on.call('PATCH', '/v1/org', { body: { memory_endpoint: url } }),
      on.call('PATCH', '/v1/org', { body: { otlp_endpoint: url } }),
    ];
    for (const private_ of ['http://127.0.0.1:9000/x', 'http://10.1.2.3/x']) {
      for (const answer of await Promise.all(calls(server, private_)))
        expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
      for (const answer of await Promise.all(calls(open, private_))) expect(answer.status).toBeLessThan(300);
    }
    for (const answer of await Promise.all(calls(open, 'http://public.example.com/x'))) {
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    }
    await open.stop();
  });
});

describe('a call to an MCP server of a file', () => {
  it("contains the secrets' values instead of their names, and no response shows them [TOOL-004, TOOL-006]", async () => {
    const open = await startTestServer({ beside: server, env: { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' } });
    const seen: Record<string, string | null>[] = [];
    const mcp = await serveMcp('2026', [tool('find_order', { annotations: { readOnlyHint: true } }), tool('refund')], {
      authorize: ({ headers }) => {
        seen.push({ authorization: headers.get('authorization'), note: headers.get('x-note') });
        return true;
      },
    });
    await open.call('PUT', '/v1/secrets/MCP_TOKEN', { body: { value: 'token-of-the-shop' } });
    await open.call('PUT', '/v1/secrets/REGION', { body: { value: 'north' } });
    const file = {
      name: 'calling',
      tools: [{ mcp: mcp.url, name: 'Called', auth: '${MCP_TOKEN}', headers: { 'X-Note': 'region ${REGION}!' } }],
    };
    const applied = await open.call('PUT', '/v1/deployments/calling?promote=no', { body: file });
    const { id } = applied.body.version.manifest.mcp_servers[0];
    const check = await open.call('POST', `/v1/mcp-servers/${id}/check`);
    expect(check.body).toMatchObject({
      ok: true,
      tools: [
        { name: 'find_order', read_only: true },
        { name: 'refund', read_only: false },
      ],
      error: null,
    });
    expect(seen.length).toBeGreaterThan(0);
    for (const headers of seen)
      expect(headers).toEqual({ authorization: 'Bearer token-of-the-shop', note: 'region north!' });
    const shown = await open.call('GET', `/v1/mcp-servers/${id}`);
    expect(shown.body.auth).toEqual({
      type: 'headers',
      headers: { Authorization: 'Bearer ${secret:MCP_TOKEN}', 'X-Note': 'region ${secret:REGION}!' },
    });
    for (const { text } of [applied, check, shown]) expect(text).not.toMatch(/token-of-the-shop|north/);
    await open.stop();
  });
});
