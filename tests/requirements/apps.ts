import { area } from '../requirement.ts';

export const apps = area('apps', 'done', [
  ['APP-001', 'docs/apps.md#rules', "An app is a remote MCP server reached with the user's own sign-in."],
  ['APP-002', 'docs/api/apps.md#get-v1apps', '`GET /v1/apps` lists the catalogue of apps.'],
  [
    'APP-003',
    'docs/api/connections.md#post-v1connections',
    '`POST /v1/connections` accepts `{user_id?, app, return_url?}` and answers the connection.',
  ],
  [
    'APP-004',
    'docs/api/connections.md#connection',
    'A connection is `{object: connection, id, app, user_id, status, connect_url, account, created_at}`, null for missing values.',
  ],
  ['APP-005', 'docs/apps.md#connection-status', '`status` of a connection is `pending`, `connected` or `failed`.'],
  [
    'APP-006',
    'docs/api/connections.md#get-v1connections',
    '`GET /v1/connections` lists connections and `DELETE /v1/connections/{id}` removes one with its tokens.',
  ],
  ['APP-007', 'docs/apps.md#rules', 'Signing in is OAuth 2.1 with PKCE and dynamic registration.'],
  ['APP-008', 'docs/api/apps.md#get-v1apps', 'The apps and connections routes need `runtime` or `all`.'],
  ['APP-009', 'docs/apps.md#rules', "The sign-in's callback refuses a state that was not given out."],
  [
    'APP-010',
    'docs/apps.md#connecting',
    "A `return_url` outside the org's `allowed_return_urls` answers 400 `return_url_not_allowed`.",
  ],
  ['APP-011', 'docs/apps.md#connecting', 'An app that cannot be connected answers 400 `app_not_connectable`.'],
  ['APP-012', 'docs/apps.md#connecting', 'An app that offers no sign-in answers 400 `oauth_not_available`.'],
  ['APP-013', 'docs/apps.md#rules', '`apps` limits which apps the agent may use; `all` allows every one.'],
  [
    'APP-014',
    'docs/apps.md#rules',
    'An unknown connection answers 404 `connection_not_found`, an unknown app 404 `app_not_found`.',
  ],
  [
    'APP-015',
    'docs/apps.md#rules',
    'Connecting an app settles the interactions that wait for it, and the work continues.',
  ],
  ['APP-201', 'docs/apps.md#rules', "A refusal of a request to connect an app comes before the app's server is asked."],
  [
    'APP-360',
    'docs/app-catalogue.md#sign-in-flow',
    'A sign-in uses the client that the org gave, then the operator’s, then the document that describes this server, and registers itself last.',
  ],
  [
    'APP-361',
    'docs/app-catalogue.md#the-operators-catalogue',
    '`VESTRA_APPS_FILE` gives an app a `client_id` and the name of the environment variable that holds its secret.',
  ],
  [
    'APP-362',
    'docs/api/apps.md#put-v1appsappclient',
    "`PUT /v1/apps/{app}/client` stores the org's own client, sealed, per mode, with scope `admin`; its secret is never shown.",
  ],
  [
    'APP-363',
    'docs/app-catalogue.md#the-operators-catalogue',
    'A client’s secret goes to no authorization server but the one that it was given for.',
  ],
  [
    'APP-364',
    'docs/apps.md#rules',
    'An authorization server that describes itself falsely is refused in plain words, and nothing is sent to the address it names.',
  ],
  ['APP-365', 'docs/apps.md#rules', "The oddities of an app's sign-in are data of the catalogue."],
  ['APP-366', 'docs/api/apps.md#app', "A connection is created with the user's key if the app accepts one."],
  [
    'APP-367',
    'docs/apps.md#connection-status',
    'A connection shows until when its token is valid, whether it renews, and its last error; `connection.failed` is emitted when it is over.',
  ],
  [
    'APP-460',
    'docs/app-catalogue.md#sign-in-flow',
    'Turns that ask at one moment share a read, and each gets only the sign-ins of its org, mode and user.',
  ],
  [
    'APP-480',
    'docs/apps.md#apps-that-the-agent-needs',
    'An approved call asks for the sign-in if that is over, and is made then, in any process.',
  ],
  [
    'APP-430',
    'docs/apps.md#apps-that-the-agent-needs',
    'A session begins the sign-in to an app that its own conversation waits for, for its user, and to no other; the session page offers it by a button.',
  ],
]);
