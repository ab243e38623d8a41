import { createHash, randomBytes } from 'node:crypto';
import { routes } from '@vestra/contract/api';
import { newId } from '@vestra/contract/ids';
import { type Role, type Route, roles, scopes, sessionAccessOf } from '@vestra/contract/route';
import { type Capability, capabilities } from '@vestra/contract/session-access';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { query } from '../support/database.ts';
import { bodiesOf, queriesOf } from '../support/hostile.ts';
import { fittingBody, pathOf } from '../support/paths.ts';
import { isOneProcess, startTestServer, type TestServer } from '../support/server.ts';

/** Codes with which a caller is refused for its credential. Any other answer means that it was accepted. */
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
/** The access token of an MCP client of an owner, with every scope that can be granted. */
let granted: string;
let endedToken: string;
let expiredToken: string;

/** Sessions with no capability, with each one and with all. */
const capabilitySets: readonly (readonly Capability[])[] = [[], ...capabilities.map((each) => [each]), capabilities];

beforeAll(async () => {
  server = await startTestServer();
  for (const scope of scopes) {
    const made = await server.call('POST', '/v1/keys', { body: { name: scope, scopes: [scope] } });
    keys[scope] = made.body.key;
  }
  const ended = await openSession(capabilities);
  await server.call('DELETE', `/v1/sessions/${ended.session_id}`);
  endedToken = ended.token;
  expiredToken = (await openSession(capabilities, { minutes: 0 })).token;
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

const takesUploadsAlone = ({ accepts }: Route) => accepts?.length === 1 && accepts[0] === 'multipart/form-data';

function bodyFor(route: Route, fields: object) {
  if (!route.accepts || route.accepts.includes('application/json')) return { body: fields };
  return { raw: upload() };
}

function upload(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['Notes.']), 'notes.txt');
  return form;
}

/**
 * One walk over all rows. Each is called with every kind of credential, with a whole body, and with hostile input.
 * `server.call` compares every answer with its row: another status, an unknown field or another error shape fails here.
 */
describe('every route accepts the credentials of its row and answers any input as its row says [MCP-486, SES-101, SES-102, AUTH-018, REQ-044, ERR-018]', () => {
  it.each(routes.map(({ name, route }) => [name, route] as const))('%s', async (name, route) => {
    await acceptsItsCredentials(route);
    if (sessionAccessOf(route)) {
      await acceptsItsCapabilities(route);
      await refusesTokensOfOtherUsers(name, route);
      await acceptsItsSessionFields(route);
    }
    await isHandled(name, route);
    await survivesHostileInput(route);
  });
});

async function acceptsItsCredentials(route: Route): Promise<void> {
  const bare = await knock(route, null);
  if (route.auth === 'open') {
    expect(bare.isLetIn).toBe(true);
    return;
  }
  const isConsole = route.auth === 'console';
  expect(bare).toMatchObject({ status: 401, code: isConsole ? 'console_login_required' : 'key_missing' });

  for (const scope of scopes) {
    const { status, code, isLetIn } = await knock(route, keys[scope] as string);
    if (isConsole) expect([scope, code]).toEqual([scope, 'console_login_required']);
    else if (route.auth === 'session') expect([scope, code]).toEqual([scope, 'session_scope']);
    else if (route.ownerOnly && scope !== 'all') expect([scope, code]).toEqual([scope, 'scope_missing']);
    else if (scope === 'all' || route.scopes === 'any' || route.scopes.includes(scope)) {
      // A handler may ask for more than the row: a runtime key reaches users' secrets, not the company's.
      const isNarrowed = route.path.startsWith('/v1/secrets') && scope === 'runtime';
      expect([scope, isLetIn || isNarrowed]).toEqual([scope, true]);
    } else expect([scope, status, code]).toEqual([scope, 403, 'scope_missing']);
  }

  const withGrant = await knock(route, granted);
  if (isConsole) expect(withGrant.code).toBe('console_login_required');
  // MCP clients reach this route alone, so that a new route is closed to them.
  else if (route.path === '/v1/mcp') expect(withGrant.isLetIn).toBe(true);
  else expect(withGrant).toMatchObject({ status: 403, code: 'token_audience' });

  const withSession = await knock(route, (await sessionFor(route, capabilities)).token);
  if (isConsole) expect(withSession).toMatchObject({ status: 401, code: 'console_login_required' });
  else if (!sessionAccessOf(route)) expect(withSession).toMatchObject({ status: 403, code: 'session_scope' });
  for (const [token, why] of [
    [endedToken, 'session_revoked'],
    [expiredToken, 'session_expired'],
  ] as const) {
    const code = isConsole ? 'console_login_required' : why;
    expect(await knock(route, token)).toMatchObject({ status: 401, code });
  }
}

async function acceptsItsCapabilities(route: Route): Promise<void> {
  const needs = sessionAccessOf(route)?.needs ?? [];
  for (const switchedOn of capabilitySets) {
    const { token, ...own } = await sessionFor(route, switchedOn);
    const { status, code, isLetIn } = await knock(route, token, ownPath(route, own));
    if (needs === 'itself' || needs.some((each) => switchedOn.includes(each))) {
      expect([switchedOn, isLetIn]).toEqual([switchedOn, true]);
    } else expect([switchedOn, status, code]).toEqual([switchedOn, 403, 'session_scope']);
  }
}

