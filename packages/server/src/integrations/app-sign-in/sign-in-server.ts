/**
 * Signs users in to apps: OAuth 2.1 with PKCE, by the official MCP client. Faults of an app are returned and never
 * thrown. No message contains text of the app, which knows codes, tokens and secrets.
 */
export type AppSignIn = {
  /** Finds the authorization server of an app, from its metadata and the facts in the catalogue. */
  discover: (serverUrl: string, facts: SignInFacts) => Promise<{ ok: true; server: SignInServer } | SignInFailure>;
  /** Registers this server as a client. */
  register: (
    server: SignInServer,
    about: { redirectUri: string; clientName: string },
  ) => Promise<{ ok: true; client: AppClient } | SignInFailure>;
  /** Returns the address at which the user signs in, and the PKCE verifier. */
  begin: (
    server: SignInServer,
    with_: { client: AppClient; redirectUri: string; state: string },
  ) => Promise<{ ok: true; url: string; verifier: string } | SignInFailure>;
  exchange: (
    server: SignInServer,
    with_: { client: AppClient; redirectUri: string; verifier: string; code: string; iss: string | undefined },
  ) => Promise<{ ok: true; tokens: AppTokens; account: string | null } | SignInFailure>;
  /** The old refresh token stays valid if the response has none. */
  refresh: (
    server: SignInServer,
    with_: { client: AppClient; refreshToken: string },
  ) => Promise<{ ok: true; tokens: AppTokens } | SignInFailure>;
  /** Best effort: the tokens are deleted here whether or not the app accepts the request. */
  revoke: (server: SignInServer, with_: { client: AppClient; tokens: AppTokens }) => Promise<void>;
};

export type AppClient = {
  client_id: string;
  client_secret?: string | undefined;
  /** Seconds since 1970; 0 means never. */
  client_secret_expires_at?: number | undefined;
  token_endpoint_auth_method?: string | undefined;
};

/**
 * Facts about the sign-in of an app that its server does not announce, or announces wrongly. They come only from the
 * operator's catalogue: no response of a server can set them.
 */
export type SignInFacts = {
  /** The endpoints of a server that does not announce them. Discovery is skipped then. */
  endpoints?:
    | {
        issuer: string;
        authorization_endpoint: string;
        token_endpoint: string;
        revocation_endpoint?: string | undefined;
        userinfo_endpoint?: string | undefined;
      }
    | undefined;
  /** The only accepted authorization server if the app's server is asked for it. */
  issuer?: string | undefined;
  /** Requested instead of the scopes that the server announces. */
  scope?: string | undefined;
  /** The app supports or ignores PKCE without announcing it. Only for clients with a secret. */
  pkce_unannounced?: boolean | undefined;
} & SignInQuirks;

/** How an authorization server differs from the standards. */
export type SignInQuirks = {
  /** Additional parameters of the authorization request, such as Google's `access_type`. */
  authorize_with?: Readonly<Record<string, string>> | undefined;
  /** The parameter for the scope, such as Slack's `user_scope`. */
  scope_parameter?: string | undefined;
  /** It refuses requests with a resource (RFC 8707), as Microsoft Entra does. */
  no_resource?: boolean | undefined;
  /** The authentication method of the client, if the server does not announce it or announces it wrongly. */
  auth_method?: 'client_secret_basic' | 'client_secret_post' | 'none' | undefined;
  /** The member of the response that holds the tokens, such as Slack's `authed_user`. */
  tokens_in?: string | undefined;
  /** It uses another name for bearer tokens, such as Slack's `user`. */
  any_token_type?: boolean | undefined;
};

export type AppTokens = { access_token: string; refresh_token: string | null; expires_at: Date | null };

/** Stored with a sign-in, for its renewals. */
export type SignInServer = {
  url: string;
  /** The resource of the tokens (RFC 8707). */
  resource: string;
  scope: string | null;
  /** The client id may be the address of a client metadata document. */
  takesClientDocument?: boolean | undefined;
  quirks?: SignInQuirks | undefined;
  metadata: {
    issuer: string;
    authorization_endpoint: string;
    token_endpoint: string;
    registration_endpoint?: string | undefined;
    revocation_endpoint?: string | undefined;
    userinfo_endpoint?: string | undefined;
    response_types_supported: string[];
    code_challenge_methods_supported: string[];
    token_endpoint_auth_methods_supported?: string[] | undefined;
    authorization_response_iss_parameter_supported?: boolean | undefined;
  };
};

/** `refused` is final, `unavailable` may pass. */
export type SignInFailure = {
  ok: false;
  reason: 'not_offered' | 'refused' | 'unavailable';
  /** The authorization server no longer knows this client. */
  isClientUnknown: boolean;
  message: string;
};

const failure = (reason: SignInFailure['reason'], message: string): SignInFailure => ({
  ok: false,
  reason,
  isClientUnknown: false,
  message,
});
export const notOffered = (message: string) => failure('not_offered', message);
export const refused = (message: string) => failure('refused', message);
export const unavailable = (message: string) => failure('unavailable', message);
