import { area } from '../requirement.ts';

export const a2a = area('a2a', 'done', [
  [
    'A2A-001',
    'runtime.md · Agent card',
    'The card has `name`, `description`, `supportedInterfaces`, `version`, `capabilities`, `securitySchemes`, `defaultInputModes`, `defaultOutputModes`, `skills`, and optionally `provider`, `documentationUrl`, `securityRequirements`.',
  ],
  [
    'A2A-002',
    'runtime.md · Agent card',
    '`supportedInterfaces` are `{url, protocolBinding: JSONRPC, protocolVersion}`.',
  ],
  ['A2A-003', 'runtime.md · Agent card', '`version` of the card is the live version as a string.'],
  [
    'A2A-004',
    'runtime.md · Agent card',
    '`capabilities` is `{streaming: true, pushNotifications: false, extendedAgentCard: false}`.',
  ],
  ['A2A-005', 'runtime.md · Agent card', 'Input and output modes are `text/plain` and `application/json`.'],
  [
    'A2A-006',
    'runtime.md · Agent card',
    '`skills` holds one skill, talking to the agent, with `{id, name, description, tags, examples, inputModes, outputModes}`.',
  ],
  [
    'A2A-007',
    'runtime.md · MCP endpoint and A2A',
    '`GET /v1/a2a/{deployment_id}/.well-known/agent-card.json` answers the card without a key.',
  ],
  [
    'A2A-008',
    'runtime.md · MCP endpoint and A2A',
    '`POST /v1/a2a/{deployment_id}` takes A2A JSON-RPC with scope `runtime` or `all`.',
  ],
  [
    'A2A-009',
    'runtime.md · MCP endpoint and A2A',
    '`Service-User` names the user; without it the conversation has `user_id` null.',
  ],
  ['A2A-010', 'runtime.md · MCP endpoint and A2A', 'An A2A exchange is a conversation and an A2A task is its work.'],
  [
    'A2A-011',
    'runtime.md · MCP endpoint and A2A',
    'Push notifications are not offered and asking for them is refused.',
  ],
  ['A2A-012', 'decisions.md · 7', '`SendMessage` sends a message and answers a message or task.'],
  ['A2A-013', 'decisions.md · 7', '`SendStreamingMessage` streams the exchange.'],
  ['A2A-014', 'decisions.md · 7', '`GetTask` answers one task.'],
  ['A2A-015', 'decisions.md · 7', '`ListTasks` lists tasks.'],
  ['A2A-016', 'decisions.md · 7', '`CancelTask` stops a task.'],
  ['A2A-017', 'decisions.md · 7', '`SubscribeToTask` follows a running task.'],
  ['A2A-018', 'decisions.md · 7', '`contextId` is the conversation id and `taskId` the task id.'],
  [
    'A2A-019',
    'decisions.md · 7',
    'A waiting task is `input required`, one that waits for a connection `auth required`.',
  ],
  ['A2A-020', 'decisions.md · 10', 'A cancelled task is canceled there and `failed` with `error.code: stopped` here.'],
  ['A2A-021', 'runtime.md · Versioning', 'The protocol version 1.0 stands in the card.'],
  [
    'A2A-022',
    'docs/a2a.md · What a message may carry',
    'A message of data alone is taken with the data as what is asked.',
  ],
  [
    'A2A-023',
    'docs/a2a.md · What a message may carry',
    'A message that is sent again under the same long `messageId` runs once.',
  ],
  [
    'A2A-660',
    'docs/a2a.md · Answering what the agent waits on',
    'A call of a function that the deployment declares is `WORKING` and ends no wait; one that the message declares is `INPUT_REQUIRED`.',
  ],
]);
