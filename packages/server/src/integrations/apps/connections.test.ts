import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { auditEntries } from '../../../../../tests/support/audit-entries.ts';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { one, rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { appClients, connections } from '../tables.ts';
import { type AppRoutes, redirectUri, reset, startAppRoutes } from './apps.fixture.ts';
import { listConnections } from './store.ts';

let desk: AppRoutes;
beforeAll(async () => {
  desk = await startAppRoutes();
});
afterAll(() => desk.stop());
beforeEach(() => reset(desk.app));

const isCallback = (entry: string) => entry.startsWith('GET /authorize') || entry.startsWith('POST /token');

describe('the catalogue', () => {
  it('is listed in pages, with the operator’s apps among the built-in ones [APP-002]', async () => {
    const { testKey } = await desk.newOrg();
    const first = (await desk.call('GET', '/v1/apps?limit=2', { key: testKey })).body;
    expect(first.data).toHaveLength(2);
    const rest = await desk.call('GET', `/v1/apps?limit=100&cursor=${first.next_cursor}`, { key: testKey });
    const all = [...first.data, ...rest.body.data];
    expect(all.map(({ id }) => id)).toEqual(desk.catalogue.all.map(({ id }) => id));
    expect(all).toContainEqual({
      object: 'app',
      id: 'notes',
      name: 'Notes',
      description: 'Notes of people.',
      icon_url: null,
      connectable: true,
      sign_in: { client: 'automatic', register_at: null, redirect_uri: redirectUri, note: null },
      api_key: null,
    });
    expect(all.find(({ id }) => id === 'slack')).toMatchObject({
      connectable: false,
      sign_in: { client: 'missing', register_at: 'https://api.slack.com/apps', redirect_uri: redirectUri },
    });
    expect(all.find(({ id }) => id === 'notion')).toMatchObject({ name: 'Notion', connectable: true });
    expect(JSON.stringify(all)).not.toContain(desk.app.url);
  });

  it('and connections require `runtime` or `all` [APP-008]', async () => {
    const { newKey, testKey } = await desk.newOrg();
    const [setup, all] = [await newKey('test', ['setup']), await newKey('test', ['all'])];
    for (const path of ['/v1/apps', '/v1/connections']) {
      expect((await desk.call('GET', path, { key: setup })).body.error.code).toBe('scope_missing');
      expect((await desk.call('GET', path, { key: testKey })).status).toBe(200);
      expect((await desk.call('GET', path, { key: all })).status).toBe(200);
    }
    expect((await desk.create(setup, {})).body.error.code).toBe('scope_missing');
  });
});

describe('connecting', () => {
  it('is pending with an address, and connected after the user signed in [APP-001, APP-003, APP-004, APP-005, APP-007]', async () => {
    const { testKey, id: orgId } = await desk.newOrg();
    const { status, body } = await desk.create(testKey, { user_id: 'ada' });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'connection',
      id: expect.stringMatching(/^con_/),
      app: 'notes',
      user_id: 'ada',
      auth: 'oauth',
      status: 'pending',
      connect_url: expect.any(String),
      account: null,
      expires_at: null,
      renews: false,
      error: null,
      created_at: expect.any(String),
    });
    const asked = new URL(body.connect_url).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: redirectUri,
      resource: desk.app.url,
      scope: 'notes',
      state: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(desk.app.registered).toMatchObject([
      { redirect_uris: [redirectUri], client_name: expect.stringContaining('(Vestra)'), scope: 'notes' },
    ]);
    expect(await desk.list(testKey)).toEqual([body]);

    const page = await desk.visit(body.connect_url);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Notes is connected')]);
    const expires_at = expect.stringMatching(/^2/);
    const about = { connect_url: null, account: 'ada@notes.example', expires_at, renews: true };
    const connected = { ...body, ...about, status: 'connected' };
    expect(await desk.list(testKey)).toEqual([connected]);
    expect(desk.sent.at(-1)).toEqual(['connection.settle', { org_id: orgId, mode: 'test', connection_id: body.id }]);
  });

  it('asks the app for its client once, and for a new one where the app forgot it', async () => {
    const { testKey, liveKey } = await desk.newOrg();
    await desk.visit((await desk.create(testKey, { user_id: 'ada' })).body.connect_url);
    await desk.visit((await desk.create(testKey, { user_id: 'bob' })).body.connect_url);
    expect(desk.app.registered).toHaveLength(1);
    expect((await desk.create(liveKey, {})).status).toBe(201);
    expect(desk.app.registered).toHaveLength(2);

    const { connect_url } = (await desk.create(testKey, { user_id: 'cy' })).body;
    desk.app.instead = (path) =>
      path === '/token' ? Response.json({ error: 'invalid_client' }, { status: 401 }) : undefined;
    expect((await desk.visit(connect_url)).status).toBe(400);
    reset(desk.app);
    await desk.visit((await desk.create(testKey, { user_id: 'cy' })).body.connect_url);
    expect(desk.app.registered).toHaveLength(1);
    expect(await desk.list(testKey, '?user_id=cy')).toMatchObject([{ status: 'connected' }, { status: 'failed' }]);
  });

  it('works for the org’s own agent, and takes the place of the user’s sign-in before', async () => {
    const { testKey } = await desk.newOrg();
    const [first, second] = [(await desk.create(testKey, {})).body, (await desk.create(testKey, {})).body];
    expect(first.user_id).toBeNull();
    await desk.visit(first.connect_url);
    desk.app.person = 'eve';
    await desk.visit(second.connect_url);
    expect(await desk.list(testKey)).toMatchObject([
      { id: second.id, status: 'connected', account: 'eve@notes.example' },
    ]);
    expect(desk.app.had).not.toContain('POST /revoke');
  });

  it('gives the same answer to a retry with the same key', async () => {
    const { testKey } = await desk.newOrg();
    const retry = () =>
      desk.call('POST', '/v1/connections', {
        key: testKey,
        body: { app: 'notes' },
        headers: { 'idempotency-key': 'once' },
      });
    const first = await retry();
    desk.app.had.length = 0;
    desk.app.instead = () => new Response('away', { status: 503 });
    const again = await retry();
    expect(desk.app.had).toEqual([]);
    expect([again.status, again.body]).toEqual([201, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await desk.list(testKey)).toHaveLength(1);
    const answers = sql`SELECT encode(answer, 'escape') AS kept FROM idempotency_keys WHERE answer IS NOT NULL`;
    expect(JSON.stringify(await rowsOf(desk.db, { kept: text() }, answers))).not.toContain(
      new URL(first.body.connect_url).searchParams.get('state'),
    );
  });

  it('refuses a user that may not act, and an unnamed one where the org requires a name, before the app is asked [APP-201]', async () => {
    const { testKey, id } = await desk.newOrg();
    await desk.create(testKey, { user_id: 'dan' });
    await run(desk.db, sql`UPDATE users SET status = 'disabled' WHERE org_id = ${id} AND id = 'dan'`);
    // The second app does not answer.
    for (const app of ['notes', 'away']) {
      expect((await desk.create(testKey, { app, user_id: 'dan' })).body.error.code).toBe('user_disabled');
    }
    await run(desk.db, sql`UPDATE org_settings SET require_user = true WHERE org_id = ${id}`);
    for (const app of ['notes', 'away']) {
      expect((await desk.create(testKey, { app })).body.error.code).toBe('user_required');
    }
  });
});

