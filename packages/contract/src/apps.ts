import { z } from 'zod';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { time } from './time.ts';

/** How this server can authenticate at an app's authorization server. */
export const clientAuthMethods = ['client_secret_basic', 'client_secret_post', 'none'] as const;

const app = z
  .object({
    object: tag('app'),
    id: z.string().describe('What `apps` of a deployment and `app` of a connection take.'),
    name: z.string().describe('What people call it.'),
    description: z.string().describe('What the agent can do with it.'),
    icon_url: z.string().nullable().describe('A picture of it; null where there is none.'),
    connectable: z.boolean().describe('Whether users can connect it on this server.'),
    sign_in: z
      .object({
        client: z
          .enum(['org', 'operator', 'automatic', 'missing'])
          .describe(
            'Who gave the OAuth client that people sign in with; `automatic`: this server makes itself known; `missing`: the app takes only clients that were registered by hand, and none was given yet.',
          ),
        register_at: z
          .string()
          .nullable()
          .describe('Where a company registers a client of its own with the app; null where it is not known.'),
        redirect_uri: z.string().describe('The redirect address to enter there.'),
        note: z.string().nullable().describe('What else to know when registering a client.'),
      })
      .nullable()
      .describe('How people sign in by OAuth; null where the app has no sign-in.'),
    api_key: z
      .object({ note: z.string().nullable().describe('Where a user finds or makes a key.') })
      .nullable()
      .describe('Present where a connection can be made with a key of the user’s, sent as `api_key`.'),
  })
  .describe('An app that users may connect.');

const appParams = z.strictObject({ app: text(1, 64).describe('The id of the app.') });

const appClient = z
  .object({
    object: tag('app_client'),
    app: z.string().describe('The id of the app.'),
    mode: z.enum(modes).describe('The mode whose users sign in with it.'),
    client_id: z.string().describe('What the app calls this client.'),
    has_secret: z.boolean().describe('Whether a secret is stored; it is never shown.'),
    auth_method: z
      .enum(clientAuthMethods)
      .nullable()
      .describe('How the secret is sent; null: as the app says that it wants it.'),
    issuer: z
      .string()
      .describe('The authorization server that the client belongs to, and the only one that is sent its secret.'),
    redirect_uri: z.string().describe('The redirect address that must be entered where the client is registered.'),
    created_at: time.describe('When a client was first given for this app.'),
    updated_at: time.describe('When it was given last.'),
  })
  .describe('An OAuth client that the org registered with an app.');

export const apps = {
  list: route({
    method: 'GET',
    path: '/v1/apps',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the apps that users may connect, and what each needs for that.',
    description:
      'Needs scope `runtime`. Users connect them with `POST /v1/connections`; `apps` of a deployment says which may be used.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(app),
    errors: [],
    command: 'apps list',
  }),
  getClient: route({
    method: 'GET',
    path: '/v1/apps/{app}/client',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Show the OAuth client that the org gave for an app, without its secret.',
    description: 'Needs scope `admin`. Kept per mode: a test key sees the test one.',
    params: appParams,
    status: 200,
    response: appClient,
    errors: ['invalid_request', 'app_not_found', 'app_client_not_found'],
    command: 'app-clients get',
  }),
  putClient: route({
    method: 'PUT',
    path: '/v1/apps/{app}/client',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Give the OAuth client that the org registered with an app; its users sign in with it from then on.',
    description:
      'Needs scope `admin`. Register it with the app first, with the `redirect_uri` that the app’s entry shows. Kept per mode; a second call replaces the first.',
    params: appParams,
    body: z.strictObject({
      client_id: z
        .string()
        .regex(/^[\x21-\x7e]{1,512}$/, 'must be 1 to 512 visible ASCII characters')
        .meta({ description: 'What the app calls the client.', example: 'Iv23liAbCdEf' }),
      client_secret: z
        .string()
        .regex(/^[\x20-\x7e]{1,2048}$/, 'must be 1 to 2048 printable ASCII characters')
        .optional()
        .describe('Its secret, where it has one; it is sealed and never shown again.'),
      auth_method: z
        .enum(clientAuthMethods)
        .optional()
        .describe('How the secret is sent; left out: as the app says that it wants it.'),
    }),
    status: 200,
    response: appClient,
    errors: ['app_not_found', 'app_not_connectable', 'oauth_not_available', 'mcp_server_error'],
    command: 'app-clients set',
  }),
  deleteClient: route({
    method: 'DELETE',
    path: '/v1/apps/{app}/client',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Forget the OAuth client that the org gave for an app; sign-ins made with it last as long as their token.',
    description:
      'Needs scope `admin`. From then on the operator’s client counts, or what this server makes itself known by.',
    params: appParams,
    status: 200,
    response: z.object({
      object: tag('app_client'),
      app: z.string().describe('The id of the app.'),
      deleted: z.literal(true).describe('Always true: users no longer sign in with it.'),
    }),
    errors: ['app_not_found', 'app_client_not_found'],
    command: 'app-clients delete',
  }),
};
