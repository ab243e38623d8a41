import { createHash, randomBytes } from 'node:crypto';
import { routes } from '@vestra/contract/api';
import { newId } from '@vestra/contract/ids';
import { type Route, scopes } from '@vestra/contract/route';
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
  'role_missing',
  'console_login_required',
]);

let server: TestServer;
const keys: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer();
  for (const scope of scopes) {
    const made = await server.call('POST', '/v1/keys', { body: { name: scope, scopes: [scope] } });
    keys[scope] = made.body.key;
  }
});
afterAll(() => server.stop());

const knock = async (route: Route, key: string | null, path = pathOf(route)) => {
  const { status, body } = await server.call(route.method, path, {
    key,
    ...(route.method === 'GET' || route.method === 'DELETE' ? {} : { body: {} }),
  });
  const code: string | undefined = body?.error?.code;
  return { status, code, isLetIn: code === undefined || !refusals.has(code) };
};

describe('every route opens to exactly the credentials its row names', () => {
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
      else if (scope === 'all' || route.scopes === 'any' || route.scopes.includes(scope)) {
        // A handler may ask for more than the row: a runtime key reaches users' secrets, not the company's.
        const isNarrowed = route.path.startsWith('/v1/secrets') && scope === 'runtime';
        expect([scope, isLetIn || isNarrowed]).toEqual([scope, true]);
      } else expect([scope, status, code]).toEqual([scope, 403, 'scope_missing']);
    }

    const opensToSession = route.auth === 'session' || (route.auth === 'key' && 'session' in route);
    const { token, ownPath } = await openSession(route);
    const withSession = await knock(route, token, ownPath);
    if (opensToSession) expect(withSession.isLetIn).toBe(true);
    else if (route.auth === 'console') expect(withSession.code).toBe('console_login_required');
    else expect(withSession).toMatchObject({ status: 403, code: 'session_scope' });
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
  it.each(['conversations', 'interactions', 'tasks', 'batches', 'routines', 'users', 'memory', 'files', 'events'])(
    '%s takes runtime [AUTH-003]',
    (family) => expect(new Set(scopesOf(family))).toEqual(new Set(['runtime'])),
  );
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
      'GET /v1/health',
      'GET /v1/sessions/{session_id}/frame-policy',
      'POST /v1/console/login',
      'POST /v1/members/accept',
    ]);
  });
  it('lets a session token into its own session, conversation, memory, files and interactions alone [AUTH-029]', () => {
    const opened = routes.filter(({ route }) => route.auth === 'session' || 'session' in route).map(({ name }) => name);
    expect(opened.sort()).toEqual(
      [
        'conversations.events',
        'conversations.get',
        'conversations.messages',
        'conversations.send',
        'conversations.stop',
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

/** A session, and the path by which it reaches what is its own. */
async function openSession(route: Route): Promise<{ token: string; ownPath: string }> {
  const token = `vst_${randomBytes(32).toString('base64url')}`;
  const own = { session_id: newId('ses'), conversation_id: newId('conv') };
  await query(
    server.connectionString,
    `INSERT INTO sessions (id, org_id, mode, user_id, conversation_id, token_hash, chat, screen, memory, driver, expires_at)
     VALUES ($1, $2, 'test', 'ada', $3, $4, true, 'view', true, 'bash', now() + interval '15 minutes')`,
    [own.session_id, server.orgId, own.conversation_id, createHash('sha256').update(token).digest()],
  );
  const path = route.path.replace('{session_id}', own.session_id).replace('{conversation_id}', own.conversation_id);
  return { token, ownPath: pathOf({ ...route, path: path as Route['path'] }) };
}
