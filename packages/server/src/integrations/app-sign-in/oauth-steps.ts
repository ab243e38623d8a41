import {
  exchangeAuthorization,
  OAuthError,
  type OAuthTokens,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
} from '@modelcontextprotocol/client';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { type OAuthFetch, oauthFetch } from './discover.ts';
import {
  type AppClient,
  type AppSignIn,
  type AppTokens,
  notOffered,
  refused,
  type SignInFailure,
  type SignInQuirks,
  type SignInServer,
  unavailable,
} from './sign-in-server.ts';

type Guarded = { outbound: Pick<Outbound, 'fetch'> };
type Timed = Guarded & { now: () => number };
type Step<Name extends keyof AppSignIn> = ReturnType<AppSignIn[Name]>;

const maxAddress = 8192;

export async function register(
  { outbound }: Guarded,
  server: SignInServer,
  { redirectUri, clientName }: { redirectUri: string; clientName: string },
): Step<'register'> {
  const call = oauthFetch(outbound);
  if (server.metadata.registration_endpoint === undefined) {
    return notOffered('The app accepts no automatic registration: register a client there by hand, and store it.');
  }
  const methods = server.metadata.token_endpoint_auth_methods_supported;
  const method =
    methods && ['none', 'client_secret_basic', 'client_secret_post'].find((each) => methods.includes(each));
  if (methods && !method) return notOffered('The app takes no proof of who asks that this server can give.');
  try {
    const full = await registerClient(server.url, {
      metadata: server.metadata,
      clientMetadata: {
        client_name: clientName,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        ...(method && { token_endpoint_auth_method: method }),
      },
      ...(server.scope !== null && { scope: server.scope }),
      fetchFn: call.fetch,
    });
    const { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } = full;
    return { ok: true, client: { client_id, client_secret, client_secret_expires_at, token_endpoint_auth_method } };
  } catch (error) {
    if (call.wasUnavailable()) return unavailable('The app did not answer when this server registered itself.');
    return error instanceof RegistrationRejectedError
      ? notOffered(
          `The app did not let this server register itself: it answered ${error.status}. Give a client that you registered there by hand.`,
        )
      : notOffered('The app’s answer to the registration could not be read.');
  }
}

export async function begin(
  server: SignInServer,
  { client, redirectUri, state }: { client: AppClient; redirectUri: string; state: string },
): Step<'begin'> {
  const { scope, quirks = {} } = server;
  const { authorizationUrl, codeVerifier } = await startAuthorization(server.url, {
    metadata: server.metadata,
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    ...namedResource(server),
    ...(scope !== null && { scope }),
  });
  const { searchParams } = authorizationUrl;
  if (scope !== null && quirks.scope_parameter !== undefined) {
    searchParams.delete('scope');
    searchParams.set(quirks.scope_parameter, scope);
  }
  for (const [name, value] of Object.entries(quirks.authorize_with ?? {})) searchParams.set(name, value);
  if (authorizationUrl.href.length > maxAddress) return notOffered('The app’s address for signing in is too long.');
  return { ok: true, url: authorizationUrl.href, verifier: codeVerifier };
}

export async function exchange(
  { outbound, now }: Timed,
  server: SignInServer,
  { client, redirectUri, verifier, code, iss }: Parameters<AppSignIn['exchange']>[1],
): Step<'exchange'> {
  const call = oauthFetch(outbound);
  try {
    const tokens = await exchangeAuthorization(server.url, {
      metadata: metadataFor(server, client),
      clientInformation: client,
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri,
      ...namedResource(server),
      fetchFn: normaliseTokens(call.fetch, server.quirks),
      ...(iss !== undefined && { iss }),
    });
    const usable = usableTokens(tokens, null, now);
    if (!usable) return refused('The app gave a token of a kind that is not known here.');
    return { ok: true, tokens: usable, account: await accountOf(call, server, tokens) };
  } catch (error) {
    return failureOf(error, call);
  }
}

export async function refresh(
  { outbound, now }: Timed,
  server: SignInServer,
  { client, refreshToken }: { client: AppClient; refreshToken: string },
): Step<'refresh'> {
  const call = oauthFetch(outbound);
  try {
    const tokens = await refreshAuthorization(server.url, {
      metadata: metadataFor(server, client),
      clientInformation: client,
      refreshToken,
      ...namedResource(server),
      fetchFn: normaliseTokens(call.fetch, server.quirks),
    });
    const usable = usableTokens(tokens, refreshToken, now);
    return usable ? { ok: true, tokens: usable } : refused('The app gave a token of a kind that is not known here.');
  } catch (error) {
    return failureOf(error, call);
  }
}

export async function revoke(
  { outbound }: Guarded,
  server: SignInServer,
  { client, tokens }: { client: AppClient; tokens: AppTokens },
): Promise<void> {
  const metadata = metadataFor(server, client);
  const endpoint = metadata.revocation_endpoint;
  if (!endpoint) return;
  const { fetch } = oauthFetch(outbound, { timeoutMs: 5_000 });
  const each = [
    ['refresh_token', tokens.refresh_token],
    ['access_token', tokens.access_token],
  ] as const;
  for (const [hint, token] of each) {
    if (token === null) continue;
    const { headers, params } = authenticated(client, metadata.token_endpoint_auth_methods_supported ?? []);
    params.set('token', token);
    params.set('token_type_hint', hint);
    await fetch(endpoint, { method: 'POST', headers, body: params }).catch(() => {});
  }
}