describe('an app that cannot be connected', () => {
  it.each([
    ['no such app', 'nothing', 404, 'app_not_found'],
    ['one that is not connectable', 'closed', 400, 'app_not_connectable'],
    ['one that does not answer', 'away', 502, 'mcp_server_error'],
  ])('%s [APP-011, APP-014]', async (_what, app, status, code) => {
    const { testKey } = await desk.newOrg();
    const answer = await desk.create(testKey, { app });
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(await desk.list(testKey)).toEqual([]);
  });

  const at = (place: string, answer: () => Response) => (path: string) =>
    path.startsWith(place) ? answer() : undefined;
  const wellKnown = '/.well-known/oauth-authorization-server';
  const saying = (change: Record<string, unknown>) =>
    at(wellKnown, () => Response.json({ ...desk.app.metadata, ...change }));
  const elsewhere = 'https://elsewhere.example';
  const ofAnother = () =>
    Response.json({ resource: `${elsewhere}/mcp`, authorization_servers: [desk.app.metadata.issuer] });
  const noEntry = () => Response.json({ error: 'access_denied', error_description: 'secret-word' }, { status: 403 });
  it.each<[string, (path: string) => Response | undefined]>([
    ['describes no sign-in', at('/.well-known', () => new Response(null, { status: 404 }))],
    ['lets nobody register', saying({ registration_endpoint: undefined })],
    ['does not hold codes to their asker', saying({ code_challenge_methods_supported: undefined })],
    ['says that it is another server', saying({ issuer: elsewhere })],
    ['sends people to an open address', saying({ authorization_endpoint: 'http://elsewhere.example/' })],
    ['takes proofs that are not known here', saying({ token_endpoint_auth_methods_supported: ['tls'] })],
    ['guards another server', at('/.well-known/oauth-protected-resource', ofAnother)],
    ['refuses the registration', at('/register', noEntry)],
  ])('%s [APP-012]', async (_what, instead) => {
    const { testKey } = await desk.newOrg();
    desk.app.instead = instead;
    const answer = await desk.create(testKey, {});
    expect([answer.status, answer.body.error.code]).toEqual([400, 'oauth_not_available']);
    expect(answer.text).not.toContain('secret-word');
  });

  it('differs from the error of an app that is unreachable for now', async () => {
    const { testKey } = await desk.newOrg();
    for (const place of [wellKnown, '/register']) {
      desk.app.instead = at(place, () => new Response('oops', { status: 503 }));
      expect((await desk.create(testKey, {})).body.error.code).toBe('mcp_server_error');
    }
  });
});

