import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type HeldClient,
  heldClient,
  loopbackRedirect,
} from '../../packages/server/src/edges/mcp/oauth-client.fixture.ts';
import { type AgentServer, startAgentServer } from '../support/agent.ts';
import { query } from '../support/database.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { door } from './conversations.fixture.ts';
import { connected, type Member, newMember, signIn } from './mcp-oauth.fixture.ts';

let server: AgentServer;
let ada: Member;
beforeAll(async () => {
  server = await startAgentServer({ env: { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' } });
  ada = await newMember(server, 'developer');
});
afterAll(() => server.stop());

const sql = (text: string, values: unknown[] = []) => query(server.connectionString, text, values);

const post = (path: string, fields: Record<string, string>) =>
  server.call('POST', path, {
    key: null,
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });

/** A call of the endpoint with nothing around it. */
async function mcp(token: string | null, name = 'me', given: object = {}, headers: Record<string, string> = {}) {
  const answer = await server.call('POST', '/v1/mcp', {
    key: token,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25', ...headers },
  });
  const data = /^data: (.*)$/m.exec(answer.text)?.[1];
  const { result } = data ? JSON.parse(data) : (answer.body ?? {});
  const code: string | undefined =
    answer.status === 200 ? result?._meta?.['vestra/error']?.code : answer.body?.error?.code;
  return { status: answer.status, code, headers: answer.headers, result };
}

const opens = async ({ tokens }: HeldClient) => (await mcp(tokens().access_token)).status;

const audited = async (action: string, grantId: string) =>
  (
    await sql('SELECT actor_type, actor_name, details FROM audit_entries WHERE action = $1 AND target_id = $2', [
      action,
      grantId,
    ])
  )[0];

const grantOf = async ({ id }: Member) =>
  (await sql('SELECT id FROM mcp_grants WHERE member_id = $1', [id]))[0]?.id as string;

it('a client that knows nothing but the address is let in, works, renews its access and gives it back [MCP-480, MCP-481, MCP-483]', async () => {
  const bare = await mcp(null);
  expect(bare.status).toBe(401);
  expect(bare.headers.get('www-authenticate')).toBe(
    `Bearer realm="vestra", scope="runtime setup", resource_metadata="${server.url}/.well-known/oauth-protected-resource/v1/mcp"`,
  );

  const held = heldClient(server);
  await expect(held.connect()).rejects.toThrow();
  expect(held.clientId()).toMatch(/^mcp-client-/);
  expect(held.opened().href).toContain(`${server.url}/console/authorize?`);
  const owner = await signIn(server, server.owner);
  const back = await owner.letIn(held.opened());
  expect(back.href.startsWith(`${loopbackRedirect}?`)).toBe(true);
  expect(Object.fromEntries(back.searchParams)).toMatchObject({ state: 'state of the client', iss: server.url });
  await held.finish(back);

  const client = await held.connect();
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('ask');
  expect(await client.callTool({ name: 'me', arguments: {} })).toMatchObject({
    structuredContent: { org: { id: server.orgId }, mode: 'test', key: null, member: { role: 'owner' } },
  });

  const before = held.tokens();
  await sql(`UPDATE mcp_tokens SET expires_at = now() - interval '1 minute' WHERE kind = 'access'`);
  const expired = await mcp(before.access_token);
  expect([expired.code, expired.headers.get('www-authenticate')]).toEqual([
    'key_expired',
    expect.stringContaining('error="invalid_token"'),
  ]);
  expect(await client.callTool({ name: 'me', arguments: {} })).toMatchObject({ structuredContent: { mode: 'test' } });
  expect(held.tokens().access_token).not.toBe(before.access_token);
  expect(held.tokens().refresh_token).not.toBe(before.refresh_token);

  expect((await post('/v1/oauth/revoke', { token: held.tokens().refresh_token })).status).toBe(200);
  expect(await opens(held)).toBe(401);
  await expect(client.callTool({ name: 'me', arguments: {} })).rejects.toThrow();
});

describe('a client with a document', () => {
  const documents = new Map<string, string>();
  const site = createServer((request, response) => {
    const document = documents.get(request.url ?? '');
    const found = request.url === '/gone.json' ? 410 : 200;
    response.writeHead(document === undefined ? 302 : found, {
      location: '/good.json',
      'content-type': 'application/json',
    });
    response.end(document);
  });
  let at: (path: string) => string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    at = (path) => `http://127.0.0.1:${(site.address() as AddressInfo).port}${path}`;
    const saying = (path: string, more: object = {}) =>
      documents.set(
        path,
        JSON.stringify({
          client_id: at(path),
          client_name: 'Paper\u202E helper\n',
          redirect_uris: [loopbackRedirect],
          ...more,
        }),
      );
    saying('/good.json', { redirect_uris: ['javascript:alert(1)', 'http://127.0.0.1/callback'] });
    saying('/lies.json', { client_id: at('/good.json') });
    saying('/nowhere.json', { redirect_uris: [] });
    saying('/large.json', { client_uri: 'x'.repeat(10_000_000) });
    documents.set('/broken.json', '{');
    // Right in all but one thing each.
    saying('/gone.json');
    saying('/');
    saying('/fragment.json', { client_id: at('/fragment.json#x') });
    saying('/dots.json', { client_id: at('/a/../dots.json') });
  });
  afterAll(() => void site.close());

  it('is let in without being registered, by any port of this computer [MCP-480, MCP-482]', async () => {
    const held = heldClient(server, { clientId: at('/good.json') });
    await held.connect().catch(() => {});
    const shown = await ada.call('/v1/console/mcp-authorization/show', { query: held.opened().search.slice(1) });
    expect(shown.body).toMatchObject({
      client: { name: 'Paper helper', address: new URL(at('/')).host, is_verified: false },
      goes_to: { kind: 'computer', address: '127.0.0.1' },
      scopes: ['runtime', 'setup'],
      refusal: null,
    });
    await held.finish(await ada.letIn(held.opened()));
    const client = await held.connect();
    expect(await client.callTool({ name: 'me', arguments: {} })).toMatchObject({ structuredContent: { mode: 'test' } });
  });

  it('is refused where the document lies, leads on, is too large or is none [MCP-489]', async () => {
    const said = async (clientId: string) => {
      const asked = new URLSearchParams({ client_id: clientId, redirect_uri: loopbackRedirect });
      const { status, body } = await ada.call('/v1/console/mcp-authorization/show', { query: `${asked}` });
      return `${status} ${body.error?.code}`;
    };
    const wrong = [
      '/lies.json',
      '/nowhere.json',
      '/large.json',
      '/broken.json',
      '/leads-on.json',
      '/gone.json',
      '/',
      '/fragment.json#x',
      '/a/../dots.json',
    ].map(at);
    const hostile = [
      'http://169.254.169.254/latest',
      'http://example.com/client.json',
      'https://a:b@example.com/c',
      'https://',
    ];
    for (const clientId of [...wrong, ...hostile]) {
      expect([clientId, await said(clientId)]).toEqual([clientId, '400 invalid_client_metadata']);
    }
  });
});

describe('an authorization request', () => {
  let opened: URL;
  beforeAll(async () => {
    const held = heldClient(server);
    await held.connect().catch(() => {});
    opened = held.opened();
  });

  const changed = (changes: Record<string, string | null>) => {
    const url = new URL(opened);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    return url.search.slice(1);
  };
  const decided = (asked: string, approve = true, more = {}) =>
    ada.call('/v1/console/mcp-authorization', { query: asked, approve }, more);

  it('is not redirected unless client and redirect address are known [MCP-482]', async () => {
    const cases: [Record<string, string | null>, string][] = [
      [{ redirect_uri: 'https://evil.example/callback' }, 'invalid_redirect_uri'],
      [{ redirect_uri: 'http://127.0.0.1:43117/other' }, 'invalid_redirect_uri'],
      [{ redirect_uri: 'http://127.0.0.1.evil.example:43117/callback' }, 'invalid_redirect_uri'],
      [{ redirect_uri: 'http://a@127.0.0.1:43117/callback' }, 'invalid_redirect_uri'],
      [{ redirect_uri: 'javascript:alert(1)' }, 'invalid_redirect_uri'],
      [{ redirect_uri: null }, 'invalid_request'],
      [{ client_id: 'mcp-client-unknown' }, 'invalid_client'],
      [{ client_id: null }, 'invalid_request'],
    ];
    for (const [changes, code] of cases) {
      const { status, body } = await decided(changed(changes));
      expect([changes, status, body.error.code]).toEqual([changes, 400, code]);
    }
    const registered = await server.call('POST', '/v1/oauth/register', {
      key: null,
      body: { redirect_uris: [loopbackRedirect, 'javascript:alert(1)'] },
    });
    expect([registered.status, registered.body.error]).toEqual([400, 'invalid_redirect_uri']);
    const otherPort = await decided(changed({ redirect_uri: 'http://127.0.0.1:9/callback' }));
    expect(otherPort.body.return_url).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?code=/);
  });

  it('is refused with state and issuer, and without a code, for any other error [MCP-483, MCP-490]', async () => {
    const cases: [string, string][] = [
      [changed({ code_challenge: null }), 'invalid_request'],
      [changed({ code_challenge_method: 'plain' }), 'invalid_request'],
      [changed({ response_type: 'token' }), 'unsupported_response_type'],
      [changed({ resource: 'https://other.example/v1/mcp' }), 'invalid_target'],
      [`${changed({})}&scope=admin&scope=runtime`, 'invalid_request'],
    ];
    for (const [asked, error] of cases) {
      const shown = await ada.call('/v1/console/mcp-authorization/show', { query: asked });
      const { return_url } = (await decided(asked)).body;
      expect(shown.body.refusal.return_url).toBe(return_url);
      const answer = Object.fromEntries(new URL(return_url).searchParams);
      expect(answer).toMatchObject({ error, state: 'state of the client', iss: server.url });
      expect(answer).not.toHaveProperty('code');
    }
    const { return_url } = (await decided(changed({}), false)).body;
    expect(new URL(return_url).searchParams.get('error')).toBe('access_denied');
  });

  it('grants nothing without the CSRF token of the page, and in no org of others [MCP-487, MCP-490]', async () => {
    const other = await server.call('GET', '/v1/me', { key: await makeOtherOrg(server) });
    const count = async () => (await sql('SELECT count(*)::int AS total FROM mcp_grants'))[0]?.total;
    const before = await count();
    const forged = await decided(changed({}), true, { csrf: '' });
    expect([forged.status, forged.body.error.code]).toEqual([403, 'csrf_required']);
    const elsewhere = await decided(changed({}), true, { org: other.body.org.id });
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([403, 'org_mismatch']);
    const page = await fetch(`${server.url}/console/authorize${opened.search}`);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(await count()).toBe(before);
  });
});

