import type {
  AuthorizationServer,
  Client,
  ClientAuth,
  DiscoveryRequestOptions,
  TokenEndpointRequestOptions,
  UserInfoRequestOptions,
  ValidateSignatureOptions,
} from 'oauth4webapi';
import type { Outbound } from '../../../platform/outbound/fetcher.ts';

/** A client for the OpenID Connect providers of orgs. All requests go through the guard for tenants' addresses. */
export type IdentityProviders = {
  /** Checks whether the provider can be used for a sign-in. */
  check: (provider: Provider) => ProviderResult<object>;
  /** The address of the provider's sign-in page. */
  signInAddress: (provider: Provider, attempt: SignInParameters) => ProviderResult<{ url: string }>;
  /** Identifies the person from the ID token. Reads missing claims from the userinfo endpoint. */
  identify: (
    provider: Provider,
    attempt: SignInParameters,
    callback: { answer: URLSearchParams; wanted: readonly string[] },
  ) => ProviderResult<{ identity: Identity }>;
};

export type Provider = { issuer: string; clientId: string; clientSecret: string | null };
export type SignInParameters = { redirectUri: string; state: string; nonce: string; verifier: string };
export type Identity = { subject: string; claims: Record<string, unknown> };

type ProviderResult<Result> = Promise<({ ok: true } & Result) | ProviderFailure>;

/** The message contains no address and no text from the provider. */
type ProviderFailure = { ok: false; reason: 'unreachable' | 'refused'; message: string };

/** The provider's response is valid but unusable. */
class Refusal extends Error {}

const maxResponseBytes = 512 * 1024;
const bodiless = new Set([204, 205, 304]);

export function createIdentityProviders({
  outbound,
  refuseAddress,
}: {
  outbound: Pick<Outbound, 'fetch'>;
  refuseAddress: (url: string) => string | null;
}): IdentityProviders {
  /** Runs one exchange, and distinguishes an unreachable provider from a refusal. */
  async function exchange<Result extends object>(
    work: (oauth: OAuth, options: Options) => Promise<Result>,
  ): ProviderResult<Result> {
    const oauth = await import('oauth4webapi');
    let isUnreachable = false;
    const guarded = async (url: string, init: { method?: string; headers?: object; body?: unknown } = {}) => {
      const answer = await outbound
        .fetch(url, {
          method: init.method ?? 'GET',
          headers: Object.fromEntries(new Headers(init.headers as Record<string, string>)),
          timeoutMs: 10_000,
          maxBytes: maxResponseBytes,
          ...(init.body != null && { body: String(init.body) }),
        })
        .catch((error: unknown) => {
          isUnreachable = true;
          throw error;
        });
      if (answer.status >= 500 || answer.status === 429) isUnreachable = true;
      const { status, headers } = answer;
      return new Response(bodiless.has(status) ? null : Buffer.from(answer.body), { status, headers });
    };
    // The guard decides about plain http: it allows it only for private addresses.
    const options = { [oauth.customFetch]: guarded, [oauth.allowInsecureRequests]: true } as unknown as Options;
    try {
      return { ok: true, ...(await work(oauth, options)) };
    } catch (error) {
      if (isUnreachable) return { ok: false, reason: 'unreachable', message: 'The identity provider did not answer.' };
      const message = error instanceof Refusal ? error.message : 'The identity provider’s answer does not hold.';
      return { ok: false, reason: 'refused', message };
    }
  }

  async function discover(oauth: OAuth, options: Options, { issuer }: Provider): Promise<Discovered> {
    const expected = new URL(issuer);
    const server = await oauth.processDiscoveryResponse(expected, await oauth.discoveryRequest(expected, options));
    const { authorization_endpoint, token_endpoint, jwks_uri } = server;
    if (!authorization_endpoint || !token_endpoint || !jwks_uri) {
      throw new Refusal('The identity provider lacks an endpoint that the sign-in needs.');
    }
    // The browser goes there, so apply the rules for this server's own requests.
    if (refuseAddress(authorization_endpoint) !== null) {
      throw new Refusal('The identity provider’s sign-in page has an address that is refused here.');
    }
    return { ...server, authorization_endpoint };
  }

  return {
    check: (provider) =>
      exchange(async (oauth, options) => {
        await discover(oauth, options, provider);
        return {};
      }),
    signInAddress: (provider, { redirectUri, state, nonce, verifier }) =>
      exchange(async (oauth, options) => {
        const url = new URL((await discover(oauth, options, provider)).authorization_endpoint);
        const parameters = {
          client_id: provider.clientId,
          response_type: 'code',
          scope: 'openid email profile',
          redirect_uri: redirectUri,
          state,
          nonce,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        };
        for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
        return { url: url.href };
      }),
    identify: (provider, { redirectUri, state, nonce, verifier }, { answer, wanted }) =>
      exchange(async (oauth, options) => {
        const server = await discover(oauth, options, provider);
        const client: Client = { client_id: provider.clientId };
        const given = oauth.validateAuthResponse(server, client, answer, state);
        const proof = authenticationOf(oauth, provider, server);
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          proof,
          given,
          redirectUri,
          verifier,
          options,
        );
        const expectations = { expectedNonce: nonce, requireIdToken: true };
        const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, expectations);
        await oauth.validateApplicationLevelSignature(server, response, options);
        const claims = oauth.getValidatedIdTokenClaims(tokens);
        if (!claims) throw new Refusal('The identity provider gave no ID token.');
        if (claims.sub === '') throw new Refusal('The identity provider’s token names no person.');
        // The library accepts any time: a token from the future would stay valid for years.
        if (claims.iat * 1000 > Date.now() + clockDifferenceMs) throw new Refusal('The ID token is from the future.');
        const isComplete = wanted.every((name) => claims[name] !== undefined);
        if (isComplete || !server.userinfo_endpoint) return { identity: { subject: claims.sub, claims } };
        const info = await oauth.userInfoRequest(server, client, tokens.access_token, options);
        const more = await oauth.processUserInfoResponse(server, client, claims.sub, info);
        return { identity: { subject: claims.sub, claims: { ...more, ...claims } } };
      }),
  };
}

/** The clocks of two servers differ by seconds. */
const clockDifferenceMs = 60_000;

type OAuth = typeof import('oauth4webapi');
/** One type for the options of all requests, because the guard treats them alike. */
type Options = DiscoveryRequestOptions &
  TokenEndpointRequestOptions &
  UserInfoRequestOptions &
  ValidateSignatureOptions;
type Discovered = AuthorizationServer & { authorization_endpoint: string };

function authenticationOf(oauth: OAuth, { clientSecret }: Provider, server: AuthorizationServer): ClientAuth {
  if (clientSecret === null) return oauth.None();
  const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const takesBasic = supported.includes('client_secret_basic') || !supported.includes('client_secret_post');
  return takesBasic ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret);
}
