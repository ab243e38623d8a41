import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  OAuthError,
  type OAuthServerInfo,
  type OAuthTokens,
  RegistrationRejectedError,
  refreshAuthorization,
  registerClient,
  resourceUrlFromServerUrl,
  selectClientAuthMethod,
  startAuthorization,
} from '@modelcontextprotocol/client';
import type { Outbound } from '../outbound/fetcher.ts';
import { accountOf } from './account.ts';
import type { AppClient, AppSignIn, AppTokens, SignInFailure, SignInServer } from './app-sign-in.ts';
import { type OAuthFetch, oauthFetch } from './oauth-fetch.ts';

type Guarded = { outbound: Pick<Outbound, 'fetch'> };
type Timed = Guarded & { now: () => number };
type Step<Name extends keyof AppSignIn> = ReturnType<AppSignIn[Name]>;

const longestAddress = 8192;

export async function discover(
  { outbound, refuseAddress }: Guarded & { refuseAddress: (url: string) => string | null },
  serverUrl: string,
): Step<'discover'> {
  const call = oauthFetch(outbound);
  try {
    const challenge = await challengeOf(call, serverUrl);
    const info = await discoverOAuthServerInfo(serverUrl, {
      fetchFn: call.fetch,
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    });
    const server = serverOf(serverUrl, info, challenge.scope);
    if (!server) return notOffered('The app’s server names no place to sign in that this server can use.');
    if (refuseAddress(server.metadata.authorization_endpoint) !== null) {
      return notOffered('The app’s server sends people to an address that is refused.');
    }
    return { ok: true, server };
  } catch {
    return call.wasAway()
      ? unavailable('The app’s server could not be asked how people sign in.')
      : notOffered('The app’s server does not say how people sign in.');
  }
}

/** A server may say in its refusal where its description lies and what rights a token needs. */
async function challengeOf(call: OAuthFetch, serverUrl: string) {
  const response = await call.fetch(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

function serverOf(serverUrl: string, info: OAuthServerInfo, asked: string | undefined): SignInServer | null {
  const { authorizationServerUrl: url, authorizationServerMetadata: metadata, resourceMetadata } = info;
  const isUsable =
    metadata?.response_types_supported.includes('code') &&
    // One that does not say so does not hold a code to whoever asked for it.
    metadata.code_challenge_methods_supported?.includes('S256') &&
    metadata.registration_endpoint !== undefined;
  if (!metadata || !isUsable) return null;
  const own = resourceUrlFromServerUrl(serverUrl);
  const resource = resourceMetadata?.resource ?? own.href;
  if (!checkResourceAllowed({ requestedResource: own, configuredResource: resource })) return null;
  const userinfo = 'userinfo_endpoint' in metadata ? metadata.userinfo_endpoint : undefined;
  return {
    url,
    resource,
    scope: scopeOf(asked ?? resourceMetadata?.scopes_supported?.join(' '), metadata.scopes_supported ?? []),
    metadata: {
      issuer: metadata.issuer,
      authorization_endpoint: metadata.authorization_endpoint,
      token_endpoint: metadata.token_endpoint,
      registration_endpoint: metadata.registration_endpoint,
      revocation_endpoint: 'revocation_endpoint' in metadata ? asText(metadata.revocation_endpoint) : undefined,
      userinfo_endpoint: asText(userinfo),
      response_types_supported: metadata.response_types_supported,
      code_challenge_methods_supported: metadata.code_challenge_methods_supported ?? [],
      token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
      authorization_response_iss_parameter_supported: metadata.authorization_response_iss_parameter_supported,
    },
  };
}

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** A token that can be renewed has to be asked for where the server knows a word for it. */
function scopeOf(wanted: string | undefined, known: readonly string[]): string | null {
  if (!wanted) return null;
  const words = wanted.split(' ');
  return known.includes('offline_access') && !words.includes('offline_access') ? `${wanted} offline_access` : wanted;
}

export async function register(
  { outbound }: Guarded,
  server: SignInServer,
  { redirectUri, clientName }: { redirectUri: string; clientName: string },
): Step<'register'> {
  const call = oauthFetch(outbound);
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
    if (call.wasAway()) return unavailable('The app did not answer when this server made itself known to it.');
    return error instanceof RegistrationRejectedError
      ? notOffered(`The app did not let this server register itself: it answered ${error.status}.`)
      : notOffered('The app’s answer to the registration could not be read.');
  }
}

export async function begin(
  server: SignInServer,
  { client, redirectUri, state }: { client: AppClient; redirectUri: string; state: string },
): Step<'begin'> {
  const { authorizationUrl, codeVerifier } = await startAuthorization(server.url, {
    metadata: server.metadata,
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    resource: server.resource,
    ...(server.scope !== null && { scope: server.scope }),
  });
  if (authorizationUrl.href.length > longestAddress) return notOffered('The app’s address for signing in is too long.');
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
      metadata: server.metadata,
      clientInformation: client,
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri,
      resource: server.resource,
      fetchFn: call.fetch,
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
      metadata: server.metadata,
      clientInformation: client,
      refreshToken,
      resource: server.resource,
      fetchFn: call.fetch,
    });
    const usable = usableTokens(tokens, refreshToken, now);
    return usable ? { ok: true, tokens: usable } : refused('The app gave a token of a kind that is not known here.');
  } catch (error) {
    return failureOf(error, call);
  }
}

export async function revoke(
  { outbound }: Guarded,
  { metadata }: SignInServer,
  { client, tokens }: { client: AppClient; tokens: AppTokens },
): Promise<void> {
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

const longestToken = 16_384;

/** A bearer token that a header can carry; null for any other kind. */
function usableTokens(tokens: OAuthTokens, before: string | null, now: () => number): AppTokens | null {
  const { access_token, token_type, expires_in, refresh_token } = tokens;
  if (token_type.toLowerCase() !== 'bearer') return null;
  if (access_token.length > longestToken || !/^[\x21-\x7e]+$/.test(access_token)) return null;
  const lasts = expires_in !== undefined && Number.isFinite(expires_in) && expires_in > 0 ? expires_in : null;
  return {
    access_token,
    refresh_token: refresh_token ?? before,
    expires_at: lasts === null ? null : new Date(now() + Math.min(lasts, tenYearsInSeconds) * 1000),
  };
}

const tenYearsInSeconds = 10 * 366 * 24 * 3600;

const passing = new Set(['server_error', 'temporarily_unavailable', 'too_many_requests', 'slow_down']);
const unknownClient = new Set(['invalid_client', 'unauthorized_client']);

function failureOf(error: unknown, call: OAuthFetch): SignInFailure {
  if (call.wasAway()) return unavailable('The app’s sign-in did not answer.');
  if (!OAuthError.isInstance(error)) return refused('The app’s answer to the sign-in could not be read.');
  if (passing.has(error.code)) return unavailable('The app’s sign-in answered with an error.');
  return { ...refused('The app refused the sign-in.'), isClientUnknown: unknownClient.has(error.code) };
}

const failure = (reason: SignInFailure['reason'], message: string): SignInFailure => ({
  ok: false,
  reason,
  isClientUnknown: false,
  message,
});
const notOffered = (message: string) => failure('not_offered', message);
const refused = (message: string) => failure('refused', message);
const unavailable = (message: string) => failure('unavailable', message);
