import { area } from '../requirement.ts';

export const apps = area('apps', 'done', [
  ['APP-001', 'decisions.md · 7', "An app is a remote MCP server reached with the user's own sign-in."],
  ['APP-002', 'decisions.md · 7', '`GET /v1/apps` lists the catalogue of apps.'],
  [
    'APP-003',
    'decisions.md · 7',
    '`POST /v1/connections` takes `{user_id?, app, return_url?}` and answers the connection.',
  ],
  [
    'APP-004',
    'decisions.md · 7',
    'A connection is `{object: connection, id, app, user_id, status, connect_url, account, created_at}`, nulls where none.',
  ],
  ['APP-005', 'decisions.md · 7', '`status` of a connection is `pending`, `connected` or `failed`.'],
  [
    'APP-006',
    'decisions.md · 7',
    '`GET /v1/connections` lists connections and `DELETE /v1/connections/{id}` removes one with its tokens.',
  ],
  ['APP-007', 'decisions.md · 7', 'Signing in is OAuth 2.1 with PKCE and dynamic registration.'],
  ['APP-008', 'decisions.md · 7', 'The apps and connections routes need `runtime` or `all`.'],
  ['APP-009', 'decisions.md · 7', "The sign-in's callback refuses a state that was not given out."],
  [
    'APP-010',
    'runtime.md · Errors',
    "A `return_url` outside the org's `allowed_return_urls` answers 400 `return_url_not_allowed`.",
  ],
  ['APP-011', 'runtime.md · Errors', 'An app that cannot be connected answers 400 `app_not_connectable`.'],
  ['APP-012', 'runtime.md · Errors', 'An app that offers no sign-in answers 400 `oauth_not_available`.'],
  [
    'APP-013',
    'configuration.md · Deployment file',
    '`apps` limits which apps the agent may use; `all` allows every one.',
  ],
  [
    'APP-014',
    'decisions.md · 3',
    'An unknown connection answers 404 `connection_not_found`, an unknown app 404 `app_not_found`.',
  ],
  [
    'APP-015',
    'runtime.md · States',
    'Connecting an app settles the interactions that wait for it, and the work goes on.',
  ],
  [
    'APP-201',
    'decisions.md · 3',
    "What a call to connect an app is refused for is said before the app's server is asked.",
  ],
  [
    'APP-360',
    'decisions.md · 11',
    'A sign-in uses the client that the org gave, then the operator’s, then the document that describes this server, and registers itself last.',
  ],
  [
    'APP-361',
    'decisions.md · 11',
    '`VESTRA_APPS_FILE` gives an app a `client_id` and the name of the environment variable that holds its secret.',
  ],
  [
    'APP-362',
    'decisions.md · 11',
    '`PUT /v1/apps/{app}/client` keeps the org’s own client, sealed, per mode, with scope `admin`; its secret is never shown.',
  ],
  [
    'APP-363',
    'decisions.md · 11',
    'A client’s secret goes to no authorization server but the one that it was given for.',
  ],
  [
    'APP-364',
    'decisions.md · 11',
    'An authorization server that lies of itself is refused in plain words, and nothing is sent where it points.',
  ],
  ['APP-365', 'decisions.md · 11', 'What is odd of an app’s sign-in is data of the catalogue.'],
  ['APP-366', 'decisions.md · 11', 'A connection is made with a key of the user’s where the app takes one.'],
  [
    'APP-367',
    'decisions.md · 11',
    'A connection shows until when its token is good, whether it renews, and what went wrong last; `connection.failed` tells when it is over.',
  ],
  [
    'APP-460',
    'docs/apps.md · How the sign-in works',
    'Turns that ask at one moment share a read, and each gets the sign-ins of its own org, mode and user alone.',
  ],
  [
    'APP-480',
    'docs/apps.md · When the agent needs an app',
    'A call that was approved asks for the sign-in where that is over, and is made then, in whichever process.',
  ],
  [
    'APP-430',
    'docs/apps.md · When the agent needs an app',
    'A session begins the sign-in to an app that its own conversation waits for, for its user, and to no other; the session page offers it by a button.',
  ],
]);
