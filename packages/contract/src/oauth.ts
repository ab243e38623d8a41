import { z } from 'zod';
import { failsWith } from './fault.ts';
import { route } from './route.ts';

/** Forms, as OAuth requires; JSON for clients without forms. Unknown parameters are ignored. */
const accepts = ['application/x-www-form-urlencoded', 'application/json'] as const;

/** Per address, which may be shared by all users of one host. */
const tokenRequests = { bucket: 'oauth:token', perMinute: 600 } as const;

const clientId = z
  .string()
  .min(1)
  .max(2048)
  .describe('The client: the address of its metadata document, or the id that it registered.');
const secret = z.string().max(200);

const redirectUris = failsWith('invalid_redirect_uri', z.array(z.string().min(1).max(2048)).min(1).max(20));
const words = z.array(z.string().max(100)).max(20);

/** The authorization server of `/v1/mcp`: OAuth 2.1 for public clients, with the errors of RFC 6749. */
export const oauth = {
  token: route({
    method: 'POST',
    path: '/v1/oauth/token',
    auth: 'open',
    summary: 'Get an access token for /v1/mcp with a code or a refresh token.',
    description:
      'The code needs its PKCE verifier. Each refresh token is valid once: the response contains the next one. Errors follow RFC 6749.',
    perAddress: tokenRequests,
    accepts,
    body: z.object({
      grant_type: z
        .string()
        .max(100)
        .meta({ description: '`authorization_code` or `refresh_token`.', example: 'refresh_token' }),
      client_id: clientId,
      code: secret.optional().describe('The code that the browser returned.'),
      redirect_uri: z.string().max(2048).optional().describe('The redirect address that the code was sent to.'),
      code_verifier: z.string().max(128).optional().describe('The PKCE verifier whose S256 challenge was sent.'),
      refresh_token: secret.optional().describe('The refresh token of the last response.'),
      resource: z.string().max(2048).optional().describe('The address of /v1/mcp; no other is supported.'),
    }),
    status: 200,
    response: z.object({
      access_token: z.string().describe('Valid only for /v1/mcp, as `Authorization: Bearer`.'),
      token_type: z.literal('Bearer').describe('Always `Bearer`.'),
      expires_in: z.int().describe('The lifetime of the access token in seconds.'),
      refresh_token: z.string().describe('Gets the next access token; valid once.'),
      scope: z.string().describe('The granted scopes, separated by spaces.'),
    }),
    errors: ['invalid_grant', 'invalid_target', 'unsupported_grant_type', 'rate_limited'],
    errorShape: 'oauth',
    command: null,
  }),
  register: route({
    method: 'POST',
    path: '/v1/oauth/register',
    auth: 'open',
    summary: 'Register an MCP client.',
    description:
      'For clients without a metadata document. Every client is public: it gets no secret. Unused registrations are deleted.',
    perAddress: { bucket: 'oauth:register', perMinute: 60 },
    body: z.object({
      redirect_uris: redirectUris.describe(
        'Redirect addresses: https, http on the local computer with any port, or an app link.',
      ),
      client_name: z.string().max(200).optional().describe('The name on the consent page.'),
      grant_types: words.optional().describe('Always treated as `authorization_code` and `refresh_token`.'),
      response_types: words.optional().describe('Always treated as `code`.'),
      token_endpoint_auth_method: z.string().max(100).optional().describe('Always treated as `none`.'),
    }),
    status: 201,
    response: z.object({
      client_id: z.string().describe('Identifies the client in further requests.'),
      client_id_issued_at: z.int().describe('When it was registered, in seconds since 1970.'),
      client_name: z.string().describe('The name on the consent page.'),
      redirect_uris: z.array(z.string()).describe('The redirect addresses.'),
      grant_types: z.array(z.string()).describe('Always `authorization_code` and `refresh_token`.'),
      response_types: z.array(z.string()).describe('Always `code`.'),
      token_endpoint_auth_method: z.literal('none').describe('Always `none`: the client has no secret.'),
    }),
    errors: ['invalid_redirect_uri', 'rate_limited'],
    errorShape: 'oauth',
    command: null,
  }),
  revoke: route({
    method: 'POST',
    path: '/v1/oauth/revoke',
    auth: 'open',
    summary: 'Revoke access: ends an access or refresh token with all others of its grant.',
    description: 'Returns the same for an unknown token, as in RFC 7009.',
    perAddress: tokenRequests,
    accepts,
    body: z.object({
      token: secret.describe('The access or refresh token.'),
      client_id: clientId.optional().describe('The client; if given, only its own token is revoked.'),
    }),
    status: 200,
    response: z.object({}).describe('Empty.'),
    errors: ['rate_limited'],
    errorShape: 'oauth',
    command: null,
  }),
};