describe('the way back', () => {
  const home = 'https://shop.example/settings?tab=apps';

  it('leads to a `return_url` that the org allows, with what came of it', async () => {
    const { testKey, id } = await desk.newOrg();
    await desk.allowReturn(id, [home, 'https://other.example']);
    const { body } = await desk.create(testKey, { user_id: 'ada', return_url: home });
    expect((await desk.visit(body.connect_url)).url).toBe(`${home}&connection=${body.id}&status=connected`);

    desk.app.consent = 'denied';
    const denied = (await desk.create(testKey, { user_id: 'bob', return_url: 'https://OTHER.example/' })).body;
    const end = await desk.visit(denied.connect_url);
    expect(end.url).toBe(`https://other.example/?connection=${denied.id}&status=failed`);
    expect(await desk.list(testKey, '?user_id=bob')).toMatchObject([
      { status: 'failed', connect_url: null, error: 'The person declined the sign-in.' },
    ]);
  });

  it.each([
    'https://shop.example/settings',
    'https://shop.example/settings?tab=apps&more=1',
    'https://shop.example.evil.example/settings?tab=apps',
    'http://shop.example/settings?tab=apps',
  ])('is refused to %s [APP-010]', async (return_url) => {
    const { testKey, id } = await desk.newOrg();
    await desk.allowReturn(id, [home]);
    const { status, body } = await desk.create(testKey, { return_url });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'return_url_not_allowed', 'return_url']);
    expect(desk.app.had).toEqual([]);
  });

  it('ends on our page if the org removed the return address meanwhile', async () => {
    const { testKey, id } = await desk.newOrg();
    await desk.allowReturn(id, [home]);
    const { connect_url } = (await desk.create(testKey, { return_url: home })).body;
    await desk.allowReturn(id, []);
    const end = await desk.visit(connect_url);
    expect([end.status, new URL(end.url).pathname]).toEqual([200, '/v1/connections/callback']);
  });
});