/** Whole bodies, so that nothing else is wrong. */
const sessionBodies: Record<string, object> = {
  'conversations.send': { message: 'Hi' },
  'sessions.screenInput': { inputs: [{ kind: 'hand_back' }] },
  'sessions.voice': { sdp: 'v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n' },
};

async function refusesTokensOfOtherUsers(name: string, route: Route): Promise<void> {
  if (!/\{(session|conversation)_id\}/.test(route.path)) return;
  const { token } = await openSession(capabilities, { user: 'mallory' });
  const answer = await knock(route, token, ownPath(route, await openSession(capabilities)), sessionBodies[name]);
  expect([answer.status, answer.code]).toEqual([403, 'session_scope']);
}

async function acceptsItsSessionFields(route: Route): Promise<void> {
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
}

const namesOf = (schema: unknown): string[] => Object.keys((schema as { shape?: object } | undefined)?.shape ?? {});

const neededQueries: Record<string, string> = {
  'memory.search': '?q=a',
  'browser.cookies': '?domain=example.com&names=a',
};

async function isHandled(name: string, route: Route): Promise<void> {
  if (route.auth === 'session' || route.auth === 'console') return;
  const json = route.body && !route.bodyOptional ? { body: fittingBody(name) } : {};
  const { status } = await server.call(route.method, `${pathOf(route)}${neededQueries[name] ?? ''}`, {
    ...(takesUploadsAlone(route) ? { raw: upload() } : json),
  });
  expect(status).not.toBe(501);
}

const segment = fc.oneof(
  fc.string({ minLength: 1, maxLength: 30 }),
  fc.constantFrom('..', '.', '\0', 'a\0b', '%', '%ff', 'null', 'a'.repeat(300), '🦊', 'dep_', "'"),
);

/** Bodies have most of what can be wrong. Against two servers the routes matter, not the inputs. */
const inputsFor = (route: Route) => (isOneProcess ? (route.body ? 25 : 8) : 2);

async function survivesHostileInput(route: Route): Promise<void> {
  const wrongIds = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: segment });
  await fc.assert(
    fc.asyncProperty(wrongIds, queriesOf(route), bodiesOf(route), async (wrongId, search, body) => {
      const wrongPath = () => route.path.replace(/\{\w+\}/g, encodeURIComponent((wrongId ?? '').toWellFormed()));
      const { status, text } = await server.call(
        route.method,
        `${wrongId === null ? pathOf(route) : wrongPath()}${search}`,
        route.body !== undefined && body !== undefined
          ? { raw: JSON.stringify(body) ?? 'null', headers: { 'content-type': 'application/json' } }
          : {},
      );
      expect(status, text).toBeLessThan(500);
    }),
    { numRuns: inputsFor(route) },
  );
}

it('hostile credentials and headers never answer 500 [REQ-044]', async () => {
  const header = fc.string({ maxLength: 60 }).map((text) => text.replace(/[^\x20-\x7e]/g, '').trim());
  await fc.assert(
    fc.asyncProperty(header, header, header, header, async (authorization, mode, org, cookie) => {
      const { status } = await server.call('GET', '/v1/me', {
        key: null,
        headers: { authorization, 'service-mode': mode, 'service-org': org, cookie: `vestra_console=${cookie}` },
      });
      expect([200, 400, 401, 403]).toContain(status);
    }),
    { numRuns: 150 },
  );
});

it('the screen route refuses every key [AUTH-019]', async () => {
  const screen = routes.find(({ name }) => name === 'sessions.screen')?.route as Route;
  expect(await knock(screen, keys.all as string)).toMatchObject({ status: 403, code: 'session_scope' });
});

/** The scopes of each role, written down a second time to check the code. */
const scopesOfRole = {
  owner: scopes,
  admin: ['setup', 'runtime', 'admin'],
  developer: ['setup', 'runtime'],
  viewer: ['setup', 'runtime'],
} as const;

/** Reads that viewers may not make: they wake a computer or name secrets. */
const closedToViewers = ['users.screenshot', 'browser.cookies', 'browser.watch', 'secrets.list'];

describe('every route opens to exactly the roles of its row [MBR-406] [CON-747]', () => {
  it.each(roles)('%s', async (role) => {
    const cookie = await signInAs(role);
    const headers = { cookie: `vestra_console=${cookie}`, 'x-csrf-token': cookie };
    const { body } = await server.call('GET', '/v1/console/session', { key: null, headers });
    // The logout comes last, since every request after it is refused.
    const last = (name: string) => Number(name === 'consoleAccess.logout');
    for (const { name, route } of [...routes].sort((a, b) => last(a.name) - last(b.name))) {
      const isMeant =
        route.auth === 'open' ||
        route.auth === 'console' ||
        (route.auth === 'key' &&
          (role !== 'viewer' || (route.method === 'GET' && !closedToViewers.includes(name))) &&
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
});

type Own = { session_id: string; conversation_id: string };

const sessions = new Map<string, Promise<Own & { token: string }>>();

/** Routes share a session for each set of capabilities. A route that deletes gets a new one. */
function sessionFor(route: Route, switchedOn: readonly Capability[]): Promise<Own & { token: string }> {
  if (route.method === 'DELETE') return openSession(switchedOn);
  const known = sessions.get(switchedOn.join()) ?? openSession(switchedOn);
  sessions.set(switchedOn.join(), known);
  return known;
}

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