function authenticated(client: AppClient, supported: string[]): { headers: Headers; params: URLSearchParams } {
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const params = new URLSearchParams();
  const method = selectClientAuthMethod(client, supported);
  if (method === 'client_secret_basic' && client.client_secret !== undefined) {
    headers.set(
      'authorization',
      `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}`,
    );
    return { headers, params };
  }
  params.set('client_id', client.client_id);
  if (method === 'client_secret_post' && client.client_secret !== undefined) {
    params.set('client_secret', client.client_secret);
  }
  return { headers, params };
}

/** The resource of the tokens (RFC 8707), unless the server refuses the parameter. */
const namedResource = ({ resource, quirks }: SignInServer) => (quirks?.no_resource ? {} : { resource });

const knownMethods: readonly (string | undefined)[] = ['client_secret_basic', 'client_secret_post', 'none'];

/** The authentication method that was agreed for this client takes precedence over what the server announces. */
function metadataFor({ metadata }: SignInServer, { token_endpoint_auth_method: agreed }: AppClient) {
  if (agreed === undefined || !knownMethods.includes(agreed)) return metadata;
  return { ...metadata, token_endpoint_auth_methods_supported: [agreed] };
}

const maxToken = 16_384;

/** Returns null unless the token is a bearer token that fits into a header. */
function usableTokens(tokens: OAuthTokens, before: string | null, now: () => number): AppTokens | null {
  const { access_token, token_type, expires_in, refresh_token } = tokens;
  if (token_type.toLowerCase() !== 'bearer') return null;
  if (access_token.length > maxToken || !/^[\x21-\x7e]+$/.test(access_token)) return null;
  const lasts = expires_in !== undefined && Number.isFinite(expires_in) && expires_in > 0 ? expires_in : null;
  return {
    access_token,
    refresh_token: refresh_token ?? before,
    expires_at: lasts === null ? null : new Date(now() + Math.min(lasts, tenYearsInSeconds) * 1000),
  };
}

const tenYearsInSeconds = 10 * 366 * 24 * 3600;

const temporaryErrors = new Set(['server_error', 'temporarily_unavailable', 'too_many_requests', 'slow_down']);
const unknownClient = new Set(['invalid_client', 'unauthorized_client']);

function failureOf(error: unknown, call: OAuthFetch): SignInFailure {
  if (call.wasTooLarge()) return refused('The app’s answer to the sign-in is larger than any that is read here.');
  if (call.wasUnavailable()) return unavailable('The app’s sign-in did not answer.');
  if (!OAuthError.isInstance(error)) return refused('The app’s answer to the sign-in could not be read.');
  if (temporaryErrors.has(error.code)) return unavailable('The app’s sign-in answered with an error.');
  return unknownClient.has(error.code)
    ? { ...refused('The app does not know the client that this server signs in with.'), isClientUnknown: true }
    : refused('The app refused the sign-in.');
}

/** Converts the response of a token endpoint that differs from the standard. */
function normaliseTokens(
  fetch: OAuthFetch['fetch'],
  { tokens_in: member, any_token_type: isAnyType }: SignInQuirks = {},
): OAuthFetch['fetch'] {
  if (member === undefined && !isAnyType) return fetch;
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.ok) return response;
    const answer: unknown = await response.json();
    if (!isObject(answer)) return Response.json(answer);
    const inner = member === undefined ? answer : answer[member];
    const tokens = isObject(inner) && typeof inner.access_token === 'string' ? inner : answer;
    return Response.json({ ...tokens, ...(isAnyType && { token_type: 'Bearer' }) });
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const longest = 200;

/** The name of the account, if the app reports it in the id token or at its userinfo endpoint. */
async function accountOf(
  call: OAuthFetch,
  { metadata }: SignInServer,
  { id_token, access_token }: Pick<OAuthTokens, 'id_token' | 'access_token'>,
): Promise<string | null> {
  const told = nameIn(claimsOf(id_token));
  if (told !== null || metadata.userinfo_endpoint === undefined) return told;
  try {
    const headers = { authorization: `Bearer ${access_token}`, accept: 'application/json' };
    const response = await call.fetch(metadata.userinfo_endpoint, { headers });
    return response.ok ? nameIn(await response.json()) : null;
  } catch {
    return null;
  }
}

/** The id token came from the token endpoint itself, so its signature proves nothing more, and it decides nothing. */
function claimsOf(idToken: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(idToken?.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

function nameIn(claims: unknown): string | null {
  if (typeof claims !== 'object' || claims === null) return null;
  const { email, preferred_username, login, name } = claims as Record<string, unknown>;
  const found = [email, preferred_username, login, name].find((each) => typeof each === 'string' && each.trim() !== '');
  if (typeof found !== 'string') return null;
  // Shown to users: it must not reverse the text direction or break the line.
  const line = found.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return [...line.slice(0, longest * 2)].slice(0, longest).join('').toWellFormed() || null;
}
