import { createHash, randomBytes } from 'node:crypto';
import { routes } from '@vestra/contract/api';
import { newId } from '@vestra/contract/ids';
import { roleMayCall } from '@vestra/contract/role';
import { type Role, type Route, roles, scopes, sessionAccessOf } from '@vestra/contract/route';
import { type Capability, capabilities } from '@vestra/contract/session-access';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { pathOf } from '../support/paths.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

/** Codes with which the gate turns a caller away; whatever else is answered, the caller was let in. */
const refusals = new Set([
  'key_missing',
  'key_invalid',
  'scope_missing',
  'session_scope',
  'token_audience',
  'role_missing',
  'console_login_required',
]);

let server: TestServer;
const keys: Record<string, string> = {};

/** With everything switched on; the second was just ended, and the time of the third is over. */
let session: string;
let endedSession: string;
let pastSession: string;

/** The access token of an MCP client of an owner, with every scope that can be granted. */
let granted: string;

/** Sessions with nothing, with each thing and with everything switched on. */
const openedWith: readonly (readonly Capability[])[] = [[], ...capabilities.map((each) => [each]), capabilities];

beforeAll(async () => {
  server = await startTestServer();
  for (const scope of scopes) {
    const made = await server.call('POST', '/v1/keys', { body: { name: scope, scopes: [scope] } });
    keys[scope] = made.body.key;
  }
  const opened = [await openSession(capabilities), await openSession(capabilities)] as const;
  [session, endedSession] = [opened[0].token, opened[1].token];
  await server.call('DELETE', `/v1/sessions/${opened[1].session_id}`);
  pastSession = (await openSession(capabilities, { minutes: 0 })).token;
  granted = await grantToOwner();
});
afterAll(() => server.stop());

type Knock = { status: number; code: string | undefined; param: string | undefined; isLetIn: boolean };

const knock = async (
  route: Route,
  key: string | null,
  path = pathOf(route),
  fields = {},
  headers = {},
): Promise<Knock> => {
  const { status, body } = await server.call(route.method, path, {
    key,
    headers,
    ...(route.method === 'GET' || route.method === 'DELETE' ? {} : bodyFor(route, fields)),
  });
  const { code, param } = body?.error ?? {};
  return { status, code, param, isLetIn: code === undefined || !refusals.has(code) };
};

/** Where a row takes uploads alone, one that is whole. */
const bodyFor = ({ accepts }: Route, fields: object) => {
  if (!accepts || accepts.includes('application/json')) return { body: fields };
  const form = new FormData();
  form.append('file', new Blob(['Notes.']), 'notes.txt');
  return { raw: form };
};

describe('every route opens to exactly the credentials its row names [MCP-486]', () => {
  it.each(routes.map(({ name, route }) => [name, route] as const))('%s', async (_, route) => {
    const bare = await knock(route, null);
    if (route.auth === 'open') {
      expect(bare.isLetIn).toBe(true);
      return;
    }
    expect(bare).toMatchObject({
      status: 401,
      code: route.auth === 'console' ? 'console_login_required' : 'key_missing',
    });

    for (const scope of scopes) {
      const { status, code, isLetIn } = await knock(route, keys[scope] as string);
      if (route.auth === 'console') expect([scope, code]).toEqual([scope, 'console_login_required']);
      else if (route.auth === 'session') expect([scope, code]).toEqual([scope, 'session_scope']);
      else if (route.ownerOnly && scope !== 'all') expect([scope, code]).toEqual([scope, 'scope_missing']);
      else if (scope === 'all' || route.scopes === 'any' || route.scopes.includes(scope)) {
        // A handler may ask for more than the row: a runtime key reaches users' secrets, not the company's.
        const isNarrowed = route.path.startsWith('/v1/secrets') && scope === 'runtime';
        expect([scope, isLetIn || isNarrowed]).toEqual([scope, true]);
      } else expect([scope, status, code]).toEqual([scope, 403, 'scope_missing']);
    }

    const withGrant = await knock(route, granted);
    if (route.auth === 'console') expect(withGrant.code).toBe('console_login_required');
    // One row alone: whatever is added is closed to MCP clients.
    else if (route.path === '/v1/mcp') expect(withGrant.isLetIn).toBe(true);
    else expect(withGrant).toMatchObject({ status: 403, code: 'token_audience' });

    const withSession = await knock(route, session);
    if (route.auth === 'console') expect(withSession).toMatchObject({ status: 401, code: 'console_login_required' });
    else if (!sessionAccessOf(route)) expect(withSession).toMatchObject({ status: 403, code: 'session_scope' });
    for (const [token, why] of [
      [endedSession, 'session_revoked'],
      [pastSession, 'session_expired'],
    ] as const) {
      const inVain = route.auth === 'console' ? 'console_login_required' : why;
      expect(await knock(route, token)).toMatchObject({ status: 401, code: inVain });
    }
  });
});

