import { area } from '../requirement.ts';

export const mcpEndpoint = area('mcp-endpoint', 'done', [
  [
    'MCP-001',
    'runtime.md · MCP endpoint and A2A',
    '`POST /v1/mcp` speaks JSON-RPC 2.0 over streamable HTTP, with scope `runtime` or `all`.',
  ],
  [
    'MCP-002',
    'runtime.md · MCP endpoint and A2A',
    '`Accept` must list `application/json` and `text/event-stream`; otherwise the call is refused.',
  ],
  ['MCP-003', 'runtime.md · MCP endpoint and A2A', '`tools/list` shows the tools and `tools/call` runs one.'],
  [
    'MCP-004',
    'runtime.md · MCP endpoint and A2A',
    'The tools mirror the CLI commands, among them `ask`, `routines_add`, `memory_search`, `embed`, `files`, `users_get`, `answer`, `events`, `test`, `init`.',
  ],
  [
    'MCP-005',
    'runtime.md · MCP endpoint and A2A',
    "Each tool takes an optional `user`; without it the org's own agent is meant.",
  ],
  ['MCP-006', 'runtime.md · MCP endpoint and A2A', 'No tool handles keys or secrets.'],
  [
    'MCP-007',
    'runtime.md · MCP endpoint and A2A',
    '`init` takes `describe`, `deployment`, `conversation`, `answer` and runs the interview.',
  ],
  ['MCP-008', 'decisions.md · 7', 'Protocol 2026-07-28 and 2025-11-25 are served on the same path.'],
  ['MCP-009', 'decisions.md · 7', "Tool names are the command's path joined by `_`, from the table the CLI reads."],
  [
    'MCP-010',
    'decisions.md · 7',
    "`tools/list` shows only tools that the key's scopes allow, and calling another is refused.",
  ],
  ['MCP-011', 'architecture.md · Style, by example', "A failing tool carries the code of the API's error."],
  ['MCP-012', 'decisions.md · 10', 'A foreign `Host` or `Origin` on `/v1/mcp` answers 403.'],
  [
    'MCP-150',
    'architecture.md · Who may import whom',
    'A command that is several calls gives the same answer and the same refusal on the command line and as a tool.',
  ],
  [
    'MCP-151',
    'runtime.md · MCP endpoint and A2A',
    'What a tool calls is called with the credential, org, mode, address and `Idempotency-Key` of whoever called the tool, and ends when they go.',
  ],
]);
