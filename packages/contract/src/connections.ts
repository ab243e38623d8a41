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

const connection = z.object({
  object: z.literal('connection'),
  id: id('con'),
  app: z.string(),
  user_id: userId().nullable(),
  status: z.enum(connectionStatuses),
  connect_url: z.string().nullable().meta({ description: 'Where the user signs in, while the connection is pending.' }),
  account: z.string().nullable(),
  created_at: time,
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
    summary: 'Begin to connect an app; the user signs in at `connect_url`.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      user_id: userId().optional(),
      app: text(1, 64),
      return_url: webAddress.optional(),
    }),
    status: 201,
    response: connection,
    errors: [
      'user_required',
      'user_disabled',
      'app_not_found',
      'app_not_connectable',
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