/** Which scopes a role stands for, said once more than in the code. */
const scopesOfRole = { owner: scopes, admin: ['setup', 'runtime', 'admin'], developer: ['setup', 'runtime'] } as const;

describe('every route opens to exactly the roles of the table [MBR-406]', () => {
  it.each(roles)('%s', async (role) => {
    const cookie = await signInAs(role);
    const headers = { cookie: `vestra_console=${cookie}`, 'x-csrf-token': cookie };
    const { body } = await server.call('GET', '/v1/console/session', { key: null, headers });
    // Ended last: it would turn everything after it away.
    const last = (name: string) => Number(name === 'consoleAccess.logout');
    for (const { name, route } of [...routes].sort((a, b) => last(a.name) - last(b.name))) {
      const isMeant =
        route.auth === 'open' ||
        route.auth === 'console' ||
        (route.auth === 'key' &&
          (route.ownerOnly
            ? role === 'owner'
            : route.scopes === 'any' || route.scopes.some((scope) => scopesOfRole[role].includes(scope as never))));
      expect([name, body.may.includes(name)]).toEqual([name, isMeant]);
      if (route.auth === 'open') continue;
      const { code } = await knock(route, null, pathOf(route), {}, headers);
      const isRefused = code === 'role_missing' || (route.auth === 'session' && code === 'session_scope');
      expect([name, isRefused]).toEqual([name, !isMeant]);
    }
  });

  it('leaves what decides over owners to owners', () => {
    const forOwners = routes.filter(({ route }) => route.ownerOnly).map(({ name }) => name);
    expect(forOwners).toEqual(['identityProvider.set', 'identityProvider.remove']);
  });

  it('keeps what opens an org to others from developers', () => {
    const closed = routes.filter(({ route }) => route.auth === 'key' && !roleMayCall('developer', route));
    expect(new Set(closed.map(({ family }) => family))).toEqual(
      new Set(['orgs', 'keys', 'limits', 'usage', 'auditLog', 'members', 'identityProvider', 'apps']),
    );
  });
});

const opensToSessions = routes
  .filter(({ route }) => sessionAccessOf(route))
  .map(({ name, route }) => [name, route] as const);

describe('a session token opens exactly the routes of what its session has switched on [SES-101]', () => {
  it.each(opensToSessions)('%s', async (_, route) => {
    const needs = sessionAccessOf(route)?.needs ?? [];
    for (const switchedOn of openedWith) {
      const { token, ...own } = await openSession(switchedOn);
      const { status, code, isLetIn } = await knock(route, token, ownPath(route, own));
      if (needs === 'itself' || needs.some((each) => switchedOn.includes(each))) {
        expect([switchedOn, isLetIn]).toEqual([switchedOn, true]);
      } else expect([switchedOn, status, code]).toEqual([switchedOn, 403, 'session_scope']);
    }
  });
});