describe('a code', () => {
  const askedFor = async () => {
    const held = heldClient(server);
    await held.connect().catch(() => {});
    const back = await ada.letIn(held.opened());
    const fields = {
      grant_type: 'authorization_code',
      client_id: held.clientId(),
      code: back.searchParams.get('code') as string,
      redirect_uri: loopbackRedirect,
      code_verifier: held.verifier(),
    };
    return { fields, exchange: (changes = {}) => post('/v1/oauth/token', { ...fields, ...changes }) };
  };

  it('is useless to other clients, and revokes its tokens when it is used again [MCP-483, MCP-484]', async () => {
    const { exchange } = await askedFor();
    const others: [Record<string, string>, string][] = [
      [{ code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
      [{ code_verifier: '' }, 'invalid_request'],
      [{ client_id: 'mcp-client-other' }, 'invalid_grant'],
      [{ redirect_uri: 'http://127.0.0.1:9/callback' }, 'invalid_grant'],
      [{ resource: 'https://other.example/v1/mcp' }, 'invalid_target'],
      [{ grant_type: 'password' }, 'unsupported_grant_type'],
      [{ code: 'vmc_other' }, 'invalid_grant'],
    ];
    for (const [changes, error] of others) {
      const answer = await exchange(changes);
      expect([changes, answer.status, answer.body.error]).toEqual([changes, 400, error]);
    }
    const { body } = await exchange({ resource: `${server.url}/v1/mcp` });
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'runtime setup' });
    expect((await mcp(body.access_token)).status).toBe(200);
    // Without the verifier it neither opens nor ends anything.
    await exchange({ code_verifier: 'x'.repeat(43) });
    expect((await mcp(body.access_token)).status).toBe(200);
    const again = await exchange();
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    expect((await mcp(body.access_token)).status).toBe(401);
    const kept = await sql(`SELECT FROM mcp_tokens WHERE token_hash = sha256($1)`, [body.refresh_token]);
    expect(kept).toEqual([]);
  });

  it('expires after a minute, and is exchanged once in concurrent requests [MCP-484]', async () => {
    const late = await askedFor();
    await sql(
      `UPDATE mcp_authorization_codes SET expires_at = now() - interval '1 minute' WHERE code_hash = sha256($1)`,
      [late.fields.code],
    );
    expect((await late.exchange()).body.error).toBe('invalid_grant');
    const { exchange } = await askedFor();
    const both = await Promise.all([exchange(), exchange()]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
  });
});

it('a refresh token is exchanged once, with a minute for two at once; used later, it ends the grant [MCP-485]', async () => {
  const member = await newMember(server, 'developer');
  const held = await connected(server, member);
  const grantId = await grantOf(member);
  const first = held.tokens();
  const renew = (refresh_token: string, client_id = held.clientId()) =>
    post('/v1/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token });
  expect((await renew(first.refresh_token, 'mcp-client-other')).body.error).toBe('invalid_grant');
  expect((await renew(first.access_token)).body.error).toBe('invalid_grant');

  const [one, two] = await Promise.all([renew(first.refresh_token), renew(first.refresh_token)]);
  expect([one?.status, two?.status]).toEqual([200, 200]);
  for (const { body } of [one, two]) expect((await mcp(body.access_token)).status).toBe(200);
  // Whichever of the two the client has kept works on.
  const next = await renew(one.body.refresh_token);
  expect(next.status).toBe(200);
  await sql(`UPDATE mcp_grants SET renewed_at = now() - interval '61 seconds' WHERE id = $1`, [grantId]);
  expect((await renew(two.body.refresh_token)).body.error).toBe('invalid_grant');
  expect((await mcp(next.body.access_token)).status).toBe(401);
  expect((await renew(next.body.refresh_token)).body.error).toBe('invalid_grant');
  expect(await audited('mcp_grant.revoked', grantId)).toMatchObject({
    actor_type: 'mcp_grant',
    actor_name: `${member.email} with Desk helper`,
    details: { reason: 'refresh_token_used_twice' },
  });
});

describe('an access token', () => {
  it('opens no other route, and no other org or mode [MCP-486, MCP-487]', async () => {
    const held = await connected(server, ada);
    const token = held.tokens().access_token;
    for (const path of ['/v1/me', '/v1/deployments', '/v1/mcp-grants', '/v1/conversations']) {
      const { status, body } = await server.call('GET', path, { key: token });
      expect([path, status, body.error.code]).toEqual([path, 403, 'token_audience']);
    }
    const live = { user_id: `live-${ada.id}` };
    await server.call('POST', '/v1/users', { key: server.liveKey, body: live });
    const otherKey = await makeOtherOrg(server);
    const ofOther = { user_id: `other-${ada.id}` };
    await server.call('POST', '/v1/users', { key: otherKey, body: ofOther });
    for (const { user_id } of [live, ofOther])
      expect((await mcp(token, 'users_get', { user: user_id })).code).toBe('user_not_found');
    const otherOrg = (await server.call('GET', '/v1/me', { key: otherKey })).body.org.id;
    expect((await mcp(token, 'me', {}, { 'service-mode': 'live' })).code).toBe('invalid_mode');
    expect((await mcp(token, 'me', {}, { 'service-org': otherOrg })).code).toBe('org_mismatch');
    const inLive = await connected(server, ada, { mode: 'live' });
    expect((await mcp(inLive.tokens().access_token, 'users_get', { user: live.user_id })).code).toBeUndefined();
  });

  it('has the member’s current permissions, and ends with the member and the org [MCP-488]', async () => {
    const admin = await newMember(server, 'admin');
    const held = heldClient(server);
    await held.connect().catch(() => {});
    const asked = held.opened();
    asked.searchParams.set('scope', 'runtime admin all unheard-of');
    await held.finish(await admin.letIn(asked));
    const token = held.tokens().access_token;
    expect(held.tokens().scope).toBe('runtime admin');
    expect((await mcp(token, 'org_get')).code).toBeUndefined();
    expect((await mcp(token, 'members_remove', { member_id: ada.id })).code).toBe('live_key_required');
    await sql(`UPDATE members SET role = 'developer' WHERE id = $1`, [admin.id]);
    expect((await mcp(token, 'org_get')).code).toBe('scope_missing');
    expect((await mcp(token)).status).toBe(200);
    await sql(`UPDATE orgs SET status = 'disabled' WHERE id = $1`, [server.orgId]);
    expect((await mcp(token)).code).toBe('org_disabled');
    await sql(`UPDATE orgs SET status = 'active' WHERE id = $1`, [server.orgId]);
    expect(await opens(held)).toBe(200);
    await server.call('DELETE', `/v1/members/${admin.id}`, { key: server.liveKey });
    expect(await opens(held)).toBe(401);
    const renewed = await post('/v1/oauth/token', {
      grant_type: 'refresh_token',
      client_id: held.clientId(),
      refresh_token: held.tokens().refresh_token,
    });
    expect(renewed.body.error).toBe('invalid_grant');
  });

  it('ends when its member resets the password by a link, since the account may have been stolen [MCP-488]', async () => {
    const [robbed, other] = [await newMember(server, 'developer'), await newMember(server, 'developer')];
    const held = heldClient(server);
    const kept = heldClient(server);
    for (const [client, member] of [
      [held, robbed],
      [kept, other],
    ] as const) {
      await client.connect().catch(() => {});
      await client.finish(await member.letIn(client.opened()));
    }
    expect([await opens(held), await opens(kept)]).toEqual([200, 200]);
    const { body: link } = await server.call('POST', `/v1/members/${robbed.id}/password-reset`, {
      key: server.liveKey,
    });
    const token = new URL(link.reset_url).hash.replace('#token=', '');
    const reset = await server.call('POST', '/v1/console/password-reset', {
      key: null,
      body: { token, password: 'a password of their own' },
    });
    expect(reset.status).toBe(200);
    expect([await opens(held), await opens(kept)]).toEqual([401, 200]);
  });

  it('without the scope of the endpoint gets an error that names the scope [MCP-481]', async () => {
    const held = heldClient(server);
    await held.connect().catch(() => {});
    const asked = held.opened();
    asked.searchParams.set('scope', 'setup');
    await held.finish(await ada.letIn(asked));
    const { status, headers } = await mcp(held.tokens().access_token);
    expect(status).toBe(403);
    expect(headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="runtime setup"');
  });
});

it('members see and end the clients they have let in, admins those of the org [MCP-491]', async () => {
  const [grace, noor] = [await newMember(server, 'developer'), await newMember(server, 'admin')];
  const held = await connected(server, grace);
  const id = await grantOf(grace);
  const listed = async (key: string) =>
    (await server.call('GET', `/v1/mcp-grants?member_id=${grace.id}`, { key })).body.data as { id: string }[];
  await expect
    .poll(async () => (await listed(server.testKey))[0])
    .toMatchObject({
      id,
      client: { name: 'Desk helper', address: '127.0.0.1', is_verified: false },
      member: { id: grace.id, name: grace.email },
      mode: 'test',
      scopes: ['runtime', 'setup'],
    });
  const otherKey = await makeOtherOrg(server);
  const { key: narrow } = (await server.call('POST', '/v1/keys', { body: { name: 'narrow', scopes: ['setup'] } })).body;
  for (const key of [server.liveKey, otherKey, narrow]) {
    expect(await listed(key)).toEqual([]);
    const refused = await server.call('DELETE', `/v1/mcp-grants/${id}`, { key });
    expect(refused.body.error.code).toBe('mcp_grant_not_found');
  }
  const end = (member: Member) => member.end(`/v1/mcp-grants/${id}`);
  expect((await end(ada)).body.error.code).toBe('mcp_grant_not_found');
  await post('/v1/oauth/revoke', { token: held.tokens().access_token, client_id: 'mcp-client-other' });
  expect(await opens(held)).toBe(200);
  expect((await end(noor)).status).toBe(200);
  expect(await opens(held)).toBe(401);
  expect(await audited('mcp_grant.created', id)).toMatchObject({
    actor_type: 'member',
    details: { client: 'Desk helper', scopes: ['runtime', 'setup'] },
  });
  expect(await audited('mcp_grant.revoked', id)).toMatchObject({
    actor_name: noor.email,
    details: { reason: 'ended' },
  });
  await expect
    .poll(() => audited('mcp_grant.used', id))
    .toMatchObject({ actor_name: `${grace.email} with Desk helper` });
});

it('webhooks report which clients were admitted and why one was removed, as for keys [MCP-531]', async () => {
  const { id: deploymentId } = (await server.apply({ name: 'told-of-grants', instructions: 'Help.' })).body;
  const { id: endpointId } = (
    await server.call('POST', '/v1/webhooks', { body: { url: 'http://127.0.0.1:9/', events: ['*'] } })
  ).body;
  // As that of a deployment file: the account's own events reach it too.
  await sql(`UPDATE webhook_endpoints SET managed_by = 'file', deployment_id = $1 WHERE id = $2`, [
    deploymentId,
    endpointId,
  ]);
  const member = await newMember(server, 'developer');
  const told = async (type: string, grantId: string) => {
    const { data } = (await server.call('GET', `/v1/events?type=${type}`)).body;
    const found = data.find((event: { data: { id: string } }) => event.data.id === grantId);
    const delivered = await sql('SELECT FROM webhook_deliveries WHERE endpoint_id = $1 AND event_id = $2', [
      endpointId,
      found?.id,
    ]);
    return delivered.length > 0 ? found.data : found;
  };
  const wayOut: Record<string, (held: HeldClient, grantId: string) => Promise<unknown>> = {
    ended: (_, grantId) => member.end(`/v1/mcp-grants/${grantId}`),
    given_back: (held) => post('/v1/oauth/revoke', { token: held.tokens().access_token }),
    refresh_token_used_twice: async (held, grantId) => {
      const fields = { grant_type: 'refresh_token', client_id: held.clientId() };
      const { refresh_token } = held.tokens();
      await post('/v1/oauth/token', { ...fields, refresh_token });
      await sql(`UPDATE mcp_grants SET renewed_at = now() - interval '61 seconds' WHERE id = $1`, [grantId]);
      await post('/v1/oauth/token', { ...fields, refresh_token });
    },
    member: () => server.call('DELETE', `/v1/members/${member.id}`, { key: server.liveKey }),
  };
  for (const [reason, end] of Object.entries(wayOut)) {
    const held = await connected(server, member);
    const grantId = await grantOf(member);
    const grant = {
      object: 'mcp_grant',
      client: { name: 'Desk helper', address: '127.0.0.1', is_verified: false },
      member: { id: member.id, name: member.email },
      scopes: ['runtime', 'setup'],
    };
    expect(await told('mcp_grant.created', grantId)).toMatchObject(grant);
    await end(held, grantId);
    expect(await told('mcp_grant.revoked', grantId)).toMatchObject({ ...grant, reason });
  }
});

describe('a call that waits is cut where its grant ends [MCP-532]', () => {
  /** A client whose call waits for a model that does not answer before `letGo`. */
  async function waiting(member: Member) {
    const held = await connected(server, member);
    const [begun, letGo] = [door(), door()];
    server.script(async () => {
      begun.open();
      await letGo.opened;
      return { text: 'Too late.' };
    });
    const answer = await fetch(`${server.url}/v1/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${held.tokens().access_token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'ask', arguments: { message: 'Hello?' }, _meta: { progressToken: 1 } },
      }),
    });
    await begun.opened;
    return { held, letGo: letGo.open, heard: answer.text().catch((error: Error) => error.message) };
  }

  const ends: [string, (of: { member: Member; held: HeldClient }) => Promise<unknown>][] = [
    ['by its member', async ({ member }) => member.end(`/v1/mcp-grants/${await grantOf(member)}`)],
    ['by the client', ({ held }) => post('/v1/oauth/revoke', { token: held.tokens().refresh_token })],
    ['with its member', ({ member }) => server.call('DELETE', `/v1/members/${member.id}`, { key: server.liveKey })],
    [
      'by a password that was chosen by a link',
      async ({ member }) => {
        const { body } = await server.call('POST', `/v1/members/${member.id}/password-reset`, { key: server.liveKey });
        const token = new URL(body.reset_url).hash.replace('#token=', '');
        const password = 'a password of their own';
        return server.call('POST', '/v1/console/password-reset', { key: null, body: { token, password } });
      },
    ],
    [
      'because its refresh token was used twice',
      async ({ member, held }) => {
        const renew = () =>
          post('/v1/oauth/token', {
            grant_type: 'refresh_token',
            client_id: held.clientId(),
            refresh_token: held.tokens().refresh_token,
          });
        await renew();
        await sql(`UPDATE mcp_grants SET renewed_at = now() - interval '61 seconds' WHERE member_id = $1`, [member.id]);
        await renew();
      },
    ],
  ];

  it.each(ends)('%s', async (_, end) => {
    await server.apply({ name: 'slow', instructions: 'Think for long.' });
    const [member, other] = [await newMember(server, 'developer'), await newMember(server, 'developer')];
    const { held, letGo, heard } = await waiting(member);
    const kept = await waiting(other);
    await end({ member, held });
    // The model has not answered: nothing but the end of the grant ends the call.
    expect(await heard).not.toContain('Too late.');
    letGo();
    kept.letGo();
    expect(await kept.heard).toContain('Too late.');
  });
});

it('keeps the newest ten thousand unapproved clients, and every approved one [MCP-533, HRD-705]', async () => {
  const used = (await connected(server, await newMember(server, 'developer'))).clientId();
  await sql(`UPDATE registered_mcp_clients SET last_used_at = now() - interval '1 year' WHERE id = $1`, [used]);
  await sql(`INSERT INTO registered_mcp_clients (id, name, redirect_uris, last_used_at)
    SELECT 'mcp-client-filling-' || n, 'filling', '{https://a.example/}', now() - make_interval(days => 1, secs => n)
    FROM generate_series(1, 10000) n`);
  // One address registered many: they are newer, and go first.
  await sql(`INSERT INTO registered_mcp_clients (id, name, redirect_uris, last_used_at, registered_from)
    SELECT 'mcp-client-flood-' || n, 'flood', '{https://a.example/}', now() - make_interval(hours => 1, secs => n), 'one'
    FROM generate_series(1, 50) n`);
  // Another address registered many just now: somebody may be signing in with each of them.
  await sql(`INSERT INTO registered_mcp_clients (id, name, redirect_uris, last_used_at, registered_from)
    SELECT 'mcp-client-recent-' || n, 'recent', '{https://a.example/}', now() - make_interval(secs => n), 'two'
    FROM generate_series(1, 20) n`);
  const register = () =>
    server.call('POST', '/v1/oauth/register', { key: null, body: { redirect_uris: [loopbackRedirect] } });
  const { client_id: first } = (await register()).body;
  const { client_id: second } = (await register()).body;
  const rows = await sql('SELECT id FROM registered_mcp_clients');
  const ids = new Set(rows.map(({ id }) => id));
  const flood = [...ids].filter((id) => id.startsWith('mcp-client-flood-'));
  expect(flood).toEqual(['mcp-client-flood-1']);
  expect([...ids].filter((id) => id.startsWith('mcp-client-recent-'))).toHaveLength(20);
  for (const kept of [used, first, second, 'mcp-client-filling-9000'])
    expect([kept, ids.has(kept)]).toEqual([kept, true]);
  expect(ids.has('mcp-client-filling-10000')).toBe(false);
  const [{ total } = {}] = await sql(
    `SELECT count(*)::int AS total FROM registered_mcp_clients c
      WHERE last_used_at < now() - interval '10 minutes' AND NOT EXISTS (SELECT FROM mcp_grants WHERE client_id = c.id)`,
  );
  // Clients of the last ten minutes stay beyond the number.
  expect(total).toBeLessThan(10_000);
});

it('a member lets in a hundred clients at most [MCP-533]', async () => {
  const member = await newMember(server, 'developer');
  const held = heldClient(server);
  await held.connect().catch(() => {});
  await sql(
    `INSERT INTO mcp_grants (id, org_id, mode, member_id, client_id, client_name, client_address, is_verified, scopes, expires_at)
     SELECT 'grant_filling_' || n, $1, 'test', $2, 'filling', 'filling', 'a.example', false, '{runtime}', now() + interval '1 day'
     FROM generate_series(1, 100) n`,
    [server.orgId, member.id],
  );
  await expect(member.letIn(held.opened())).rejects.toThrow('too_many_mcp_grants');
  await sql(`DELETE FROM mcp_grants WHERE id = 'grant_filling_1'`);
  await held.finish(await member.letIn(held.opened()));
  expect(await opens(held)).toBe(200);
});
