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
    user_id: userId().nullable().describe('Whose connection it is; null: the org’s own agent.'),
    auth: z.enum(['oauth', 'api_key']).describe('Whether the user signed in at the app, or gave a key of theirs.'),
    status: z
      .enum(connectionStatuses)
      .describe('`pending` until the user has signed in, `connected` while it can be used, `failed` once it is over.'),
    connect_url: z.string().nullable().describe('Where the user signs in, while the connection is pending.'),
    account: z.string().nullable().describe('Whose account it is at the app; null where the app does not say.'),
    expires_at: time
      .nullable()
      .describe(
        'When the token that is kept now ends; it is renewed before, where `renews`. Null where the app does not say.',
      ),
    renews: z
      .boolean()
      .describe('Whether the app gave something to renew the token with; if not, the user signs in anew.'),
    error: z
      .string()
      .nullable()
      .describe('What went wrong last, in plain words; null where nothing did since the last success.'),
    created_at: time.describe('When it was begun.'),
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
    summary:
      'Begin to connect an app: the user signs in at `connect_url`, or gives an `api_key`, which connects at once.',
    description:
      'Send the user’s browser to `connect_url`. An interaction that waits for the app settles itself once they have signed in. A session begins one for its user while its conversation waits for that app.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      user_id: userId()
        .optional()
        .describe('Who signs in; absent: for the org’s own agent, unless the org requires a user.'),
      app: text(1, 64).meta({ description: 'The id of the app, as `GET /v1/apps` lists it.', examples: ['notion'] }),
      return_url: webAddress
        .optional()
        .describe('Where the browser goes afterwards; one of the org’s `allowed_return_urls`.'),
      api_key: z
        .string()
        .regex(/^[\x21-\x7e]{1,4096}$/, 'must be 1 to 4096 visible ASCII characters')
        .optional()
        .describe('A key of the user’s, for an app that takes one: it is tried, sealed, and connects at once.'),
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
    summary: 'Where an app sends the user’s browser back to after the sign-in.',
    description: 'Called by browsers, not by you: part of OAuth 2.1 with PKCE. Each `state` counts once.',
    // Not strict: apps add their own query parameters.
    query: z.object({
      state: text(1, 1024).optional().describe('Ties the sign-in to the connection.'),
      code: text(1, 8192).optional().describe('What the app gives for a token.'),
      error: text(1, 1024).optional().describe('Why the app or the user refused.'),
      iss: text(1, 2048).optional().describe('Which authorization server answers.'),
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
    summary: 'Disconnect an app and forget its sign-in.',
    description: 'The agent can no longer use the app for this user; the app’s own list of grants may still show it.',
    params: z.strictObject({ connection_id: failsWith('connection_not_found', id('con')) }),
    status: 200,
    response: deleted('connection'),
    errors: [],
    command: 'connections delete',
  }),
};
