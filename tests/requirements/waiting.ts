import { area } from '../requirement.ts';

export const waiting = area('waiting', 'done', [
  [
    'WAIT-001',
    'docs/interactions.md#kinds',
    "A call to a function reaches the caller's code as an interaction of type `tool_call`.",
  ],
  [
    'WAIT-002',
    'docs/interaction-reference.md#tools-that-wait',
    "A function that is neither `read_only` nor `run_without_asking` waits first for the person's yes.",
  ],
  [
    'WAIT-003',
    'docs/interaction-reference.md#tools-that-wait',
    'A `read_only` function is called without waiting for approval.',
  ],
  [
    'WAIT-004',
    'docs/interaction-reference.md#tools-that-wait',
    'A `run_without_asking` function is called without waiting for approval.',
  ],
  [
    'WAIT-005',
    'docs/interaction-reference.md#tools-that-wait',
    'A tool of an MCP server waits for approval unless the server marks it read-only.',
  ],
  [
    'WAIT-006',
    'docs/interaction-reference.md#tools-that-wait',
    'A tool of an MCP server that `run_without_asking` lists does not wait.',
  ],
  [
    'WAIT-007',
    'docs/interaction-reference.md#tools-that-wait',
    '`require_approval` makes a tool wait even if the server marks it read-only.',
  ],
  [
    'WAIT-008',
    'docs/interaction-reference.md#tools-that-wait',
    'A tool that both `require_approval` and `run_without_asking` list waits.',
  ],
  [
    'WAIT-009',
    'docs/interaction-reference.md#tools-that-wait',
    'A tool in `deny` is never called, and the model is not offered it.',
  ],
  [
    'WAIT-010',
    'docs/interaction-reference.md#tools-that-wait',
    'In a routine, a batch or an ask without a person the wait stands until its approval expires.',
  ],
  [
    'WAIT-011',
    'docs/interaction-reference.md#tools-that-wait',
    'A denied approval leaves the tool uncalled, and the agent is told.',
  ],
  [
    'WAIT-012',
    'docs/interaction-reference.md#tools-that-wait',
    'An approval that expires leaves the tool uncalled, and the agent is told.',
  ],
  [
    'WAIT-013',
    'docs/interaction-reference.md#approval-contents',
    'The wait is an interaction of type `approval` whose `summary` has at most 120 characters.',
  ],
  [
    'WAIT-014',
    'docs/interaction-reference.md#approval-contents',
    "`summary` reads the first sentence of the description, then the tool's name and each argument.",
  ],
  [
    'WAIT-015',
    'docs/interaction-reference.md#approval-contents',
    "A summary short of room first leaves out the description's sentence.",
  ],
  [
    'WAIT-016',
    'docs/interaction-reference.md#approval-contents',
    'A summary still short of room leaves out arguments that do not fit and ends with `and N more`.',
  ],
  [
    'WAIT-017',
    'docs/interaction-reference.md#approval-contents',
    '`details` of the wait carry `tool_name` and at most 8 arguments as rows.',
  ],
  ['WAIT-018', 'docs/interaction-reference.md#approval-contents', 'The value of a row has at most 200 characters.'],
  [
    'WAIT-019',
    'docs/interaction-reference.md#tools-that-wait',
    '`approvals` is enforced for functions and for MCP tools that wait for approval.',
  ],
  [
    'WAIT-020',
    'docs/interaction-reference.md#tools-that-wait',
    'In a browser or a connected app the agent is only instructed to ask for what `approvals` lists.',
  ],
  ['WAIT-021', 'docs/functions.md#results', 'A function call unanswered after `timeout_s` is an error to the agent.'],
  [
    'WAIT-022',
    'docs/interaction-reference.md#tools-that-wait',
    'Flags and lists alone decide whether a call waits, whatever `approvals` contains.',
  ],
  [
    'WAIT-023',
    'docs/interaction-reference.md#tools-that-wait',
    '`approvals` decides which waits are marked `moves_money` and which have a category.',
  ],
  [
    'WAIT-024',
    'docs/interaction-reference.md#tools-that-wait',
    'The category of a tool comes from a fixed word list over its name and description, with the same answer every time.',
  ],
  [
    'WAIT-025',
    'docs/interaction-reference.md#tools-that-wait',
    'The category is stored beside the version per tool and hash of its description, so a changed description is judged again.',
  ],
  ['WAIT-026', 'docs/interaction-reference.md#tools-that-wait', 'A tool of an unknown category waits.'],
  [
    'WAIT-241',
    'docs/deployment-file-reference.md#tools',
    'A tool that waited in a version keeps waiting in it, whatever its server reports later.',
  ],
  [
    'WAIT-242',
    'docs/interactions.md#who-approves',
    'A key or a member answers an approval of the org, without `present_user`; a session that answers it gets 403 `session_scope`.',
  ],
  [
    'WAIT-243',
    'docs/interactions.md#who-approves',
    'A session sees that the org is waited for and what came of it, and neither the summary nor the arguments.',
  ],
  [
    'WAIT-244',
    'docs/interactions.md#results-for-the-agent',
    'After the org decided, the agent learns that the company said yes or no.',
  ],
  [
    'WAIT-245',
    'docs/interaction-reference.md#approval-contents',
    '`details` of the wait carry the first sentence of the description, what the schema calls an argument, and how many rows were left out.',
  ],
]);