describe('a session token of another user reaches nothing of a session [AUTH-018]', () => {
  const named = opensToSessions.filter(([, { path }]) => /\{(session|conversation)_id\}/.test(path));

  /** Whole ones, so that nothing else is wrong. */
  const bodies: Record<string, object> = {
    'conversations.send': { message: 'Hi' },
    'sessions.screenInput': { inputs: [{ kind: 'hand_back' }] },
    'sessions.voice': { sdp: 'v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n' },
  };

  it.each(named)('%s', async (name, route) => {
    const { token } = await openSession(capabilities, { user: 'mallory' });
    const answer = await knock(route, token, ownPath(route, await openSession(capabilities)), bodies[name]);
    expect([answer.status, answer.code]).toEqual([403, 'session_scope']);
  });
});

describe('a session token sends exactly the fields that a row opens to it [SES-102]', () => {
  const namesOf = (schema: unknown): string[] => Object.keys((schema as { shape?: object } | undefined)?.shape ?? {});

  it.each(opensToSessions)('%s', async (_, route) => {
    const { sends } = sessionAccessOf(route) as { sends: readonly string[] };
    const { token, ...own } = await openSession(capabilities);
    const path = ownPath(route, own);
    const isClosed = ({ code, param }: Knock, field: string) => code === 'session_scope' && param === field;
    for (const field of [...namesOf(route.query), 'no_field']) {
      const answer = await knock(route, token, `${path}?${field}=x`);
      expect([field, isClosed(answer, field)]).toEqual([field, !sends.includes(field)]);
    }
    if (!route.body || route.accepts) return;
    for (const field of [...namesOf(route.body), 'no_field']) {
      const beside = sends.includes('message') ? { message: 'Hi' } : {};
      const answer = await knock(route, token, path, { ...beside, [field]: null });
      expect([field, isClosed(answer, field)]).toEqual([field, !sends.includes(field)]);
    }
  });
});

describe('what the matrix says of the table', () => {
  const needing = (family: string) => routes.filter((row) => row.family === family).map(({ route }) => route);
  const scopesOf = (family: string) =>
    needing(family).map((route) => (route.auth === 'key' ? [...route.scopes].join() : route.auth));

  it.each(['deployments', 'scenarios', 'testRuns', 'notebooks', 'skills', 'mcpServers', 'webhooks'])(
    '%s takes setup [AUTH-002, AUTH-005, AUTH-028]',
    (family) => expect(new Set(scopesOf(family))).toEqual(new Set(['setup'])),
  );
  it.each([
    'conversations',
    'feedback',
    'interactions',
    'tasks',
    'batches',
    'routines',
    'users',
    'memory',
    'files',
    'events',
  ])('%s takes runtime [AUTH-003]', (family) => expect(new Set(scopesOf(family))).toEqual(new Set(['runtime'])));
  it.each(['orgs', 'keys', 'limits', 'usage', 'auditLog', 'members'])(
    '%s takes admin [AUTH-004, AUTH-039, AUTH-017]',
    (family) => {
      const ofKeys = needing(family).filter((route) => route.auth === 'key');
      expect(new Set(ofKeys.map((route) => (route.auth === 'key' ? [...route.scopes].join() : '')))).toEqual(
        new Set(['admin']),
      );
      expect(ofKeys.some((route) => 'session' in route)).toBe(false);
    },
  );
  it.each(['me', 'models'])('%s takes any scope [AUTH-006, AUTH-038]', (family) =>
    expect(new Set(needing(family).map((route) => (route.auth === 'key' ? route.scopes : null)))).toEqual(
      new Set(['any']),
    ),
  );
  it('leaves open what the contract leaves open and no more [AUTH-001, AUTH-007, AUTH-008, AUTH-009, AUTH-021]', () => {
    const open = routes
      .filter(({ route }) => route.auth === 'open')
      .map(({ route }) => `${route.method} ${route.path}`);
    expect(open.sort()).toEqual([
      'GET /v1/a2a/{deployment_id}/.well-known/agent-card.json',
      'GET /v1/connections/callback',
      'GET /v1/console/sign-in/callback',
      'GET /v1/console/sign-in/{org_id}',
      'GET /v1/health',
      'GET /v1/sessions/{session_id}/frame-policy',
      'POST /v1/console/login',
      'POST /v1/console/passkeys/sign-in',
      'POST /v1/console/passkeys/sign-in-options',
      'POST /v1/console/password-reset',
      'POST /v1/members/accept',
      'POST /v1/oauth/register',
      'POST /v1/oauth/revoke',
      'POST /v1/oauth/token',
    ]);
  });
  it('lets a session token into its own session, conversation, memory, files and interactions alone [AUTH-029]', () => {
    const opened = opensToSessions.map(([name]) => name);
    expect(opened.sort()).toEqual(
      [
        'connections.create',
        'conversations.events',
        'conversations.get',
        'conversations.messages',
        'conversations.send',
        'conversations.stop',
        'feedback.ofConversation',
        'feedback.rate',
        'files.create',
        'files.get',
        'interactions.answer',
        'interactions.get',
        'memory.delete',
        'memory.deleteAll',
        'memory.list',
        'sessions.delete',
        'sessions.get',
        'sessions.screen',
        'sessions.screenInput',
        'sessions.voice',
      ].sort(),
    );
  });
  it('refuses a key on the screen route [AUTH-019]', async () => {
    const screen = routes.find(({ name }) => name === 'sessions.screen')?.route as Route;
    expect(await knock(screen, keys.all as string)).toMatchObject({ status: 403, code: 'session_scope' });
  });
});

