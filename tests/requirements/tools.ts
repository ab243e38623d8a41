import { area } from '../requirement.ts';

export const tools = area('tools', 'done', [
  [
    'TOOL-001',
    'docs/deployment-file-reference.md#tools',
    "`mcp` is required in an MCP entry: the server's public https URL, at most 2048 characters.",
  ],
  [
    'TOOL-002',
    'docs/deployment-file-reference.md#tools',
    "`name` of an MCP entry accepts 1 to 80 characters and is the URL's host when absent.",
  ],
  [
    'TOOL-003',
    'docs/deployment-file-reference.md#tools',
    '`auth` accepts one company secret as `${NAME}`, `${secret:NAME}` or `${user_secret:NAME}`.',
  ],
  [
    'TOOL-004',
    'docs/deployment-file-reference.md#tools',
    "`auth` reaches the server as `Authorization: Bearer` and the secret's value.",
  ],
  [
    'TOOL-005',
    'docs/deployment-file-reference.md#tools',
    'A header name accepts letters, digits and dashes, 1 to 64; a value takes 1 to 2048 characters.',
  ],
  [
    'TOOL-006',
    'docs/deployment-file-reference.md#tools',
    'A header value may carry `${NAME}` and `${user_secret:NAME}` in its midst, and the server receives the values in place.',
  ],
  [
    'TOOL-007',
    'docs/deployment-file-reference.md#tools',
    '`deny`, `require_approval` and `run_without_asking` take at most 200 tool names each.',
  ],
  [
    'TOOL-008',
    'docs/deployment-file-reference.md#tools',
    'A tool name in those lists is letters, digits, `_`, `.`, `-`, 1 to 128.',
  ],
  [
    'TOOL-009',
    'docs/deployment-file-reference.md#tools',
    '`auth` together with an Authorization header answers 400 `auth_twice`, in whatever case the header is written.',
  ],
  [
    'TOOL-010',
    'docs/deployment-file-reference.md#tools',
    "A version may add to the server's registered floor and never take from it.",
  ],
  [
    'TOOL-011',
    'docs/deployment-file-reference.md#tools',
    'A tool the floor denies stays denied when the version lists it in `run_without_asking`.',
  ],
  [
    'TOOL-012',
    'docs/deployment-file-reference.md#tools',
    'A tool the floor makes wait still waits when the version lists it in `run_without_asking`.',
  ],
  [
    'TOOL-013',
    'docs/deployment-file-reference.md#tools',
    '`function` is required: a lowercase letter, then lowercase letters, digits and underscores, at most 64.',
  ],
  [
    'TOOL-014',
    'docs/deployment-file-reference.md#tools',
    "A function named like one of the agent's own tools answers 400 `tool_name_reserved`, whether or not the capability is used.",
  ],
  [
    'TOOL-015',
    'docs/deployment-file-reference.md#tools',
    "A function whose name only resembles an own tool's (`finish_order`) is taken.",
  ],
  [
    'TOOL-016',
    'docs/deployment-file-reference.md#tools',
    '`description` of a function is required and accepts 1 to 1024 characters.',
  ],
  [
    'TOOL-017',
    'docs/deployment-file-reference.md#tools',
    '`input` accepts the shorthand: a type such as `string`, `integer?` for optional, `[]` for a list.',
  ],
  ['TOOL-018', 'docs/deployment-file-reference.md#tools', '`input` accepts JSON Schema with `type: object`.'],
  ['TOOL-019', 'docs/deployment-file-reference.md#tools', '`input` is `{}` when absent.'],
  [
    'TOOL-020',
    'docs/deployment-file-reference.md#tools',
    'An `input` that is neither answers 400 `invalid_tool_input` with `param` such as `tools.0.input`.',
  ],
  [
    'TOOL-021',
    'docs/deployment-file-reference.md#tools',
    '`timeout_s` accepts 5 to 600 and is 120 when absent; 4, 601 and fractions are refused.',
  ],
  [
    'TOOL-022',
    'docs/deployment-file-reference.md#tools',
    '`read_only` and `run_without_asking` are booleans, false when absent, and may both be true.',
  ],
  [
    'TOOL-023',
    'docs/deployment-file-reference.md#tools',
    'The reserved function names are exactly `hand_off_to_work ask_question request_handoff search_notebooks read_document use_skill remember recall update_plan run_command read_file write_file list_files save_output browser_open browser_read browser_click browser_type browser_scroll browser_screenshot browser_close routines_add routines_list routines_remove connect_app finish`.',
  ],
  ['TOOL-024', 'docs/deployment-file-reference.md#tools', 'An MCP tool reaches the model as `mcp__<slug>__<tool>`.'],
  [
    'TOOL-025',
    'docs/deployment-file-reference.md#tools',
    'A function whose name starts with `mcp__` answers 400 `tool_name_reserved`.',
  ],
  [
    'TOOL-026',
    'docs/deployment-file-reference.md#tools',
    'A raw value in `auth` answers 400 `raw_secret_in_header` on its `param`.',
  ],
  [
    'TOOL-027',
    'docs/deployment-file-reference.md#tools',
    "A raw value in a file's `Authorization` header answers 400 `raw_secret_in_header`.",
  ],
  [
    'TOOL-028',
    'docs/deployment-file-reference.md#tools',
    'A credential inside the URL of `mcp` answers 400 `secret_in_url`.',
  ],
  [
    'TOOL-029',
    'docs/deployment-file-reference.md#tools',
    'File auth `${NAME}` shows on the registered server as `Bearer ${secret:NAME}`.',
  ],
  [
    'TOOL-201',
    'docs/deployment-file-reference.md#tools',
    "The agent and `check` are told what an agent is not shown of a server's tools: the end of a description, a huge schema, tools beyond 500.",
  ],
  [
    'TOOL-202',
    'docs/deployment-file-reference.md#tools',
    'An agent is offered 128 tools at most; it is told which servers give way, and the trace shows it.',
  ],
  [
    'TOOL-240',
    'docs/deployment-file-reference.md#tools',
    "A function, and a version's entry for a server, may name who approves: `approver` is `user` or `org`; a function that never asks names no `org`.",
  ],
  [
    'TOOL-241',
    'docs/deployment-file.md',
    'An unknown field is refused with the known ones it may have been meant to be.',
  ],
]);
