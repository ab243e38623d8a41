import {
  checkResourceAllowed,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  type OAuthServerInfo,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import {
  type AppSignIn,
  notOffered,
  type SignInFacts,
  type SignInQuirks,
  type SignInServer,
  unavailable,
} from './sign-in-server.ts';

type Guarded = {
  outbound: Pick<Outbound, 'fetch'>;
  /** Why this address must not be called or shown to a browser; null if it may. */
  refuseAddress: (url: string) => string | null;
};

/**
 * Finds the authorization server of an app. Statements of a server are trusted only if a false one harms nobody else.
 */
export async function discover(
  { outbound, refuseAddress }: Guarded,
  serverUrl: string,
  facts: SignInFacts,
): ReturnType<AppSignIn['discover']> {
  if (facts.endpoints) return { ok: true, server: serverKnownAs(serverUrl, facts, facts.endpoints) };
  const call = oauthFetch(outbound);
  try {
    const challenge = await challengeOf(call, serverUrl);
    const info = await discoverOAuthServerInfo(serverUrl, {
      fetchFn: call.fetch,
      ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    });
    const server = serverOf(serverUrl, info, challenge.scope, facts);
    if (!server) return notOffered('The app’s server names no place to sign in that this server can use.');
    if (facts.issuer !== undefined && server.metadata.issuer !== facts.issuer) {
      return notOffered('The app’s server names another authorization server than the one that is known of it.');
    }
    const refusedEndpoint = endpointsOf(server).find(([, address]) => refuseAddress(address) !== null);
    if (refusedEndpoint) {
      return notOffered(`The app’s server gives an address as \`${refusedEndpoint[0]}\` that is refused.`);
    }
    return { ok: true, server };
  } catch (error) {
    if (error instanceof IssuerMismatchError) {
      return notOffered('The app’s authorization server says of itself that it is another one.');
    }
    if (call.wasTooLarge()) return notOffered('The app’s server says more of its sign-in than is read here.');
    return call.wasUnavailable()
      ? unavailable('The app’s server could not be asked how people sign in.')
      : notOffered('The app’s server does not say how people sign in.');
  }
}

/** A 401 response may name the metadata address of the server and the scopes that a token needs. */
async function challengeOf(call: OAuthFetch, serverUrl: string) {
  const response = await call.fetch(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

function serverOf(
  serverUrl: string,
  info: OAuthServerInfo,
  asked: string | undefined,
  facts: SignInFacts,
): SignInServer | null {
  const { authorizationServerUrl: url, authorizationServerMetadata: metadata, resourceMetadata } = info;
  const isUsable =
    metadata?.response_types_supported.includes('code') &&
    // A server that does not announce PKCE does not bind a code to the party that requested it.
    (metadata.code_challenge_methods_supported?.includes('S256') || facts.pkce_unannounced);
  if (!metadata || !isUsable) return null;
  const own = resourceUrlFromServerUrl(serverUrl);
  const resource = resourceMetadata?.resource ?? own.href;
  if (!checkResourceAllowed({ requestedResource: own, configuredResource: resource })) return null;
  const named = asked ?? resourceMetadata?.scopes_supported?.join(' ');
  return {
    url,
    resource,
    scope: facts.scope ?? scopeOf(named, metadata.scopes_supported ?? []),
    takesClientDocument: metadata.client_id_metadata_document_supported === true,
    quirks: quirksIn(facts),
    metadata: {
      issuer: metadata.issuer,
      authorization_endpoint: metadata.authorization_endpoint,
      token_endpoint: metadata.token_endpoint,
      registration_endpoint: metadata.registration_endpoint,
      revocation_endpoint: 'revocation_endpoint' in metadata ? asText(metadata.revocation_endpoint) : undefined,
      userinfo_endpoint: 'userinfo_endpoint' in metadata ? asText(metadata.userinfo_endpoint) : undefined,
      response_types_supported: metadata.response_types_supported,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: facts.auth_method
        ? [facts.auth_method]
        : metadata.token_endpoint_auth_methods_supported,
      authorization_response_iss_parameter_supported: metadata.authorization_response_iss_parameter_supported,
    },
  };
}

function serverKnownAs(
  serverUrl: string,
  facts: SignInFacts,
  endpoints: NonNullable<SignInFacts['endpoints']>,
): SignInServer {
  return {
    url: endpoints.issuer,
    resource: resourceUrlFromServerUrl(serverUrl).href,
    scope: facts.scope ?? null,
    quirks: quirksIn(facts),
    metadata: {
      ...endpoints,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: facts.auth_method ? [facts.auth_method] : undefined,
    },
  };
}

const quirksIn = ({
  authorize_with,
  scope_parameter,
  no_resource,
  auth_method,
  tokens_in,
  any_token_type,
}: SignInFacts): SignInQuirks => ({
  authorize_with,
  scope_parameter,
  no_resource,
  auth_method,
  tokens_in,
  any_token_type,
});

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** All addresses to which a sign-in may lead a browser or this server. */
const endpointsOf = ({ metadata }: SignInServer): [name: string, address: string][] =>
  (
    [
      'authorization_endpoint',
      'token_endpoint',
      'registration_endpoint',
      'revocation_endpoint',
      'userinfo_endpoint',
    ] as const
  ).flatMap((name) => (metadata[name] === undefined ? [] : [[name, metadata[name]]]));

/** A refresh token has to be requested if the server knows a scope for it. */
function scopeOf(wanted: string | undefined, known: readonly string[]): string | null {
  if (!wanted) return null;
  const words = wanted.split(' ');
  return known.includes('offline_access') && !words.includes('offline_access') ? `${wanted} offline_access` : wanted;
}

/** Adapts the guarded fetcher to the official client, for one step of a sign-in. */
export type OAuthFetch = {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** A request got no response, or one that reports a temporary fault of the other side. */
  wasUnavailable: () => boolean;
  /** A response exceeded the size limit. */
  wasTooLarge: () => boolean;
};

const largestAnswer = 256 * 1024;
const bodiless = new Set([204, 205, 304]);

export function oauthFetch(outbound: Pick<Outbound, 'fetch'>, { timeoutMs = 10_000 } = {}): OAuthFetch {
  let isUnavailable = false;
  let isTooLarge = false;
  return {
    wasUnavailable: () => isUnavailable,
    wasTooLarge: () => isTooLarge,
    async fetch(url, init = {}) {
      const { method = 'GET', headers, body } = init;
      const sent = body === undefined || body === null ? undefined : String(body);
      const answer = await outbound
        .fetch(String(url), {
          method,
          headers: Object.fromEntries(new Headers(headers)),
          timeoutMs,
          maxBytes: largestAnswer,
          ...(sent !== undefined && { body: sent }),
        })
        .catch((error: unknown) => {
          isUnavailable = true;
          isTooLarge ||= error instanceof OutboundFailure && error.reason === 'too_large';
          throw error;
        });
      const { status } = answer;
      if (status >= 500 || status === 429) isUnavailable = true;
      const text = bodiless.has(status) ? null : new TextDecoder().decode(answer.body);
      return new Response(text, { status, headers: answer.headers });
    },
  };
}