type Own = { session_id: string; conversation_id: string };

async function openSession(
  switchedOn: readonly Capability[],
  { user = 'ada', minutes = 15 } = {},
): Promise<Own & { token: string }> {
  const token = `vst_${randomBytes(32).toString('base64url')}`;
  const own = { session_id: newId('ses'), conversation_id: newId('conv') };
  await query(
    server.connectionString,
    `INSERT INTO sessions (id, org_id, mode, user_id, conversation_id, token_hash, chat, screen, voice, memory, driver, expires_at)
     VALUES ($1, $2, 'test', $9, $3, $4, $5, $6, $7, $8, 'bash', now() + make_interval(mins => $10))`,
    [
      own.session_id,
      server.orgId,
      own.conversation_id,
      createHash('sha256').update(token).digest(),
      switchedOn.includes('chat'),
      switchedOn.includes('screen') ? 'view' : 'false',
      switchedOn.includes('voice') ? '' : null,
      switchedOn.includes('memory'),
      user,
      minutes,
    ],
  );
  return { token, ...own };
}

/** The path by which a session reaches what is its own. */
function ownPath(route: Route, { session_id, conversation_id }: Own): string {
  const path = route.path.replace('{session_id}', session_id).replace('{conversation_id}', conversation_id);
  return pathOf({ ...route, path: path as Route['path'] });
}

/** A member with a cookie, which is also the CSRF token. */
async function signInAs(role: Role): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const email = `${role}-of-the-matrix@example.com`;
  await query(
    server.connectionString,
    `WITH login AS (INSERT INTO logins (email, password_hash) VALUES ($1, '') RETURNING email),
      member AS (INSERT INTO members (id, org_id, email, role, status) SELECT $2, $3, email, $4, 'active' FROM login)
     INSERT INTO console_sessions (token_hash, email, csrf_token, expires_at)
     SELECT $5, email, $6, now() + interval '1 hour' FROM login`,
    [email, newId('mbr'), server.orgId, role, createHash('sha256').update(token).digest(), token],
  );
  return token;
}

async function grantToOwner(): Promise<string> {
  const token = `vma_${randomBytes(32).toString('base64url')}`;
  await query(
    server.connectionString,
    `WITH made AS (
       INSERT INTO mcp_grants
         (id, org_id, mode, member_id, client_id, client_name, client_address, is_verified, scopes, generation, expires_at)
       SELECT $1, org_id, 'live', id, 'x', 'x', 'x', false, '{runtime,setup,admin}', 1, now() + interval '1 hour'
       FROM members WHERE org_id = $2 AND role = 'owner' LIMIT 1
       RETURNING id)
     INSERT INTO mcp_tokens (token_hash, grant_id, kind, generation, expires_at)
     SELECT $3, id, 'access', 1, now() + interval '1 hour' FROM made`,
    [newId('grant'), server.orgId, createHash('sha256').update(token).digest()],
  );
  return token;
}
