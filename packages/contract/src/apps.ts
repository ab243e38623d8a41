import { z } from 'zod';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { plainText } from './text.ts';
import { time } from './time.ts';

/** How this server can authenticate at an app's authorization server. */
export const clientAuthMethods = ['client_secret_basic', 'client_secret_post', 'none'] as const;

const app = z
  .object({
    object: tag('app'),
    id: z.string().describe('The value for `apps` of a deployment and `app` of a connection.'),
    name: z.string().describe('The display name of the app.'),
    description: z.string().describe('What the agent can do with the app.'),
    icon_url: z.string().nullable().describe('The address of its icon; null if there is none.'),
    connectable: z.boolean().describe('Whether users can connect it on this server.'),
    sign_in: z
      .object({
        client: z
          .enum(['org', 'operator', 'automatic', 'missing'])
          .describe(
            'The source of the OAuth client for sign-ins; `automatic`: this server registers itself; `missing`: the app accepts only manually registered clients, and none is configured.',
          ),
        register_at: z
          .string()
          .nullable()
          .describe('Where a company can register its own client with the app; null if unknown.'),
        redirect_uri: z.string().describe('The redirect address to enter there.'),
        note: z.string().nullable().describe('Further notes about registering a client.'),
      })
      .nullable()
      .describe('How users sign in with OAuth; null if the app has no sign-in.'),
    api_key: z
      .object({ note: z.string().nullable().describe('Where a user finds or creates a key.') })
      .nullable()
      .describe('Present if a connection can use the user’s own key, sent as `api_key`.'),
  })
  .describe('An app that users can connect.');

const appParams = z.strictObject({ app: plainText(1, 64).describe('The id of the app.') });

const appClient = z
  .object({
    object: tag('app_client'),
    app: z.string().describe('The id of the app.'),
    mode: z.enum(modes).describe('The mode whose users sign in with it.'),
    client_id: z.string().describe('The client’s id at the app.'),
    has_secret: z.boolean().describe('Whether a secret is stored; it is never shown.'),
    auth_method: z.enum(clientAuthMethods).nullable().describe('How the secret is sent; null: as the app requires.'),
    issuer: z.string().describe('The authorization server of the client, and the only one that receives its secret.'),
    redirect_uri: z.string().describe('The redirect address to enter where the client is registered.'),
    created_at: time.describe('When a client was first stored for this app.'),
    updated_at: time.describe('When it was last stored.'),
  })
  .describe('An OAuth client that the org registered with an app.');

export const apps = {
  list: route({
    method: 'GET',
    path: '/v1/apps',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the apps that users can connect, and what each requires.',
    description:
      'Needs scope `runtime`. Users connect them with `POST /v1/connections`; `apps` of a deployment lists the allowed ones.',
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
    summary: 'Show the org’s OAuth client for an app, without its secret.',
    description: 'Needs scope `admin`. Stored per mode: a test key sees the test client.',
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
    summary: 'Set the org’s OAuth client for an app; its users sign in with it from then on.',
    description:
      'Needs scope `admin`. Register it with the app first, with the `redirect_uri` of the app’s entry. Stored per mode; a second call replaces the first.',
    params: appParams,
    body: z.strictObject({
      client_id: z
        .string()
        .regex(/^[\x21-\x7e]{1,512}$/, 'must be 1 to 512 visible ASCII characters')
        .meta({ description: 'The client’s id at the app.', example: 'Iv23liAbCdEf' }),
      client_secret: z
        .string()
        .regex(/^[\x20-\x7e]{1,2048}$/, 'must be 1 to 2048 printable ASCII characters')
        .optional()
        .describe('Its secret, if it has one; it is encrypted and never shown again.'),
      auth_method: z
        .enum(clientAuthMethods)
        .optional()
        .describe('How the secret is sent; absent: as the app requires.'),
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
    summary: 'Remove the org’s OAuth client for an app; existing sign-ins last until their token expires.',
    description: 'Needs scope `admin`. Afterwards the operator’s client is used, or the automatic one.',
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
