import { routes } from '@vestra/contract/api';
import { roleMayCall } from '@vestra/contract/role';
import { sessionAccessOf } from '@vestra/contract/route';
import { describe, expect, it } from 'vitest';

describe('the scopes of routes', () => {
  const needing = (family: string) => routes.filter((row) => row.family === family).map(({ route }) => route);
  const scopesOf = (family: string) =>
    needing(family).map((route) => (route.auth === 'key' ? [...route.scopes].join() : route.auth));

  it.each(['deployments', 'scenarios', 'testRuns', 'notebooks', 'skills', 'mcpServers', 'webhooks'])(
    '%s accept the scope setup [AUTH-002, AUTH-005, AUTH-028]',
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
  ])('%s accept the scope runtime [AUTH-003]', (family) =>
    expect(new Set(scopesOf(family))).toEqual(new Set(['runtime'])),
  );
  it.each(['orgs', 'keys', 'limits', 'usage', 'auditLog', 'members'])(
    '%s accept the scope admin [AUTH-004, AUTH-039, AUTH-017]',
    (family) => {
      const ofKeys = needing(family).filter((route) => route.auth === 'key');
      expect(new Set(ofKeys.map((route) => (route.auth === 'key' ? [...route.scopes].join() : '')))).toEqual(
        new Set(['admin']),
      );
      expect(ofKeys.some((route) => 'session' in route)).toBe(false);
    },
  );
  it.each(['me', 'models'])('%s accept any scope [AUTH-006, AUTH-038]', (family) =>
    expect(new Set(needing(family).map((route) => (route.auth === 'key' ? route.scopes : null)))).toEqual(
      new Set(['any']),
    ),
  );
  it('only these routes need no credential [AUTH-001, AUTH-007, AUTH-008, AUTH-009, AUTH-021]', () => {
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
  it('a session token opens only its session, conversation, memory, files and interactions [AUTH-029]', () => {
    const opened = routes.filter(({ route }) => sessionAccessOf(route)).map(({ name }) => name);
    expect(opened.sort()).toEqual(
      [
        'connections.create',
        'conversations.events',
        'conversations.get',
        'conversations.messageSources',
        'conversations.messages',
        'conversations.send',
        'conversations.stop',
        'conversations.turn',
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
});

describe('the roles of members', () => {
  it('only owners change the identity provider', () => {
    const forOwners = routes.filter(({ route }) => route.ownerOnly).map(({ name }) => name);
    expect(forOwners).toEqual(['identityProvider.set', 'identityProvider.remove']);
  });

  it('developers reach no route that opens the org to others', () => {
    const closed = routes.filter(({ route }) => route.auth === 'key' && !roleMayCall('developer', route));
    expect(new Set(closed.map(({ family }) => family))).toEqual(
      new Set(['orgs', 'keys', 'limits', 'usage', 'auditLog', 'members', 'identityProvider', 'apps']),
    );
  });
});
