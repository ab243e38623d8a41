import { fail } from '@vestra/contract/errors';
import { type GrantScope, grantScopes } from '@vestra/contract/mcp-grants';
import { isRedirectOf, type McpClient } from './client.ts';

/** A request whose client and redirect address are known: from here on faults can be told to the client. */
export type AuthorizationRequest = {
  client: McpClient;
  redirectUri: string;
  state: string | null;
  scopes: readonly GrantScope[];
  codeChallenge: string;
  refusal: Refusal | null;
};

/** In the words of RFC 6749 and RFC 8707. */
type Refusal = { error: 'invalid_request' | 'unsupported_response_type' | 'invalid_target'; message: string };

/** Clients that name none are for talking to agents and building them. */
const usualScopes: readonly GrantScope[] = ['runtime', 'setup'];

export async function readAuthorizationRequest(
  query: string,
  { findClient, resource }: { findClient: (clientId: string) => Promise<McpClient>; resource: string },
): Promise<AuthorizationRequest> {
  const given = new URLSearchParams(query);
  const only = (name: string) => {
    const values = given.getAll(name);
    return values.length === 1 && values[0] !== '' ? (values[0] as string) : null;
  };
  const clientId = only('client_id') ?? missing('client_id');
  const redirectUri = only('redirect_uri') ?? missing('redirect_uri');
  const client = await findClient(clientId);
  if (!isRedirectOf(client, redirectUri)) throw fail('invalid_redirect_uri', { param: 'redirect_uri' });
  const codeChallenge = only('code_challenge') ?? '';
  return {
    client,
    redirectUri,
    state: only('state'),
    scopes: scopesOf(only('scope')),
    codeChallenge,
    refusal: refusalOf(),
  };

  function refusalOf(): Refusal | null {
    const twice = [...given.keys()].find((name) => name !== 'resource' && given.getAll(name).length > 1);
    if (twice !== undefined) return invalid(`\`${twice.slice(0, 100)}\` is given twice.`);
    if (only('response_type') !== 'code') {
      return { error: 'unsupported_response_type', message: '`response_type` must be `code`.' };
    }
    if (only('code_challenge_method') !== 'S256' || !/^[A-Za-z0-9_-]{43}$/.test(codeChallenge)) {
      return invalid('PKCE is needed: send a `code_challenge` with the `code_challenge_method` S256.');
    }
    if (given.getAll('resource').some((each) => !isResource(each, resource))) {
      return { error: 'invalid_target', message: `\`resource\` must be ${resource}.` };
    }
    return null;
  }
}

const missing = (param: string): never => {
  throw fail('invalid_request', { param, message: `The client has opened this page without one \`${param}\`.` });
};

const invalid = (message: string): Refusal => ({ error: 'invalid_request', message });

/** A slash at the end, or other letters of scheme and host, name the same place. */
export const isResource = (given: string, resource: string): boolean =>
  URL.parse(given)?.href.replace(/\/$/, '') === new URL(resource).href;

/** Scopes that are not known are passed over, as RFC 6749 allows: `scope` of the answer says what came of it. */
function scopesOf(asked: string | null): readonly GrantScope[] {
  const words = asked?.split(' ') ?? [];
  const known = grantScopes.filter((scope) => words.includes(scope));
  return known.length > 0 ? known : usualScopes;
}

/** Where the browser brings the answer: `iss` tells a client of many servers whose it is (RFC 9207). */
export function returnUrl(
  { redirectUri, state }: Pick<AuthorizationRequest, 'redirectUri' | 'state'>,
  issuer: string,
  answer: { code: string } | { error: string; error_description: string },
): string {
  const fields = new URLSearchParams({ ...answer, ...(state !== null && { state }), iss: issuer });
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${fields}`;
}
