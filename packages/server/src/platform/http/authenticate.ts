import { fail } from '@vestra/contract/errors';
import { idPattern } from '@vestra/contract/ids';
import { roleMayCall } from '@vestra/contract/role';
import { type Mode, modes, type Route } from '@vestra/contract/route';
import type { Caller } from '../caller.ts';
import { requireCapability } from './session-permissions.ts';

/** Looks up credentials. Each function throws the matching failure for a credential that it refuses. */
export type Identities = {
  ofKey: (token: string) => Promise<Caller>;
  ofSession: (token: string) => Promise<Caller>;
  /** The access token of an MCP client that a member has authorised. */
  ofGrant: (token: string) => Promise<Caller>;
  /** The token in the console's cookie; null if there is none. */
  consoleToken: (headers: Headers) => string | null;
  /** A member chooses org and mode with headers. The defaults are the first org and test mode. */
  ofConsole: (
    cookie: string,
    choice: { orgId: string | null; mode: Mode | null },
  ) => Promise<{ caller: Caller; csrfToken: string }>;
};

const safeMethods = new Set(['GET', 'HEAD']);

/**
 * Identifies the caller and checks, in this order, the credential, the mode and org headers, and the access to the
 * route.
 */
export async function identify(
  route: Route,
  request: Request,
  identities: Identities,
  { isFromEdge }: { isFromEdge: boolean },
): Promise<Caller | null> {
  if (route.auth === 'open') return null;
  const authorization = request.headers.get('authorization');
  const cookie = identities.consoleToken(request.headers);
  if (authorization === null && cookie !== null) return identifyMember(route, request, cookie, identities);
  if (route.auth === 'console') throw fail('console_login_required');

  const caller = await identifyBearer(authorization, identities);
  // Check this first, because the token is invalid on other routes. Edges send it for tools that the MCP endpoint runs.
  if (caller.grant && !isFromEdge && !takesGrants(route)) throw fail('token_audience');
  assertOrgOpen(caller);
  const { mode, orgId } = readChoice(request.headers);
  if (mode !== null && mode !== caller.mode)
    throw fail('invalid_mode', {
      message: `The key is a ${caller.mode} key, and Service-Mode is \`${mode}\`: omit the header, or use a ${mode} key.`,
    });
  if (orgId !== null && orgId !== caller.orgId) throw fail('org_mismatch');
  requireScope(route, caller);
  return caller;
}

/** An org that moves accepts nothing, not even reads: a read may wake a computer or claim a call. */
function assertOrgOpen({ orgStatus }: Caller): void {
  if (orgStatus === 'active') return;
  if (orgStatus === 'moving') throw fail('org_moving', { retry_after_ms: movingRetryMs });
  throw fail(orgStatus === 'moved' ? 'org_moved' : 'org_disabled');
}

const movingRetryMs = 30_000;

async function identifyBearer(authorization: string | null, identities: Identities): Promise<Caller> {
  if (authorization === null) throw fail('key_missing');
  const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1];
  if (!token) throw fail('key_invalid', { message: 'Send the API key as `Authorization: Bearer <API_KEY>`.' });
  if (token.startsWith('vst_')) return identities.ofSession(token);
  return token.startsWith('vma_') ? identities.ofGrant(token) : identities.ofKey(token);
}

const takesGrants = (route: Route) => route.auth === 'key' && route.takesGrants === true;

async function identifyMember(route: Route, request: Request, cookie: string, identities: Identities): Promise<Caller> {
  const { caller, csrfToken } = await identities.ofConsole(cookie, readChoice(request.headers));
  if (mayBeForged(route, request) && request.headers.get('x-csrf-token') !== csrfToken) throw fail('csrf_required');
  assertOrgOpen(caller);
  if (route.auth === 'session') throw fail('session_scope', { message: 'This route takes a session token alone.' });
  if (!caller.member || !roleMayCall(caller.member.role, route)) {
    throw fail('role_missing', route.ownerOnly ? { message: 'Only an owner may do this.' } : {});
  }
  return caller;
}

/**
 * Browsers also send the cookie when another site links here. That is harmless for reads, unless the route wakes a
 * computer.
 */
function mayBeForged(route: Route, { method, headers }: Request): boolean {
  if (!safeMethods.has(method)) return true;
  return route.wakes === true && headers.get('sec-fetch-site') !== 'same-origin';
}

function readChoice(headers: Headers): { mode: Mode | null; orgId: string | null } {
  const mode = headers.get('service-mode');
  const orgId = headers.get('service-org');
  if (mode !== null && !(modes as readonly string[]).includes(mode))
    throw fail('invalid_mode', { message: 'Service-Mode is `live` or `test`: send one of them, or omit the header.' });
  if (orgId !== null && !idPattern('org').test(orgId)) throw fail('invalid_org_header');
  return { mode: mode as Mode | null, orgId };
}

function requireScope(route: Route, caller: Caller): void {
  if (caller.session) {
    requireCapability(route, caller.session);
    return;
  }
  if (route.auth === 'session') throw fail('session_scope', { message: 'This route takes a session token alone.' });
  if (route.ownerOnly) {
    requireOwnersKey(caller);
    return;
  }
  if (route.auth !== 'key' || route.scopes === 'any' || caller.scopes.includes('all')) return;
  const { scopes } = route;
  if (!scopes.some((scope) => caller.scopes.includes(scope))) {
    throw fail('scope_missing', { message: `This needs a key with scope ${[...scopes, 'all'].join(' or ')}.` });
  }
}

/** Only a live key may act as an owner. Otherwise a test key could affect live keys, which it cannot create. */
function requireOwnersKey({ scopes, mode }: Caller): void {
  if (!scopes.includes('all')) throw fail('scope_missing', { message: 'This needs a key with scope all.' });
  if (mode !== 'live') throw fail('live_key_required');
}