describe('the callback', () => {
  const callback = (query: Record<string, string>) =>
    desk.open(new URL(`${redirectUri}?${new URLSearchParams(query)}`));
  /** The redirect address, without following it. */
  const backFrom = async (connectUrl: string) => {
    const response = await fetch(connectUrl, { redirect: 'manual' });
    return new URL(response.headers.get('location') as string);
  };

  it('refuses an unknown state without a request to the app [APP-009]', async () => {
    const { testKey } = await desk.newOrg();
    const { body } = await desk.create(testKey, {});
    const back = await backFrom(body.connect_url);
    desk.app.had.length = 0;
    const code = back.searchParams.get('code') as string;
    for (const query of [{ code, state: 'x'.repeat(43) }, { code }, { code, state: body.id }, {}]) {
      const page = await callback(query as Record<string, string>);
      expect([page.status, page.text]).toEqual([400, expect.stringContaining('not known')]);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(page.headers.get('location')).toBeNull();
    }
    expect(desk.app.had).toEqual([]);
    expect(await desk.list(testKey)).toMatchObject([{ status: 'pending' }]);
    expect((await desk.open(back)).status).toBe(200);
  });

  it('takes a state once', async () => {
    const { testKey } = await desk.newOrg();
    const back = await backFrom((await desk.create(testKey, {})).body.connect_url);
    const meanwhile: number[] = [];
    desk.app.instead = async (path) => {
      // Only once, or the repeated state would recurse.
      if (path === '/token' && meanwhile.length === 0) meanwhile.push((await desk.open(back)).status);
      return undefined;
    };
    expect([(await desk.open(back)).status, meanwhile]).toEqual([200, [400]]);
    expect((await desk.open(back)).status).toBe(400);
    expect(desk.app.had.filter((entry) => entry.startsWith('POST /token'))).toHaveLength(1);
    expect(await desk.list(testKey)).toMatchObject([{ status: 'connected' }]);
  });

  it('has no use for a code that was given out for another sign-in, of whichever org', async () => {
    const [one, other] = [await desk.newOrg(), await desk.newOrg()];
    const ours = await backFrom((await desk.create(one.testKey, { user_id: 'ada' })).body.connect_url);
    const theirs = await backFrom((await desk.create(other.testKey, { user_id: 'eve' })).body.connect_url);
    ours.searchParams.set('code', theirs.searchParams.get('code') as string);
    expect((await desk.open(ours)).status).toBe(400);
    expect(await desk.list(one.testKey)).toMatchObject([{ status: 'failed' }]);
    expect(await desk.list(other.testKey)).toMatchObject([{ status: 'pending' }]);
  });

  it('refuses an answer that names another server than the one that was asked', async () => {
    const { testKey } = await desk.newOrg();
    for (const iss of ['https://elsewhere.example', null]) {
      const back = await backFrom((await desk.create(testKey, {})).body.connect_url);
      if (iss === null) back.searchParams.delete('iss');
      else back.searchParams.set('iss', iss);
      expect((await desk.open(back)).status).toBe(400);
    }
    expect(desk.app.had.filter((entry) => entry.startsWith('POST /token'))).toEqual([]);
  });

  it('comes too late after 15 minutes', async () => {
    const { testKey } = await desk.newOrg();
    const { body } = await desk.create(testKey, {});
    const back = await backFrom(body.connect_url);
    const [row] = await rowsWhere(desk.db, connections, sql`id = ${body.id}`);
    expect(Math.round((Number(row?.expires_at) - Number(row?.created_at)) / 60_000)).toBe(15);
    await run(desk.db, sql`UPDATE ${connections} SET expires_at = now() - interval '1 minute' WHERE id = ${body.id}`);
    expect(await desk.list(testKey)).toMatchObject([{ status: 'failed', connect_url: null }]);
    expect((await desk.open(back)).status).toBe(400);
    expect(desk.app.had.filter(isCallback)).toEqual(['GET /authorize']);
  });

  it('keeps nothing of a connection that was removed while the person signed in', async () => {
    const { testKey } = await desk.newOrg();
    const { body } = await desk.create(testKey, {});
    desk.app.instead = async (path) => {
      if (path === '/token') await desk.call('DELETE', `/v1/connections/${body.id}`, { key: testKey });
      return undefined;
    };
    expect((await desk.visit(body.connect_url)).status).toBe(400);
    expect(await desk.list(testKey)).toEqual([]);
    expect(desk.app.grants.at(-1)?.isOver).toBe(true);
  });

  const leaking = 'leaked-secret-word';
  const error = { error: 'invalid_grant', error_description: leaking };
  const token = (access_token: string, token_type = 'bearer') => Response.json({ access_token, token_type });
  it.each<[string, () => Response]>([
    ['answers with an error', () => Response.json(error, { status: 400 })],
    ['answers with no error that is known', () => new Response(`<b>${leaking}</b>`, { status: 400 })],
    ['breaks', () => new Response(leaking, { status: 500 })],
    ['gives no token', () => Response.json({ [leaking]: leaking })],
    ['gives a token of another kind', () => token(leaking, 'DPoP')],
    ['gives a token that no header carries', () => token(`${leaking}\r\nx: y`)],
  ])('reveals nothing of a token endpoint that %s', async (_what, answer) => {
    const { testKey, id } = await desk.newOrg();
    const { body } = await desk.create(testKey, { user_id: 'ada' });
    desk.app.instead = (path) => (path === '/token' ? answer() : undefined);
    const page = await desk.visit(body.connect_url);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('Notes is not connected')]);
    const kept = await rowsOf(
      desk.db,
      { row: text() },
      sql`SELECT row_to_json(c)::text AS row FROM ${connections} c WHERE org_id = ${id}
          UNION ALL SELECT row_to_json(a)::text FROM audit_entries a WHERE org_id = ${id}`,
    );
    expect(await desk.list(testKey)).toMatchObject([{ status: 'failed', account: null }]);
    expect(JSON.stringify([page, kept])).not.toContain(leaking);
  });
});

