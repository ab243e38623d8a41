/** The introduction of the reference, as Markdown with links relative to docs/api. */
export const introduction = `Every call goes to the address of your server, such as \`http://127.0.0.1:4600\`, and every path starts with \`/v1\`. Bodies and responses are JSON, names are in \`snake_case\`, times are in UTC, and money is in dollars.

## Authentication

Send an API key with every call:

\`\`\`sh
curl "$VESTRA_URL/v1/me" -H "Authorization: Bearer $VESTRA_KEY"
\`\`\`

A key has a mode and scopes. A test key (\`vk_test_…\`) works with test users, test money and the draft of a deployment. A live key (\`vk_live_…\`) works with live ones. Each operation names the scopes that open it. Session tokens (\`vst_…\`) are for the browser of one user: [session access](../session-access.md) lists what they open.

## First call

Ask the agent of a deployment and wait for its reply:

\`\`\`sh
curl "$VESTRA_URL/v1/conversations" \\
  -H "Authorization: Bearer $VESTRA_KEY" \\
  -H 'Prefer: wait=60' \\
  -H 'Content-Type: application/json' \\
  -d '{"user_id": "ada", "deployment": "hello", "message": "What can you do?"}'
\`\`\`

[Getting started](../getting-started.md) creates the deployment.

## Errors

Every error has one form. Branch on \`code\`, which never changes; show \`message\` to a developer. \`param\` names the field, and \`request_id\` the request. [Errors](../errors.md) lists every code with its cause and fix.

\`\`\`json
{"error": {"type": "invalid_request", "code": "invalid_limit", "message": "…", "param": "limit", "request_id": "req_…"}}
\`\`\`

## Pages

Lists return \`data\` and \`next_cursor\`. Send \`next_cursor\` as \`cursor\` to get the next page; it is null on the last one. \`limit\` is 1 to 100.

## Safe retries

Calls that create something accept an \`Idempotency-Key\`. The same call with the same key happens once within 24 hours, and every repetition gets the first response. The SDKs send one by themselves.

## Streams

Replies can be streamed as server-sent events: send \`"stream": true\` with a message, or follow \`GET /v1/conversations/{conversation_id}/events\`. Each event has a number; a client that reconnects with \`Last-Event-ID\` misses nothing. [Events](../events.md) describes each type.

## Versions

All paths start with \`/v1\`. Fields and event types are added without notice, so ignore names that you do not know. Nothing is removed or renamed within \`/v1\`.`;
