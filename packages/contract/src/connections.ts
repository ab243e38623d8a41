import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shown } from './session-access.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';
import { webAddress } from './web-address.ts';

const connectionStatuses = ['pending', 'connected', 'failed'] as const;

export const connection = z
  .object({
    object: tag('connection'),
    id: id('con'),
    app: z.string().describe('The id of the app.'),
    user_id: userId().nullable().describe('The user of the connection; null: the org’s own agent.'),
    auth: z.enum(['oauth', 'api_key']).describe('Whether the user signed in at the app, or supplied a key.'),
    status: z
      .enum(connectionStatuses)
      .describe('`pending` until the user has signed in, `connected` while it can be used, `failed` afterwards.'),
    connect_url: z.string().nullable().describe('Where the user signs in, while the connection is pending.'),
    account: z.string().nullable().describe('The account at the app; null if the app does not report it.'),
    expires_at: time
      .nullable()
      .describe(
        'When the stored token expires; with `renews` it is renewed before that. Null if the app does not report it.',
      ),
    renews: z.boolean().describe('Whether the token can be renewed; if not, the user must sign in again.'),
    error: z
      .string()
      .nullable()
      .describe('The last error in plain words; null if there was none since the last success.'),
    created_at: time.describe('When it was started.'),
  })
  .describe('A user’s account in an app.');

export const connections = {
  list: route({
    method: 'GET',
    path: '/v1/connections',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List connected apps, newest first.',
    description: 'Needs scope `runtime`. Tokens are never shown.',
    query: z.strictObject({
      user_id: userId().optional().describe('Only this user’s; absent: everybody’s.'),
      app: text(1, 64).optional().describe('Only connections to this app.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(connection),
    errors: [],
    command: 'connections list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/connections',
    auth: 'key',
    scopes: ['runtime'],
    session: {
      needs: ['chat'],
      sends: ['app'],
      sees: shown('object', 'id', 'app', 'status', 'connect_url', 'created_at'),
    },
    summary: 'Connect an app: the user signs in at `connect_url`, or supplies an `api_key`, which connects at once.',
    description:
      'Send the user’s browser to `connect_url`. An interaction that waits for the app settles itself once they have signed in. A session can start one for its user while its conversation waits for that app.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      user_id: userId()
        .optional()
        .describe('The user who signs in; absent: the org’s own agent, unless the org requires a user.'),
      app: text(1, 64).meta({ description: 'The id of the app, as `GET /v1/apps` lists it.', examples: ['notion'] }),
      return_url: webAddress
        .optional()
        .describe('Where the browser goes afterwards; one of the org’s `allowed_return_urls`.'),
      api_key: z
        .string()
        .regex(/^[\x21-\x7e]{1,4096}$/, 'must be 1 to 4096 visible ASCII characters')
        .optional()
        .describe('The user’s key, for an app that accepts one: it is tested, encrypted, and connects at once.'),
    }),
    status: 201,
    response: connection,
    errors: [
      'user_required',
      'user_disabled',
      'app_not_found',
      'app_not_connectable',
      'api_key_refused',
      'oauth_not_available',
      'return_url_not_allowed',
      'mcp_server_error',
    ],
    command: 'connections create',
  }),
  callback: route({
    method: 'GET',
    path: '/v1/connections/callback',
    auth: 'open',
    summary: 'The redirect address of an app’s sign-in.',
    description: 'Called by browsers, not by you: part of OAuth 2.1 with PKCE. Each `state` is valid once.',
    // Not strict: apps add their own query parameters.
    query: z.object({
      state: text(1, 1024).optional().describe('Links the sign-in to the connection.'),
      code: text(1, 8192).optional().describe('The code that is exchanged for a token.'),
      error: text(1, 1024).optional().describe('Why the app or the user refused.'),
      iss: text(1, 2048).optional().describe('The issuer of the authorization server.'),
    }),
    status: 200,
    response: z.string().describe('A page; or 302 to the `return_url`, with `connection` and `status`.'),
    produces: ['text/html'],
    isJson: false,
    errors: [],
    command: null,
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/connections/{connection_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Disconnect an app and delete its sign-in.',
    description: 'The agent can no longer use the app for this user; the app’s own list of grants may still show it.',
    params: z.strictObject({ connection_id: failsWith('connection_not_found', id('con')) }),
    status: 200,
    response: deleted('connection'),
    errors: [],
    command: 'connections delete',
  }),
};