describe('a stored connection', () => {
  it('is encrypted, separate by org and mode, listed by user and app, and audited [APP-006, TEN-015]', async () => {
    const [org, other] = [await desk.newOrg(), await desk.newOrg()];
    for (const user_id of ['ada', 'bob']) {
      desk.app.person = user_id;
      await desk.visit((await desk.create(org.testKey, { user_id })).body.connect_url);
    }
    const ofAda = await desk.list(org.testKey, '?user_id=ada&app=notes');
    expect(ofAda).toMatchObject([{ user_id: 'ada', account: 'ada@notes.example' }]);
    expect(await desk.list(org.testKey, '?app=notion')).toEqual([]);
    const pages = await desk.call('GET', '/v1/connections?limit=1', { key: org.testKey });
    expect(await desk.list(org.testKey, `?limit=1&cursor=${pages.body.next_cursor}`)).toEqual(ofAda);
    expect(await desk.list(org.liveKey)).toEqual([]);
    expect(await desk.list(other.testKey)).toEqual([]);

    const kept = await rowsOf(
      desk.db,
      { row: text() },
      sql`SELECT row_to_json(c)::text AS row FROM ${connections} c
          UNION ALL SELECT row_to_json(c)::text FROM ${appClients} c
          UNION ALL SELECT row_to_json(a)::text FROM audit_entries a`,
    );
    const shown = JSON.stringify(kept);
    for (const secret of desk.app.secrets()) {
      expect(shown).not.toContain(secret);
      expect(shown).not.toContain(Buffer.from(secret).toString('hex'));
    }
    const entries = await auditEntries(desk.db, { orgId: org.id, targetId: ofAda[0].id });
    expect(entries.map(({ action, details }) => ({ action, details }))).toEqual(
      ['connection.created', 'connection.connected'].map((action) => ({
        action,
        details: { app: 'notes', user_id: 'ada' },
      })),
    );
  });

  it('is listed by app at the cost of a page, however many other connections exist', async () => {
    const { id: orgId } = await desk.newOrg();
    await run(
      desk.db,
      sql`INSERT INTO ${connections} (org_id, mode, id, user_key, app, server_url, status, authorization_server)
          SELECT ${orgId}, 'test', 'con_' || lpad(n::text, 24, '0'), 'u' || n,
            CASE WHEN n <= 3 THEN 'notes' ELSE 'notion' END, 'https://notes.example', 'failed', '{}'
          FROM generate_series(1, 3000) AS n`,
    );
    await run(desk.db, sql`ANALYZE ${connections}`);
    const [listed, read] = await transaction(desk.db, async (tx) => {
      const before = await rowsRead(tx);
      const page = { limit: 20, after: null };
      const found = await listConnections(tx, { orgId, mode: 'test' }, { app: 'notes' }, page);
      return [found.length, (await rowsRead(tx)) - before];
    });
    expect([listed, read]).toEqual([3, 3]);
  });

  it('is deleted here and revoked at the app [APP-006, APP-014]', async () => {
    const [org, other] = [await desk.newOrg(), await desk.newOrg()];
    const { body } = await desk.create(org.testKey, { user_id: 'ada' });
    await desk.visit(body.connect_url);
    const remove = (key: string, id = body.id) => desk.call('DELETE', `/v1/connections/${id}`, { key });
    for (const key of [other.testKey, org.liveKey]) {
      expect([(await remove(key)).status, (await remove(key)).body.error.code]).toEqual([404, 'connection_not_found']);
    }
    expect((await remove(org.testKey, 'nonsense')).body.error.code).toBe('connection_not_found');
    expect(desk.app.had).not.toContain('POST /revoke');
    expect((await remove(org.testKey)).body).toEqual({ object: 'connection', id: body.id, deleted: true });
    expect(desk.app.grants.at(-1)?.isOver).toBe(true);
    expect(await desk.list(org.testKey)).toEqual([]);
    expect((await remove(org.testKey)).status).toBe(404);
  });

  it('is deleted even if the app refuses the revocation', async () => {
    const { testKey } = await desk.newOrg();
    const { body } = await desk.create(testKey, {});
    await desk.visit(body.connect_url);
    desk.app.instead = (path) => (path === '/revoke' ? new Response('no', { status: 500 }) : undefined);
    expect((await desk.call('DELETE', `/v1/connections/${body.id}`, { key: testKey })).status).toBe(200);
    expect(await desk.list(testKey)).toEqual([]);
  });
});

/** Rows of `connections` that this transaction has fetched. */
async function rowsRead(tx: Transaction): Promise<number> {
  const { read } = await one(
    tx,
    { read: count() },
    sql`SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_xact_user_tables WHERE relname = 'connections'`,
  );
  return read;
}
