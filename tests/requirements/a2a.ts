import { area } from '../requirement.ts';

export const a2a = area('a2a', 'done', [
  [
    'A2A-001',
    'docs/a2a.md#the-card',
    'The card has `name`, `description`, `supportedInterfaces`, `version`, `capabilities`, `securitySchemes`, `defaultInputModes`, `defaultOutputModes`, `skills`, and optionally `provider`, `documentationUrl`, `securityRequirements`.',
  ],
  ['A2A-002', 'docs/a2a.md#the-card', '`supportedInterfaces` are `{url, protocolBinding: JSONRPC, protocolVersion}`.'],
  ['A2A-003', 'docs/a2a.md#the-card', '`version` of the card is the live version as a string.'],
  [
    'A2A-004',
    'docs/a2a.md#the-card',
    '`capabilities` is `{streaming: true, pushNotifications: false, extendedAgentCard: false}`.',
  ],
  ['A2A-005', 'docs/a2a.md#the-card', 'Input and output modes are `text/plain` and `application/json`.'],
  [
    'A2A-006',
    'docs/a2a.md#the-card',
    '`skills` holds one skill, talking to the agent, with `{id, name, description, tags, examples, inputModes, outputModes}`.',
  ],
  [
    'A2A-007',
    'docs/api/protocols.md#get-v1a2adeployment_idwell-knownagent-cardjson',
    '`GET /v1/a2a/{deployment_id}/.well-known/agent-card.json` answers the card without a key.',
  ],
  [
    'A2A-008',
    'docs/api/protocols.md#post-v1a2adeployment_id',
    '`POST /v1/a2a/{deployment_id}` accepts A2A JSON-RPC with scope `runtime` or `all`.',
  ],
  ['A2A-009', 'docs/a2a.md#the-card', '`Service-User` names the user; without it the conversation has `user_id` null.'],
  [
    'A2A-010',
    'docs/api/protocols.md#post-v1a2adeployment_id',
    'An A2A exchange is a conversation and an A2A task is its work.',
  ],
  ['A2A-011', 'docs/a2a.md#the-card', 'Push notifications are not offered and asking for them is refused.'],
  [
    'A2A-012',
    'docs/a2a.md#answering-what-the-agent-waits-on',
    '`SendMessage` sends a message and answers a message or task.',
  ],
  ['A2A-013', 'docs/api/protocols.md#post-v1a2adeployment_id', '`SendStreamingMessage` streams the exchange.'],
  ['A2A-014', 'docs/a2a.md#talking-to-it', '`GetTask` answers one task.'],
  ['A2A-015', 'docs/a2a.md#talking-to-it', '`ListTasks` lists tasks.'],
  ['A2A-016', 'docs/a2a.md#talking-to-it', '`CancelTask` stops a task.'],
  ['A2A-017', 'docs/a2a.md#talking-to-it', '`SubscribeToTask` follows a running task.'],
  ['A2A-018', 'docs/a2a.md#the-card', '`contextId` is the conversation id and `taskId` the task id.'],
  [
    'A2A-019',
    'docs/a2a.md#the-card',
    'A waiting task is `input required`, one that waits for a connection `auth required`.',
  ],
  [
    'A2A-020',
    'docs/a2a.md#talking-to-it',
    'A cancelled task is canceled there and `failed` with `error.code: stopped` here.',
  ],
  ['A2A-021', 'docs/a2a.md#the-card', 'The protocol version 1.0 stands in the card.'],
  ['A2A-022', 'docs/a2a.md#message-contents', 'A message of data alone is taken with the data as what is asked.'],
  [
    'A2A-023',
    'docs/a2a.md#message-contents',
    'A message that is sent again under the same long `messageId` runs once.',
  ],
  [
    'A2A-660',
    'docs/a2a.md#answering-what-the-agent-waits-on',
    'A call of a function that the deployment declares is `WORKING` and ends no wait; one that the message declares is `INPUT_REQUIRED`.',
  ],
]);
