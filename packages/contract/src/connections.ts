import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';
import { webAddress } from './web-address.ts';

const connectionStatuses = ['pending', 'connected', 'failed'] as const;

export const connection = z.object({
  object: z.literal('connection'),
  id: id('con'),
  app: z.string().meta({ description: 'The id of the app.' }),
  user_id: userId().nullable().meta({ description: 'Whose connection it is; null for the org’s own agent.' }),
  auth: z
    .enum(['oauth', 'api_key'])
    .meta({ description: 'Whether the user signed in at the app, or gave a key of theirs.' }),
  status: z.enum(connectionStatuses).meta({
    description: '`pending` until the user has signed in, `connected` while it can be used, `failed` once it is over.',
  }),
  connect_url: z.string().nullable().meta({ description: 'Where the user signs in, while the connection is pending.' }),
  account: z.string().nullable().meta({ description: 'Whose account it is at the app, where the app tells.' }),
  expires_at: time.nullable().meta({
    description:
      'When the token that is kept now ends; it is renewed before, where `renews`. Null where the app does not say.',
  }),
  renews: z
    .boolean()
    .meta({ description: 'Whether the app gave something to renew the token with; if not, the user signs in anew.' }),
  error: z
    .string()
    .nullable()
    .meta({ description: 'What went wrong last, in plain words; null where nothing did since the last success.' }),
  created_at: time.meta({ description: 'When it was begun.' }),
});

export const connections = {
  list: route({
    method: 'GET',
    path: '/v1/connections',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List connected apps, newest first.',
    query: z.strictObject({ user_id: userId().optional(), app: text(1, 64).optional(), ...pageQuery }),
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
    summary:
      'Begin to connect an app: the user signs in at `connect_url`, or gives an `api_key`, which connects at once.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      user_id: userId().optional().meta({ description: 'Whose connection it is; left out: the org’s own agent’s.' }),
      app: text(1, 64).meta({ description: 'The id of the app, as `GET /v1/apps` lists it.', example: 'notion' }),
      return_url: webAddress
        .optional()
        .meta({ description: 'Where the browser goes after the sign-in; one of the org’s `allowed_return_urls`.' }),
      api_key: z
        .string()
        .regex(/^[\x21-\x7e]{1,4096}$/, 'must be 1 to 4096 visible ASCII characters')
        .optional()
        .meta({
          description: 'A key of the user’s, for an app that takes one: it is tried, sealed, and connects at once.',
        }),
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
    // Not strict: apps add words of their own to the address.
    query: z.object({
      state: text(1, 1024).optional(),
      code: text(1, 8192).optional(),
      error: text(1, 1024).optional(),
      iss: text(1, 2048).optional(),
    }),
    status: 200,
    response: z.string().meta({ description: 'A page; or 302 to the `return_url`, with `connection` and `status`.' }),
    produces: ['text/html'],
    errors: [],
    command: null,
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/connections/{connection_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Disconnect an app and forget its sign-in.',
    params: z.strictObject({ connection_id: failsWith('connection_not_found', id('con')) }),
    status: 200,
    response: deleted('connection'),
    errors: [],
    command: 'connections delete',
  }),
};
