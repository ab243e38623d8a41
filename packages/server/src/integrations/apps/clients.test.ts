import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { clientDocumentPage } from '../../pages/authorization-documents.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { jsonb, text } from '../../platform/db/table.ts';
import { refuseAddress } from '../../platform/outbound/address.ts';
import { createOutbound } from '../../platform/outbound/fetcher.ts';
import { createAppSignIn } from '../app-sign-in/app-sign-in.ts';
import { connections, ownAppClients } from '../tables.ts';
import { type AppRoutes, redirectUri, reset, startAppRoutes } from './apps.fixture.ts';
import { createConnectableApps } from './catalogue.ts';
import { browseUntil } from './oidc-app.fixture.ts';
import { createSignIns } from './sign-ins.ts';

let desk: AppRoutes;
const document = 'https://vestra.example/oauth/client.json';
beforeAll(async () => {
  desk = await startAppRoutes();
  const pages = new Hono();
  clientDocumentPage({ publicUrl: 'https://vestra.example', redirectUri })(pages);
  desk.oidc.documentAt = async (address) => pages.request(address);
});
afterAll(() => desk.stop());
beforeEach(() => {
  reset(desk.app);
  desk.oidc.signedInWith.length = 0;
  desk.own.clientDocument = document;
});

const give = (key: string, app: string, body: Record<string, unknown>) =>
  desk.call('PUT', `/v1/apps/${app}/client`, { key, body });
const clientOf = (key: string, app: string) => desk.call('GET', `/v1/apps/${app}/client`, { key });
const shownApp = async (key: string, id: string) =>
  (await desk.call('GET', '/v1/apps?limit=100', { key })).body.data.find((each: { id: string }) => each.id === id);

/** Follows the sign-in like a browser with cookies. */
const signIn = async (connectUrl: string) => desk.open(await browseUntil(connectUrl, redirectUri));

const signIns = () => createSignIns({ db: desk.db, vault: desk.vault, signIn: desk.signIn, catalogue: desk.catalogue });

/** Whether the app accepts the current credential of the user. */
async function isTaken(orgId: string, mode: 'test' | 'live' = 'test'): Promise<boolean | string> {
  const [signedIn] = await signIns().of({ orgId, mode }, 'ada', 'all');
  if (signedIn?.credential.kind !== 'token') return signedIn?.credential.kind ?? 'none';
  return (await desk.mcpClient.listTools(signedIn.credential.target, { signal: new AbortController().signal })).ok;
}

const endToken = (id: string) =>
  run(desk.db, sql`UPDATE ${connections} SET token_expires_at = now() - interval '1 second' WHERE id = ${id}`);

const everythingKept = async () =>
  JSON.stringify(
    await rowsOf(
      desk.db,
      { row: text() },
      sql`SELECT row_to_json(c)::text AS row FROM ${connections} c
          UNION ALL SELECT row_to_json(c)::text FROM ${ownAppClients} c
          UNION ALL SELECT row_to_json(a)::text FROM audit_entries a
          UNION ALL SELECT row_to_json(e)::text FROM events e`,
    ),
  );

describe('a certified authorization server lets people in', () => {
  it.each([
    ['with the org’s client, its secret in a header', 'oidc-by-hand', 'basic'],
    ['with the org’s client, its secret in the body', 'oidc-by-hand', 'post'],
    ['with the operator’s client', 'oidc-operator', 'operator'],
    ['by the document that describes this server', 'oidc', 'document'],
    ['after this server has registered itself', 'oidc', 'registered'],
  ] as const)('%s [APP-360]', async (_what, app, way) => {
    const org = await desk.newOrg();
    if (way === 'registered') desk.own.clientDocument = null;
    if (way === 'basic' || way === 'post') {
      const given = await give(org.testKey, app, { ...desk.oidc.clients[way], auth_method: `client_secret_${way}` });
      expect([given.status, given.body.client_id]).toEqual([200, desk.oidc.clients[way].client_id]);
    }
    const { body } = await desk.create(org.testKey, { app, user_id: 'ada' });
    const page = await signIn(body.connect_url);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('is connected')]);
    const expected = { basic: 'by-hand-basic', post: 'by-hand-post', operator: 'by-hand-post', document };
    const [used] = desk.oidc.signedInWith;
    expect(used).toEqual(way === 'registered' ? expect.stringMatching(/^[\w-]{20,}$/) : expected[way]);
    expect(await isTaken(org.id)).toBe(true);
    const [shown] = await desk.list(org.testKey);
    expect(shown).toMatchObject({ status: 'connected', renews: true, error: null, expires_at: expect.any(String) });
    // The token is renewed with the same client, and the app accepts the new one.
    await endToken(body.id);
    expect(await isTaken(org.id)).toBe(true);
    expect((await desk.call('DELETE', `/v1/connections/${body.id}`, { key: org.testKey })).status).toBe(200);
  });

  it('unless the code belongs to another client [APP-007]', async () => {
    const org = await desk.newOrg();
    const [mine, theirs] = [
      (await desk.create(org.testKey, { app: 'oidc', user_id: 'ada' })).body,
      (await desk.create(org.testKey, { app: 'oidc', user_id: 'eve' })).body,
    ];
    const back = await browseUntil(mine.connect_url, redirectUri);
    const stolen = await browseUntil(theirs.connect_url, redirectUri);
    back.searchParams.set('code', stolen.searchParams.get('code') as string);
    expect((await desk.open(back)).status).toBe(400);
    stolen.searchParams.set('iss', 'https://elsewhere.example');
    expect((await desk.open(stolen)).status).toBe(400);
    expect(await desk.list(org.testKey)).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
  });
});

