import { area } from '../requirement.ts';

export const mcpEndpoint = area('mcp-endpoint', 'done', [
  [
    'MCP-001',
    'docs/mcp-reference.md#protocol-rules',
    '`POST /v1/mcp` speaks JSON-RPC 2.0 over streamable HTTP, with scope `runtime` or `all`.',
  ],
  [
    'MCP-002',
    'docs/mcp-reference.md#protocol-rules',
    '`Accept` must list `application/json` and `text/event-stream`; otherwise the call is refused.',
  ],
  ['MCP-003', 'docs/mcp-reference.md#protocol-rules', '`tools/list` shows the tools and `tools/call` runs one.'],
  [
    'MCP-004',
    'docs/mcp-reference.md#protocol-rules',
    'The tools mirror the CLI commands, among them `ask`, `routines_add`, `memory_search`, `embed`, `files`, `users_get`, `answer`, `events`, `test`, `init`.',
  ],
  [
    'MCP-005',
    'docs/mcp-reference.md#protocol-rules',
    "Each tool takes an optional `user`; without it the org's own agent is meant.",
  ],
  ['MCP-006', 'docs/mcp-reference.md#protocol-rules', 'No tool handles keys or secrets.'],
  [
    'MCP-007',
    'docs/mcp-reference.md#protocol-rules',
    '`init` accepts `describe`, `deployment`, `conversation`, `answer` and runs the interview.',
  ],
  [
    'MCP-008',
    'docs/mcp-reference.md#protocol-rules',
    'Protocol 2026-07-28 and 2025-11-25 are served on the same path.',
  ],
  [
    'MCP-009',
    'docs/mcp-reference.md#protocol-rules',
    "Tool names are the command's path joined by `_`, from the table the CLI reads.",
  ],
  [
    'MCP-010',
    'docs/mcp-reference.md#protocol-rules',
    "`tools/list` shows only tools that the key's scopes allow, and calling another is refused.",
  ],
  ['MCP-011', 'docs/mcp-reference.md#protocol-rules', "A failing tool carries the code of the API's error."],
  ['MCP-012', 'docs/mcp-reference.md#protocol-rules', 'A foreign `Host` or `Origin` on `/v1/mcp` answers 403.'],
  [
    'MCP-150',
    'docs/mcp-reference.md#protocol-rules',
    'A command that is several calls gives the same answer and the same refusal on the command line and as a tool.',
  ],
  [
    'MCP-151',
    'docs/mcp-reference.md#protocol-rules',
    'A tool calls the API with the credential, org, mode, address and `Idempotency-Key` of its caller, and ends when the caller disconnects.',
  ],
  [
    'MCP-480',
    'docs/mcp.md#connecting-a-client-by-signing-in',
    'A client that knows the address alone finds the authorization server, registers or shows its document, is let in by a member, works, renews its access and gives it back.',
  ],
  [
    'MCP-481',
    'docs/mcp-reference.md#write-a-client',
    'Every 401 of the API has `WWW-Authenticate: Bearer`; that of `/v1/mcp` names the metadata and the scopes.',
  ],
  [
    'MCP-482',
    'docs/mcp-reference.md#write-a-client',
    'Client and redirect address are known letter by letter before anybody is sent anywhere; loopback addresses match with any port.',
  ],
  [
    'MCP-483',
    'docs/mcp-reference.md#write-a-client',
    'PKCE with S256 is required, `resource` is our own `/v1/mcp`, and `state` and `iss` come back.',
  ],
  ['MCP-484', 'docs/mcp-reference.md#write-a-client', 'A code is used once: used again, it ends the grant.'],
  [
    'MCP-485',
    'docs/mcp-reference.md#write-a-client',
    'A refresh token is used once, with a minute for two at once: used later, it ends the grant.',
  ],
  [
    'MCP-486',
    'docs/mcp.md#client-permissions',
    'An access token opens `/v1/mcp` and what its tools call, and no other route.',
  ],
  ['MCP-487', 'docs/mcp.md#client-permissions', 'An access token stays in the org and the mode that the member chose.'],
  [
    'MCP-488',
    'docs/mcp.md#client-permissions',
    'An access token never does more than the member’s role allows at that moment, and ends with the member, the org, and a password chosen by a link.',
  ],
  [
    'MCP-489',
    'docs/mcp-reference.md#write-a-client',
    'A client document that is false, too large, or at a private address is refused.',
  ],
  [
    'MCP-490',
    'docs/mcp.md#connecting-a-client-by-signing-in',
    'The consent page shows who gets what, opens in no frame, and nothing is granted without its CSRF token.',
  ],
  [
    'MCP-491',
    'docs/mcp.md#seeing-and-ending-it',
    'Members see and end the clients they have let in, admins those of the org; the audit log names member and client.',
  ],
  [
    'MCP-531',
    'docs/mcp.md#seeing-and-ending-it',
    'A client that was let in is the event `mcp_grant.created`, one that was shut out `mcp_grant.revoked` with the reason.',
  ],
  [
    'MCP-532',
    'docs/mcp.md#seeing-and-ending-it',
    'A request that waits under a grant is cut when the grant ends, however it ends.',
  ],
  [
    'MCP-533',
    'docs/mcp-reference.md#write-a-client',
    'The newest 10,000 registered clients that nobody has approved are stored; a member approves 100 at most.',
  ],
  [
    'MCP-660',
    'docs/mcp.md#the-tools',
    'The tool `ask` waits up to `wait_s` for functions that the company’s code answers, and then returns the pending calls with a `hint`.',
  ],
  [
    'MCP-661',
    'docs/mcp-reference.md#tool-results',
    'A client that checks results against the tools it has listed sees the reason of every refusal.',
  ],
  [
    'MCP-740',
    'docs/mcp.md#the-tools',
    '`tools/list` has at most 200 KB for a key with all scopes, and its output schemas match the results.',
  ],
  [
    'MCP-741',
    'docs/mcp.md#clients-with-a-limit-of-tools',
    '`?tools=core` lists about 20 tools, with a key or after signing in; another value is refused with the values that exist.',
  ],
]);
