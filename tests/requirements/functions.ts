import { area } from '../requirement.ts';

export const functions = area('functions', 'done', [
  [
    'FUN-001',
    'docs/functions.md#call-distribution',
    'A call that waits in any conversation of a deployment is taken by one of all who ask for its function, and by no other while its lease lasts.',
  ],
  [
    'FUN-002',
    'docs/functions.md#call-distribution',
    'A call whose holder died is taken again after its lease, with the same `call_id` and a higher `attempt`.',
  ],
  [
    'FUN-003',
    'docs/functions.md#call-distribution',
    '`take` waits up to `wait_s` and answers as soon as a call comes, in whichever process.',
  ],
  [
    'FUN-004',
    'docs/functions.md#call-distribution',
    'Only keys of the same org and mode take, renew and release calls, and never a session token.',
  ],
  [
    'FUN-005',
    'docs/functions.md#call-distribution',
    'A claim that another has replaced answers 409 `tool_call_taken`; a call that is settled or out of time answers 409 `already_answered` or `interaction_expired`.',
  ],
  ['FUN-006', 'docs/functions.md#call-distribution', 'A call that is cancelled or out of time is taken by nobody.'],
  [
    'FUN-007',
    'docs/functions.md#in-your-own-server',
    'Progress of a call is an event `tool_call.progress` on the stream, without arguments, and stands with the pending call for who comes later.',
  ],
  [
    'FUN-010',
    'docs/functions.md#in-your-own-server',
    '`serveFunctions` answers replies, tasks and batches of a deployment, a few at once, and ends with its signal after what runs.',
  ],
  [
    'FUN-011',
    'docs/functions.md#results',
    'An error that a function throws reaches the agent as `The function failed.`; a `ToolError` reaches it with its message, and bad arguments with which and why.',
  ],
  [
    'FUN-012',
    'docs/functions.md#in-your-own-server',
    'At its start `serveFunctions` reports functions that nobody serves, functions that are not declared, and inputs that differ.',
  ],
  ['FUN-013', 'docs/functions.md#in-your-own-server', 'A function gets the type of its zod schema.'],
  [
    'FUN-014',
    'docs/functions.md#call-distribution',
    'If one of two function servers is killed during a call, the other answers the call, once.',
  ],
  [
    'FUN-015',
    'docs/functions.md#call-distribution',
    'A server that stops waits for what runs as long as its grace, then gives it back for another to take at once.',
  ],
  [
    'FUN-020',
    'docs/functions.md#receive-calls-over-http',
    'An https address that is named for a deployment is called with each call, signed as Standard Webhooks says with the `call_id` as id; its `output` or `error` is the answer.',
  ],
  [
    'FUN-021',
    'docs/functions.md#receive-calls-over-http',
    'An address that is unreachable or answers 408, 425, 429 or 5xx is called again with the same `call_id`; after any other refusal the agent learns that the function failed.',
  ],
  ['FUN-022', 'docs/functions.md#receive-calls-over-http', 'An address is not called for a call that is cancelled.'],
  [
    'FUN-023',
    'docs/functions.md#receive-calls-over-http',
    'A call whose process died while the address worked is sent again; an address that answers 202 answers over the API.',
  ],
  [
    'FUN-024',
    'docs/functions.md#receive-calls-over-http',
    'The address is set per mode, and receives no call of another mode and no function that a message declared.',
  ],
  [
    'FUN-025',
    'docs/functions.md#receive-calls-over-http',
    'After a roll calls are signed with both secrets for 24 hours; an address that is taken away is called no more.',
  ],
  [
    'FUN-026',
    'docs/functions.md#receive-calls-over-http',
    '`functionEndpoint` of the SDK answers such requests, and refuses what is not signed.',
  ],
  [
    'FUN-030',
    'docs/functions.md#in-five-minutes',
    '`vestra functions serve <file>` serves the exports of a module and with `--watch` restarts when it changes; SIGTERM lets running calls end.',
  ],
  [
    'FUN-041',
    'docs/functions.md#ask-another-agent',
    'A function asks another deployment for the same person; the id of the call lets the other be asked once.',
  ],
  ['FUN-040', 'docs/functions.md#in-five-minutes', 'The page about functions shows what really happens.'],
  [
    'FUN-031',
    'docs/functions.md#in-five-minutes',
    '`vestra dev` serves the functions of its folder while they are edited.',
  ],
  [
    'FUN-660',
    'docs/cli-agents.md#ask-and-answer',
    'The CLI in a pipe, at a terminal and with `--json`, `ask` of the SDKs and the MCP tool `ask` wait for a function that a process serves, and return the answer.',
  ],
  [
    'FUN-661',
    'docs/cli-agents.md#ask-and-answer',
    'After a few seconds `vestra ask` reports on standard error that nobody answers a function, and continues once somebody does.',
  ],
  [
    'FUN-662',
    'docs/cli-agents.md#ask-and-answer',
    'While a process has taken a call, `vestra ask` reports nothing, however long the function takes.',
  ],
  [
    'FUN-663',
    'docs/cli-agents.md#ask-and-answer',
    'When `wait_s` is over, `ask` returns `waiting` with the pending calls, and a `hint` if nobody has taken them.',
  ],
  [
    'FUN-664',
    'docs/sdk.md#commands',
    'An approval, question, hand-off or connection ends the wait at once, also beside a call of a function.',
  ],
  [
    'FUN-665',
    'docs/functions.md#call-distribution',
    'A call that nobody answers expires, and `ask` returns what the agent says then.',
  ],
  [
    'FUN-666',
    'docs/functions.md#call-distribution',
    'A pending call has `taken_until` while a process or the endpoint has it, and not otherwise.',
  ],
]);