describe('a client that an org stores', () => {
  const body = { client_id: 'by-hand-basic', client_secret: 'secret-of-the-basic-client' };

  it('is required if the app has no other, as its entry and the refusal show [APP-360, APP-362]', async () => {
    const { testKey, liveKey } = await desk.newOrg();
    const { status, body: refused } = await desk.create(testKey, { app: 'oidc-by-hand' });
    expect([status, refused.error.code]).toEqual([400, 'app_not_connectable']);
    for (const said of ['https://oidc.example/apps', redirectUri, 'PUT /v1/apps/oidc-by-hand/client']) {
      expect(refused.error.message).toContain(said);
    }
    expect(await shownApp(testKey, 'oidc-by-hand')).toMatchObject({
      connectable: false,
      sign_in: { client: 'missing' },
    });
    await give(testKey, 'oidc-by-hand', body);
    expect(await shownApp(testKey, 'oidc-by-hand')).toMatchObject({ connectable: true, sign_in: { client: 'org' } });
    expect(await shownApp(liveKey, 'oidc-by-hand')).toMatchObject({ connectable: false });
    expect((await desk.create(liveKey, { app: 'oidc-by-hand' })).body.error.code).toBe('app_not_connectable');
  });

  it('is shown without its secret, per org and mode, to `admin`, and written down [APP-362, TEN-015]', async () => {
    const [org, other] = [await desk.newOrg(), await desk.newOrg()];
    const given = await give(org.testKey, 'oidc', body);
    expect(given.body).toEqual({
      object: 'app_client',
      app: 'oidc',
      mode: 'test',
      client_id: 'by-hand-basic',
      has_secret: true,
      auth_method: null,
      issuer: new URL(desk.oidc.url).origin,
      redirect_uri: redirectUri,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect((await clientOf(org.testKey, 'oidc')).body).toEqual(given.body);
    for (const key of [org.liveKey, other.testKey]) {
      expect((await clientOf(key, 'oidc')).body.error.code).toBe('app_client_not_found');
      const removal = await desk.call('DELETE', '/v1/apps/oidc/client', { key });
      expect([removal.status, removal.body.error.code]).toEqual([404, 'app_client_not_found']);
    }
    const runtime = await org.newKey('test', ['runtime']);
    expect((await clientOf(runtime, 'oidc')).body.error.code).toBe('scope_missing');
    expect((await give(runtime, 'oidc', body)).body.error.code).toBe('scope_missing');
    const removed = await desk.call('DELETE', '/v1/apps/oidc/client', { key: org.testKey });
    expect(removed.body).toEqual({ object: 'app_client', app: 'oidc', deleted: true });
    expect(
      (await auditEntries(desk.db, { orgId: org.id, targetId: 'oidc' })).map(({ action, details }) => [
        action,
        details,
      ]),
    ).toEqual(
      ['app_client.stored', 'app_client.deleted'].map((action) => [
        action,
        { client_id: 'by-hand-basic', issuer: new URL(desk.oidc.url).origin },
      ]),
    );
    const kept = await everythingKept();
    for (const { client_secret } of Object.values(desk.oidc.clients)) {
      expect(kept).not.toContain(client_secret);
      expect(kept).not.toContain(Buffer.from(client_secret).toString('hex'));
    }
  });

  it('makes the agent offer the app, in its mode, a few seconds later [APP-360]', async () => {
    const [org, other] = [await desk.newOrg(), await desk.newOrg()];
    let now = 0;
    const connectable = createConnectableApps({ db: desk.db, catalogue: desk.catalogue, now: () => now });
    const offered = async (orgId: string, mode: 'test' | 'live' = 'test') =>
      (await connectable({ orgId, mode }, ({ id }) => /^(oidc|keyed|closed)/.test(id))).map(({ id }) => id);
    const always = ['keyed', 'keyed-query', 'oidc', 'oidc-operator'];
    expect(await offered(org.id)).toEqual(always);
    await give(org.testKey, 'oidc-by-hand', body);
    expect(await offered(org.id)).toEqual(always);
    now = 5_000;
    expect(await offered(org.id)).toEqual([...always.slice(0, 3), 'oidc-by-hand', 'oidc-operator']);
    expect(await offered(org.id, 'live')).toEqual(always);
    expect(await offered(other.id)).toEqual(always);
  });

  it.each<[string, string, Record<string, unknown>, string]>([
    ['no such app', 'nothing', body, 'app_not_found'],
    ['an app that is closed', 'closed', body, 'app_not_connectable'],
    ['an app that nobody signs in to', 'keyed', body, 'oauth_not_available'],
    ['an app that is away', 'away', body, 'mcp_server_error'],
    ['a secret that no header carries', 'oidc', { ...body, client_secret: 'a\nb' }, 'invalid_request'],
    [
      'a way to send a secret, and none',
      'oidc',
      { client_id: 'a', auth_method: 'client_secret_post' },
      'invalid_request',
    ],
  ])('is refused for %s [APP-362]', async (_what, app, given, code) => {
    const { testKey } = await desk.newOrg();
    expect((await give(testKey, app, given)).body.error.code).toBe(code);
  });

  it('applies a changed secret at once, and ends its sign-ins when it is deleted [APP-362, APP-367]', async () => {
    const org = await desk.newOrg();
    await give(org.testKey, 'oidc-by-hand', body);
    const connect = async () => {
      const made = (await desk.create(org.testKey, { app: 'oidc-by-hand', user_id: 'ada' })).body;
      await signIn(made.connect_url);
      return made.id as string;
    };
    const first = await connect();
    await give(org.testKey, 'oidc-by-hand', { ...body, client_secret: 'a secret of yesterday' });
    await endToken(first);
    expect(await isTaken(org.id)).toBe('over');
    expect(await desk.list(org.testKey)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('does not know the client') },
    ]);
    await give(org.testKey, 'oidc-by-hand', body);
    const second = await connect();
    await desk.call('DELETE', '/v1/apps/oidc-by-hand/client', { key: org.testKey });
    expect(await isTaken(org.id)).toBe(true);
    await endToken(second);
    expect(await isTaken(org.id)).toBe('over');
    const told = await rowsOf(
      desk.db,
      { data: jsonb<Record<string, unknown>>() },
      sql`SELECT data FROM events WHERE org_id = ${org.id} AND type = 'connection.failed' ORDER BY id`,
    );
    expect(told.map(({ data }) => data)).toMatchObject([
      { object: 'connection', id: first, status: 'failed', app: 'oidc-by-hand', user_id: 'ada' },
      { id: second, error: expect.stringContaining('was removed') },
    ]);
  });

  it('goes to no other authorization server than the one it was given for [APP-363]', async () => {
    const { testKey } = await desk.newOrg();
    expect((await give(testKey, 'notes', body)).body.issuer).toBe(desk.app.metadata.issuer);
    desk.app.instead = (path) =>
      path.startsWith('/.well-known/oauth-protected-resource')
        ? Response.json({ resource: desk.app.url, authorization_servers: [new URL(desk.oidc.url).origin] })
        : undefined;
    const { status, body: answer } = await desk.create(testKey, { app: 'notes' });
    expect([status, answer.error.code]).toEqual([400, 'oauth_not_available']);
    expect(answer.error.message).toContain('belongs to another authorization server');
  });

  it('renews no sign-in that was made at another authorization server [APP-363]', async () => {
    const org = await desk.newOrg();
    await give(org.testKey, 'oidc-by-hand', body);
    const made = (await desk.create(org.testKey, { app: 'oidc-by-hand', user_id: 'ada' })).body;
    await signIn(made.connect_url);
    await run(
      desk.db,
      sql`UPDATE ${connections} SET authorization_server =
            jsonb_set(authorization_server::jsonb, '{metadata,issuer}', '"https://before.example"') WHERE id = ${made.id}`,
    );
    expect(await isTaken(org.id)).toBe(true);
    await endToken(made.id);
    expect(await isTaken(org.id)).toBe('over');
    expect(await desk.list(org.testKey)).toMatchObject([{ error: expect.stringContaining('was removed') }]);
  });
});

