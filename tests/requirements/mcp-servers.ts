import { area } from '../requirement.ts';

export const mcpServers = area('mcp-servers', 'done', [
  [
    'MCPS-001',
    'docs/api/mcp-servers.md#mcpserver',
    'A server shows `id` (`mcp_`), `object: mcp_server`, `slug`, `name`, `url`, `auth`, `tools`, `secrets`, `user_secrets`, `created_at`, `updated_at`.',
  ],
  [
    'MCPS-002',
    'docs/api/mcp-servers.md#post-v1mcp-servers',
    '`slug` is required: lowercase letters, digits, hyphens, starting with a letter, at most 40.',
  ],
  [
    'MCPS-003',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A reserved slug answers 400 `tool_name_reserved` on `slug`.',
  ],
  ['MCPS-004', 'docs/api/mcp-servers.md#post-v1mcp-servers', '`name` is required and takes 1 to 80 characters.'],
  [
    'MCPS-005',
    'docs/api/mcp-servers.md#post-v1mcp-servers',
    '`url` is required: public https, at most 2048 characters.',
  ],
  [
    'MCPS-006',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A credential inside `url` answers 400 `secret_in_url`.',
  ],
  [
    'MCPS-007',
    'docs/api/mcp-servers.md#post-v1mcp-servers',
    '`auth` is `{type: none}` (when absent) or `{type: headers, headers}`.',
  ],
  [
    'MCPS-008',
    'docs/api/mcp-servers.md#post-v1mcp-servers',
    '`auth` shows a credential as its `${secret:NAME}`, never its value.',
  ],
  [
    'MCPS-009',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A raw credential in a header answers 400 `raw_secret_in_header`.',
  ],
  [
    'MCPS-010',
    'docs/api/mcp-servers.md#patch-v1mcp-serversserver_id',
    '`tools` is `{deny, require_approval}`, at most 200 names each, both empty when absent.',
  ],
  [
    'MCPS-011',
    'docs/api/mcp-servers.md#patch-v1mcp-serversserver_id',
    'The floor of `tools` applies to every deployment that uses the server, in both modes.',
  ],
  [
    'MCPS-012',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    '`secrets` and `user_secrets` list the names the headers refer to.',
  ],
  ['MCPS-013', 'docs/api/mcp-servers.md#get-v1mcp-servers', '`GET /v1/mcp-servers` lists servers by pages.'],
  ['MCPS-014', 'docs/api/mcp-servers.md#post-v1mcp-servers', '`POST /v1/mcp-servers` answers 201 with the server.'],
  [
    'MCPS-015',
    'docs/api/mcp-servers.md#get-v1mcp-serversserver_id',
    '`GET /v1/mcp-servers/{server_id}` answers the server.',
  ],
  [
    'MCPS-016',
    'docs/api/mcp-servers.md#patch-v1mcp-serversserver_id',
    '`PATCH /v1/mcp-servers/{server_id}` accepts `name`, `url`, `auth`, `tools`.',
  ],
  [
    'MCPS-017',
    'docs/api/mcp-servers.md#patch-v1mcp-serversserver_id',
    'In PATCH `deny` and `require_approval` each replace the whole list, and a list left out stays.',
  ],
  [
    'MCPS-018',
    'docs/api/mcp-servers.md#delete-v1mcp-serversserver_id',
    '`DELETE /v1/mcp-servers/{server_id}` removes the server and answers `{object, id, deleted: true}`.',
  ],
  [
    'MCPS-019',
    'docs/api/mcp-servers.md#patch-v1mcp-serversserver_id',
    'A change reaches every deployment in both modes, and users at their next task.',
  ],
  [
    'MCPS-020',
    'docs/tool-server-reference.md#changes-to-a-live-server',
    'A change or removal with a test key while a live version uses the server answers 409 `mcp_server_live`.',
  ],
  ['MCPS-021', 'docs/versions.md#changing-content', 'A live key changes a server that a live version uses.'],
  [
    'MCPS-022',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'The reserved slugs are `browser-control`, `os-hands`, `memory-keeper`, `app-connector`.',
  ],
  [
    'MCPS-023',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A taken server slug answers 409 `slug_taken`.',
  ],
  [
    'MCPS-024',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    '`secret_in_url` means userinfo, or a query name that contains key, token, secret, password or auth.',
  ],
  [
    'MCPS-025',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    '`raw_secret_in_header` means a value without `${…}` in `Authorization`, `Proxy-Authorization`, `Cookie` or a header named like a key, token or secret.',
  ],
  [
    'MCPS-026',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A plain header such as `X-Region: eu` is taken.',
  ],
  [
    'MCPS-027',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    '`POST /v1/mcp-servers/{id}/check` answers `{ok, tools: [{name, description, read_only}], error}`, `error` null when it went well.',
  ],
  [
    'MCPS-028',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    "Calls to the server carry its headers with the secrets of the mode, and `${user_secret:NAME}` with the user's own.",
  ],
  [
    'MCPS-029',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    '502 `mcp_server_error` is returned, or given to the agent, when the server fails a call.',
  ],
  [
    'MCPS-030',
    'docs/api/mcp-servers.md#get-v1mcp-serversserver_id',
    'An unknown server answers 404 `mcp_server_not_found`.',
  ],
  [
    'MCPS-031',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A server on a private or loopback address is refused unless `VESTRA_ALLOW_PRIVATE_ADDRESSES` is set.',
  ],
  [
    'MCPS-141',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    "If a server of the version is unreachable, the model learns which and why, in the platform's words, with no address and no secret.",
  ],
  [
    'MCPS-142',
    'docs/webhooks.md#failure-events',
    'An outage emits `tool_server.away` with the slug and the reason once, and again only after the server came back.',
  ],
  [
    'MCPS-143',
    'docs/webhooks.md#failure-events',
    'A missing secret or sign-in of one user is reported for that user, with `user_id`.',
  ],
  [
    'MCPS-144',
    'docs/webhooks.md#failure-events',
    'The trace of a task shows in `missing_tools` which servers it did without and why.',
  ],
  [
    'MCPS-360',
    'docs/interaction-reference.md#questions-of-mcp-servers',
    "A question of a tool's server to the person becomes an interaction, and the answer, also a refusal, goes back to the server.",
  ],
  [
    'MCPS-361',
    'docs/interaction-reference.md#questions-of-mcp-servers',
    'A server that asks the person for a password, a secret or card details is refused by rule, and the agent learns that.',
  ],
  [
    'MCPS-362',
    'docs/interaction-reference.md#questions-of-mcp-servers',
    'A server that sends the person to an address creates a hand-off with that address; one that is private or not https is refused.',
  ],
  [
    'MCPS-363',
    'docs/interaction-reference.md#questions-of-mcp-servers',
    'A tool of the older protocol that asks in the middle of a call is called again only if it may happen twice.',
  ],
  [
    'MCPS-440',
    'docs/interaction-reference.md#questions-of-mcp-servers',
    'That a server asks for a credential is seen in each language of the session page.',
  ],
  [
    'MCPS-441',
    'docs/interaction-reference.md#questions-of-mcp-servers',
    'A tool that asks several things in one call gets each answer for the question it was given to.',
  ],
  [
    'MCPS-442',
    'docs/tool-servers.md#long-calls',
    'A call that its server continues as a task is followed to its end by any process, requested only once, and cancelled when nobody waits.',
  ],
  [
    'MCPS-443',
    'docs/tool-servers.md#sampling',
    'A server that may asks the deployment’s model, which reads nothing but its question, under the user’s caps and at the user’s cost; any other is refused.',
  ],
  [
    'MCPS-444',
    'docs/tool-servers.md#resources',
    'The agent lists and reads what a server has to read, with tools under the rules of the server, like the answers of its tools.',
  ],
  [
    'MCPS-445',
    'docs/tool-server-reference.md#tool-changes',
    'If a server reports that its tools or resources have changed, they are requested again before the next turn.',
  ],
  [
    'MCPS-620',
    'docs/tool-server-reference.md#changes-to-a-live-server',
    'A test key can neither change nor delete a server that a live version uses, or one that can be rolled back to, by any route.',
  ],
  [
    'MCPS-621',
    'docs/api/mcp-servers.md#delete-v1mcp-serversserver_id',
    'A version lists a deleted server under `missing`; promoting it or rolling back to it answers 409 `version_incomplete`.',
  ],
  [
    'MCPS-622',
    'docs/tool-server-reference.md#changes-to-a-live-server',
    'A version calls a server only at the URL that it fixed: a live credential goes to no other.',
  ],
  [
    'MCPS-623',
    'docs/versions.md#changing-content',
    'A URL or a header that a live key changes is live at once, as a new version of each deployment that uses the server live.',
  ],
  [
    'MCPS-624',
    'docs/tool-server-reference.md#sessions',
    'The calls of one conversation or task share one session with a server of the older protocol; no other conversation, task, user or set of credentials shares it.',
  ],
  [
    'MCPS-625',
    'docs/tool-server-reference.md#sessions',
    'A session is closed when it was idle, when its task ends, and when the process shuts down.',
  ],
  [
    'MCPS-626',
    'docs/tool-server-reference.md#sessions',
    'If the server no longer knows the session, the call is made once more in a new one.',
  ],
  [
    'MCPS-627',
    'docs/tool-server-reference.md#sessions',
    'A server of the older protocol is asked which protocol it speaks once, and not for each call.',
  ],
  [
    'MCPS-628',
    'docs/tool-server-reference.md#sessions',
    'Limits on requests, bytes and questions hold for each call, although calls share a session.',
  ],
  [
    'MCPS-700',
    'docs/tool-servers.md#results',
    'Real servers give our client the same tools and results as the official client.',
  ],
  [
    'MCPS-701',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'The list includes tools that a server offers only to clients that can be asked; tools that cannot be called are named with the reason.',
  ],
  [
    'MCPS-702',
    'docs/tool-server-reference.md#sessions',
    'A session stays open for the next reply or run, and a real browser server keeps its page between calls.',
  ],
  [
    'MCPS-703',
    'docs/tool-server-reference.md#sessions',
    'A server of the older protocol that asks on the stream of the session is heard while a call runs.',
  ],
  [
    'MCPS-704',
    'docs/tool-server-reference.md#compatibility',
    'The client passes the scenarios of the official conformance suite that need no sign-in.',
  ],
  [
    'MCPS-705',
    'docs/tool-servers.md#long-calls',
    'A call asks for progress, shows it, and gives a server that reports it more time, up to a limit.',
  ],
  [
    'MCPS-706',
    'docs/tool-servers.md#long-calls',
    'A check and a turn wait equally long for a list, and a turn uses the last list of a slow server.',
  ],
  [
    'MCPS-707',
    'docs/tool-server-reference.md#sessions',
    'If a new session follows an earlier one, also after a crash, the result tells the agent.',
  ],
  [
    'MCPS-710',
    'docs/tool-servers.md#results',
    'A picture is given once and as a picture, and base64 is never shown as text.',
  ],
  ['MCPS-711', 'docs/tool-servers.md#results', 'Structured content follows the text if the text does not contain it.'],
  ['MCPS-712', 'docs/tool-servers.md#instructions', 'The agent reads the instructions of a server as data.'],
  ['MCPS-713', 'docs/tool-servers.md#instructions', 'Descriptions of tools reach the model whole.'],
  [
    'MCPS-714',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A tool with an invalid `x-mcp-header`, or one that requires a task of 2025-11-25, is not offered.',
  ],
  [
    'MCPS-715',
    'docs/tool-servers.md#results',
    'Bytes of a resource become a file of the conversation, and text that was sent as bytes is shown.',
  ],
  [
    'MCPS-716',
    'docs/tool-server-reference.md#rules-of-registered-servers',
    'A server that refuses the caller, has no endpoint at the URL or speaks only the old transport is reported with that cause.',
  ],
  [
    'MCPS-717',
    'docs/tool-servers.md#results',
    'A file that a server returned is also on the computer of the task, under a name of its own.',
  ],
  [
    'MCPS-721',
    'docs/deployment-file-reference.md#tools',
    'With `allow`, the agent is offered these tools of the server and no other.',
  ],
  [
    'MCPS-722',
    'docs/deployment-file-reference.md#tools',
    'Servers with too many tools share the limit fairly, and applying the file warns about them and about unknown names.',
  ],
  [
    'MCPS-723',
    'docs/deployment-file-reference.md#tools',
    'Without a list, exactly the tools that the server marks read-only run. `run_without_asking: all` lets every tool run, except those that must wait or are denied.',
  ],
  [
    'MCPS-720',
    'docs/tool-servers.md#results',
    'A missing required property gets its default, and `null` for an optional property that does not accept it is left out.',
  ],
]);
