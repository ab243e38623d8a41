/**
 * Signs people in to apps: OAuth 2.1 with PKCE, by the official MCP client. Whatever an app does wrong is an answer, never
 * an exception, and nothing that it wrote is in a message: it knows codes, tokens and secrets.
 */
export type AppSignIn = {
  /** Where the people of an app sign in, by what its server says of itself and what is known of it besides. */
  discover: (serverUrl: string, facts: SignInFacts) => Promise<{ ok: true; server: SignInServer } | SignInFailure>;
  /** Makes this server known to the app's authorization server. */
  register: (
    server: SignInServer,
    about: { redirectUri: string; clientName: string },
  ) => Promise<{ ok: true; client: AppClient } | SignInFailure>;
  /** The address at which the person signs in, and what proves afterwards that the same party asked. */
  begin: (
    server: SignInServer,
    with_: { client: AppClient; redirectUri: string; state: string },
  ) => Promise<{ ok: true; url: string; verifier: string } | SignInFailure>;
  exchange: (
    server: SignInServer,
    with_: { client: AppClient; redirectUri: string; verifier: string; code: string; iss: string | undefined },
  ) => Promise<{ ok: true; tokens: AppTokens; account: string | null } | SignInFailure>;
  /** The refresh token stays where the answer brings no other. */
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
  /** Seconds since 1970; 0: never. */
  client_secret_expires_at?: number | undefined;
  token_endpoint_auth_method?: string | undefined;
};

/**
 * What is known of an app's sign-in beside what its server says of itself, or against it. All of it is data of the
 * operator's catalogue: nothing that a server sends can set any of these.
 */
export type SignInFacts = {
  /** Where people sign in, for a server that does not say it; it is not asked then. */
  endpoints?:
    | {
        issuer: string;
        authorization_endpoint: string;
        token_endpoint: string;
        revocation_endpoint?: string | undefined;
        userinfo_endpoint?: string | undefined;
      }
    | undefined;
  /** The only authorization server that is taken, where the app's server is asked for it. */
  issuer?: string | undefined;
  /** What is asked for, in place of what the server names. */
  scope?: string | undefined;
  /** The app holds codes to PKCE, or wants it ignored, and does not say so. Only for clients with a secret. */
  pkce_unannounced?: boolean | undefined;
} & SignInQuirks;

/** How an authorization server differs from the standards, from the sign-in to the last renewal. */
export type SignInQuirks = {
  /** Parameters of the address where people sign in, beside the usual ones: Google's `access_type`. */
  authorize_with?: Readonly<Record<string, string>> | undefined;
  /** The name of the parameter that takes the scope: Slack's `user_scope`. */
  scope_parameter?: string | undefined;
  /** It refuses requests that name the resource (RFC 8707), as Microsoft Entra does. */
  no_resource?: boolean | undefined;
  /** How it wants the client's secret, where it does not say so or says it wrongly. */
  auth_method?: 'client_secret_basic' | 'client_secret_post' | 'none' | undefined;
  /** The member of its answer that holds the tokens: Slack's `authed_user`. */
  tokens_in?: string | undefined;
  /** It calls its bearer tokens by another name: Slack's `user`. */
  any_token_type?: boolean | undefined;
};

export type AppTokens = { access_token: string; refresh_token: string | null; expires_at: Date | null };

/** What is kept of an authorization server from the sign-in to its last renewal. */
export type SignInServer = {
  url: string;
  /** What the tokens are for (RFC 8707). */
  resource: string;
  scope: string | null;
  /** The client may name itself by the address of a document that describes it. */
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

/** `refused`: the answer will not change. `unavailable`: another time it may. */
export type SignInFailure = {
  ok: false;
  reason: 'not_offered' | 'refused' | 'unavailable';
  /** The authorization server does not know this client any more. */
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