describe('an authorization server that lies', () => {
  const strict = (outbound: Parameters<typeof createAppSignIn>[0]['outbound']) =>
    createAppSignIn({
      outbound,
      // The app is on loopback. All other addresses follow the rules of production.
      refuseAddress: (url) =>
        url.startsWith(String(desk.app.metadata.issuer)) ? null : refuseAddress(url, { allowPrivate: false }),
    });

  it.each<[string, Record<string, unknown>, string]>([
    ['names a token endpoint on a private address', { token_endpoint: 'https://10.0.0.1/token' }, '`token_endpoint`'],
    ['names a token endpoint on this machine', { token_endpoint: 'http://localhost/token' }, '`token_endpoint`'],
    ['names a token endpoint without TLS', { token_endpoint: 'http://tokens.example/' }, '`token_endpoint`'],
    [
      'registers at a metadata service',
      { registration_endpoint: 'http://169.254.169.254/' },
      '`registration_endpoint`',
    ],
    ['revokes on a private address', { revocation_endpoint: 'https://192.168.0.1/' }, '`revocation_endpoint`'],
    ['tells accounts on a private address', { userinfo_endpoint: 'https://[::1]/' }, '`userinfo_endpoint`'],
    ['sends people to a script', { authorization_endpoint: 'javascript:alert(1)' }, 'does not say how'],
    ['says that it is another', { issuer: 'https://accounts.google.com' }, 'says of itself that it is another one'],
    ['says more than anybody reads', { filler: 'x'.repeat(300_000) }, 'more of its sign-in than is read'],
  ])('and %s is refused with a plain message [APP-364]', async (_what, change, said) => {
    const outbound = createOutbound({ allowPrivate: true });
    desk.app.instead = (path) =>
      path === '/.well-known/oauth-authorization-server'
        ? Response.json({ ...desk.app.metadata, ...change })
        : undefined;
    const found = await strict(outbound).discover(desk.app.url, {});
    await outbound.close();
    expect(found).toMatchObject({ ok: false, reason: 'not_offered', message: expect.stringContaining(said) });
    expect(desk.app.had.filter((entry) => entry.includes('register') || entry.includes('token'))).toEqual([]);
  });

  it('and is not the one that is known of the app is refused [APP-364]', async () => {
    const facts = { issuer: 'https://notes.example' };
    expect(await desk.signIn.discover(desk.app.url, facts)).toMatchObject({
      ok: false,
      message: expect.stringContaining('another authorization server than the one that is known'),
    });
  });

  it.each<[string, (elsewhere: string) => Response]>([
    ['sends the code on to another server', (elsewhere) => Response.redirect(`${elsewhere}/token`, 307)],
    ['answers with more than anybody reads', () => Response.json({ access_token: 'a'.repeat(300_000) })],
  ])('and %s stops there [APP-364]', async (_what, answer) => {
    const had: string[] = [];
    const other = createServer((request, response) => {
      had.push(request.url ?? '');
      response.end('{}');
    }).listen(0, '127.0.0.1');
    const elsewhere = () => `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { testKey } = await desk.newOrg();
    const { body } = await desk.create(testKey, { user_id: 'ada' });
    desk.app.instead = (path) => (path === '/token' ? answer(elsewhere()) : undefined);
    expect((await desk.visit(body.connect_url)).status).toBe(400);
    other.close();
    expect(had).toEqual([]);
    expect(await desk.list(testKey)).toMatchObject([{ status: 'failed', error: expect.stringMatching(/^The app/) }]);
  });
});

describe('an app that follows no standard', () => {
  it('is signed in to and renewed by what the catalogue says of it [APP-361, APP-365]', async () => {
    const org = await desk.newOrg();
    const asked: { authorization: string | null; form: Record<string, string> }[] = [];
    let issued = 0;
    desk.app.instead = async (path, request) => {
      if (path === '/quirky/authorize') {
        const { searchParams } = new URL(request.url);
        const back = new URL(searchParams.get('redirect_uri') ?? '');
        back.searchParams.set('state', searchParams.get('state') ?? '');
        back.searchParams.set('code', 'a-code');
        return Response.redirect(back.href, 302);
      }
      if (path === '/quirky/token') {
        const form = Object.fromEntries(new URLSearchParams(await request.text()));
        asked.push({ authorization: request.headers.get('authorization'), form });
        issued += 1;
        const tokens = { access_token: `quirky-token-${issued}`, token_type: 'user', refresh_token: 'quirky-refresh' };
        return Response.json({ ok: true, authed_user: { id: 'U1', ...tokens } });
      }
      return path === '/quirky/me' ? Response.json({ login: 'octo-ada' }) : undefined;
    };
    const { body } = await desk.create(org.testKey, { app: 'quirky', user_id: 'ada' });
    const sent = Object.fromEntries(new URL(body.connect_url).searchParams);
    expect(sent).toMatchObject({ client_id: 'quirky-client', user_scope: 'read write', access_type: 'offline' });
    expect(Object.keys(sent)).toEqual(expect.arrayContaining(['state', 'code_challenge']));
    expect(Object.keys(sent)).not.toEqual(expect.arrayContaining(['resource']));
    expect(Object.keys(sent)).not.toEqual(expect.arrayContaining(['scope']));
    expect((await desk.visit(body.connect_url)).status).toBe(200);
    expect(await desk.list(org.testKey)).toMatchObject([
      { status: 'connected', account: 'octo-ada', expires_at: null, renews: true },
    ]);
    await endToken(body.id);
    const [signedIn] = await signIns().of({ orgId: org.id, mode: 'test' }, 'ada', 'all');
    expect(signedIn?.credential).toMatchObject({ kind: 'token', token: 'quirky-token-2' });
    const basic = `Basic ${Buffer.from('quirky-client:secret-of-the-quirky-client').toString('base64')}`;
    expect(asked.map(({ authorization }) => authorization)).toEqual([basic, basic]);
    expect(asked.map(({ form }) => [form.grant_type, form.resource])).toEqual([
      ['authorization_code', undefined],
      ['refresh_token', undefined],
    ]);
    expect(await everythingKept()).not.toMatch(/quirky-token|quirky-refresh|secret-of-the-quirky/);
  });
});

describe('a key of the user’s', () => {
  it.each(['keyed', 'keyed-query'])('connects %s at once and is never shown [APP-366]', async (app) => {
    const org = await desk.newOrg();
    const api_key = `key-of-ada-${app}+/=`;
    desk.keyed.keys.add(api_key);
    const { status, body, text: answer } = await desk.create(org.testKey, { app, user_id: 'ada', api_key });
    expect([status, body]).toMatchObject([
      201,
      { status: 'connected', auth: 'api_key', connect_url: null, expires_at: null, renews: false, error: null },
    ]);
    expect(await isTaken(org.id)).toBe(true);
    expect(desk.sent.at(-1)).toEqual(['connection.settle', { org_id: org.id, mode: 'test', connection_id: body.id }]);
    // Another key replaces it.
    const again = `another-key-of-ada-${app}`;
    desk.keyed.keys.add(again);
    await desk.create(org.testKey, { app, user_id: 'ada', api_key: again });
    expect(await desk.list(org.testKey)).toHaveLength(1);
    // The app no longer accepts the key.
    desk.keyed.keys.clear();
    const [signedIn] = await signIns().of({ orgId: org.id, mode: 'test' }, 'ada', 'all');
    if (signedIn?.credential.kind !== 'token') throw new Error('There is no key.');
    expect(signedIn.credential.token).toBe(again);
    expect((await signedIn.credential.refused()).credential.kind).toBe('over');
    expect(await desk.list(org.testKey)).toMatchObject([
      { status: 'failed', error: 'The app no longer accepts the key.' },
    ]);
    const all = `${answer} ${await everythingKept()}`;
    for (const key of [api_key, encodeURIComponent(api_key), again]) expect(all).not.toContain(key);
  });

  it.each<[string, Record<string, unknown>, number, string]>([
    ['it does not take', { app: 'keyed', api_key: 'wrong-key' }, 400, 'api_key_refused'],
    ['it has no use for', { app: 'notes', api_key: 'some-key' }, 400, 'invalid_request'],
    ['no header carries', { app: 'keyed', api_key: 'a\r\nb' }, 400, 'invalid_request'],
    [
      'nobody returns from',
      { app: 'keyed', api_key: 'k', return_url: 'https://shop.example/' },
      400,
      'return_url_not_allowed',
    ],
    ['it must have', { app: 'keyed' }, 400, 'oauth_not_available'],
  ])('that %s is refused [APP-366]', async (_what, wanted, status, code) => {
    const { testKey } = await desk.newOrg();
    const answer = await desk.create(testKey, wanted);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(answer.text).not.toContain('wrong-key');
    expect(await desk.list(testKey)).toEqual([]);
  });
});
