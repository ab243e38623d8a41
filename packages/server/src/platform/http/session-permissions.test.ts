import { Failure } from '@vestra/contract/errors';
import type { Route } from '@vestra/contract/route';
import type { Capability, SessionAccess } from '@vestra/contract/session-access';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Caller } from '../caller.ts';
import { requireAllowedFields, requireCapability, viewOf } from './session-permissions.ts';

function route(session?: SessionAccess): Route {
  return {
    auth: 'key',
    scopes: ['runtime'],
    ...(session && { session }),
    method: 'POST',
    path: '/v1/things',
    summary: 'Things',
    description: 'Things that a session may see.',
    status: 200,
    response: z.object({}),
    errors: [],
    command: null,
  };
}

const access = (given: Partial<SessionAccess>): SessionAccess => ({ needs: ['chat'], sends: [], sees: {}, ...given });

const withKey: Caller = {
  orgId: 'org_1',
  orgStatus: 'active',
  mode: 'test',
  actor: { type: 'key', id: 'key_1', name: 'A key' },
  scopes: ['all'],
  key: { id: 'key_1', name: 'A key', last4: '0000' },
  member: null,
  grant: null,
  session: null,
};

const sessionOf = (...switchedOn: Capability[]) => ({
  id: 'ses_1',
  userId: 'ann',
  conversationId: null,
  switchedOn,
  expiresAt: new Date('2030-01-01'),
  openedBy: null,
});

const withSession: Caller = { ...withKey, scopes: [], key: null, session: sessionOf('chat') };

describe('routes for a session', () => {
  const opened = (row: Route, ...switchedOn: Capability[]) =>
    outcome(() => requireCapability(row, sessionOf(...switchedOn)));

  it.each<[string, Route, Capability[], string | null]>([
    ['what it has switched on', route(access({})), ['chat'], null],
    ['what one of its switches opens', route(access({ needs: ['voice', 'screen'] })), ['memory', 'screen'], null],
    ['what any session may', route(access({ needs: 'itself' })), [], null],
    ['no route without a row', route(), ['chat', 'screen', 'voice', 'memory'], 'session_scope'],
    ['nothing without a switch', route(access({})), [], 'session_scope'],
    ['nothing with another switch', route(access({})), ['screen', 'voice', 'memory'], 'session_scope'],
  ])('%s [SES-101]', (_what, row, switchedOn, code) => {
    expect(opened(row, ...switchedOn)?.code ?? null).toBe(code);
  });

  it('names the capabilities that a route needs', () => {
    expect(opened(route(access({ needs: ['chat', 'voice', 'screen'] })))?.message).toBe(
      'This needs a session that was opened with `chat`, `voice` or `screen`.',
    );
    expect(opened(route(access({})))?.message).toBe('This needs a session that was opened with `chat`.');
  });
});

describe('fields that a session may send', () => {
  const row = route(access({ sends: ['text', 'limit'] }));
  const sent = (caller: Caller | null, query: string, body: unknown, to = row) =>
    outcome(() => requireAllowedFields(to, caller, new URLSearchParams(query), body));

  it.each<[string, string, unknown, string | null]>([
    ['fields that the row opens', 'limit=1', { text: 'a' }, null],
    ['nothing', '', undefined, null],
    ['null', '', null, null],
    ['no other field', '', { text: 'a', metadata: null }, 'metadata'],
    ['no other name in the query', 'limit=1&context=x', { text: 'a' }, 'context'],
    ['a list, which has no names', '', ['text'], null],
    ['a word, which has no names', '', 'metadata', null],
    ['no name longer than it is shown', '', { ['x'.repeat(300)]: 1 }, 'x'.repeat(200)],
  ])('%s [SES-102]', (_what, query, body, param) => {
    const refused = sent(withSession, query, body);
    expect(refused && { code: refused.code, param: refused.details.param }).toEqual(
      param === null ? null : { code: 'session_scope', param },
    );
  });

  it('names the allowed fields', () => {
    expect(sent(withSession, 'x=1', null)?.message).toBe(
      'A session token may not send this here; it may send `text` and `limit`.',
    );
    for (const closed of [route(access({})), route()]) {
      expect(sent(withSession, '', { text: 'a' }, closed)?.message).toBe(
        'A session token may not send this here; it may send nothing.',
      );
    }
  });

  it('does not limit the fields of API keys', () => {
    expect(sent(withKey, 'context=x', { metadata: {} })).toBeNull();
    expect(sent(null, 'context=x', { metadata: {} })).toBeNull();
  });
});

describe('fields that a session sees', () => {
  const answer = { id: 1, cost_usd: 2 };
  const event = { type: 'text', arguments: 3 };
  const views = (row: Route, caller: Caller | null) => {
    const view = viewOf(row, caller);
    return [view.answer(answer), view.event(event)];
  };

  it('shows the fields of the row, with separate lists for responses and events [SES-103]', () => {
    const row = route(access({ sees: { id: true, type: true }, follows: { type: true, id: true } }));
    expect(views(row, withSession)).toEqual([{ id: 1 }, { type: 'text' }]);
  });

  it('shows nothing if the row allows nothing [SES-103]', () => {
    expect(views(route(access({ sees: { id: true } })), withSession)).toEqual([{ id: 1 }, {}]);
    expect(views(route(), withSession)).toEqual([{}, {}]);
  });

  it('shows everything to API keys', () => {
    for (const caller of [withKey, null]) expect(views(route(), caller)).toEqual([answer, event]);
  });
});

function outcome(check: () => void): Failure | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}
