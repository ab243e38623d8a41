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
    summary: 'Get an access token for /v1/mcp, by a code or by a refresh token.',
    description:
      'The code needs its PKCE verifier. Each refresh token is used once: the answer holds the next one. Errors are worded as RFC 6749 has them.',
    perAddress: tokenRequests,
    accepts,
    body: z.object({
      grant_type: z
        .string()
        .max(100)
        .meta({ description: '`authorization_code` or `refresh_token`.', example: 'refresh_token' }),
      client_id: clientId,
      code: secret.optional().describe('The code that the browser brought back.'),
      redirect_uri: z.string().max(2048).optional().describe('The redirect address that the code was sent to.'),
      code_verifier: z.string().max(128).optional().describe('The PKCE verifier whose S256 challenge was sent.'),
      refresh_token: secret.optional().describe('The refresh token of the last answer.'),
      resource: z.string().max(2048).optional().describe('The address of /v1/mcp; no other is served.'),
    }),
    status: 200,
    response: z.object({
      access_token: z.string().describe('Opens /v1/mcp, and nothing else, as `Authorization: Bearer`.'),
      token_type: z.literal('Bearer').describe('Always `Bearer`.'),
      expires_in: z.int().describe('Seconds for which the access token works.'),
      refresh_token: z.string().describe('Gets the next access token, once.'),
      scope: z.string().describe('What was granted, with spaces between.'),
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
      'For clients that have no metadata document. Every client is public: it gets no secret. One that is not used is forgotten.',
    perAddress: { bucket: 'oauth:register', perMinute: 60 },
    body: z.object({
      redirect_uris: redirectUris.describe(
        'Where browsers may bring the answer: https, http on this very computer with any port, or a link of an app.',
      ),
      client_name: z.string().max(200).optional().describe('What people read on the page that asks them.'),
      grant_types: words.optional().describe('Taken as `authorization_code` and `refresh_token`, whatever it says.'),
      response_types: words.optional().describe('Taken as `code`, whatever it says.'),
      token_endpoint_auth_method: z.string().max(100).optional().describe('Taken as `none`, whatever it says.'),
    }),
    status: 201,
    response: z.object({
      client_id: z.string().describe('What the client calls itself by from now on.'),
      client_id_issued_at: z.int().describe('When it was registered, in seconds since 1970.'),
      client_name: z.string().describe('What people read on the page that asks them.'),
      redirect_uris: z.array(z.string()).describe('Where browsers may bring the answer.'),
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
    summary: 'Give access back: an access or a refresh token ends with all others of its grant.',
    description: 'Answers the same for a token that is not known, as RFC 7009 has it.',
    perAddress: tokenRequests,
    accepts,
    body: z.object({
      token: secret.describe('The access or refresh token.'),
      client_id: clientId.optional().describe('The client; where it is given, only its own token is ended.'),
    }),
    status: 200,
    response: z.object({}).describe('Empty.'),
    errors: ['rate_limited'],
    errorShape: 'oauth',
    command: null,
  }),
};
