import { area } from '../requirement.ts';

export const messages = area('messages', 'done', [
  [
    'MSG-001',
    'docs/api/conversations.md#post-v1conversations',
    '`message` accepts at most 32000 characters; 32001 are refused.',
  ],
  [
    'MSG-002',
    'docs/conversation-reference.md#turns-and-messages',
    'No message, attachment or tool result answers 400 `message_required`.',
  ],
  [
    'MSG-003',
    'docs/conversation-reference.md#turns-and-messages',
    '`context` is data for this message only: the model reads it as data, and the next message does not see it as sent again.',
  ],
  ['MSG-004', 'docs/api/conversations.md#post-v1conversations', '`attachments` accepts at most 10 of `{file_id}`.'],
  [
    'MSG-005',
    'docs/api/conversations.md#post-v1conversations',
    "`output_schema` accepts a JSON Schema of at most 32 KB, and the answer's `data` fits it.",
  ],
  [
    'MSG-006',
    'docs/api/conversations.md#post-v1conversations',
    'An `output_schema` that is no valid JSON Schema answers 400 `output_schema_invalid`.',
  ],
  [
    'MSG-007',
    'docs/api/conversations.md#post-v1conversations',
    'An `output_schema` over 32 KB answers 400 `output_schema_too_large`.',
  ],
  [
    'MSG-008',
    'docs/api/conversations.md#post-v1conversations',
    '`success_criteria` accepts 1 to 4000 characters and the task gets an `outcome`.',
  ],
  ['MSG-009', 'docs/api/conversations.md#post-v1conversations', '`tools` accepts at most 32 entries.'],
  [
    'MSG-010',
    'docs/api/conversations.md#post-v1conversations',
    'A tool of a message accepts `name`, `description` (1 to 1024), `input_schema` (JSON Schema of type object), `timeout_s` (5 to 600, 120 when absent), `read_only`, `run_without_asking`.',
  ],
  [
    'MSG-011',
    'docs/api/conversations.md#post-v1conversations',
    "A message's tool named like one of the agent's own answers 400 `tool_name_reserved`.",
  ],
  [
    'MSG-012',
    'docs/conversation-reference.md#turns-and-messages',
    "A message's tool is offered to the model for that message and waits by the same rules as a declared function.",
  ],
  [
    'MSG-013',
    'docs/api/conversations.md#post-v1conversations',
    '`hand_off` accepts `auto` (when absent) and `always`, which goes straight to work.',
  ],
  [
    'MSG-014',
    'docs/api/conversations.md#post-v1conversations',
    'The message route accepts `context`, `attachments`, `output_schema`, `success_criteria`, `tools`, `hand_off`, `stream` as create does.',
  ],
  [
    'MSG-015',
    'docs/api/conversations.md#post-v1conversations',
    "With `stream: true` the message route answers the turn's events until the turn settles.",
  ],
  [
    'MSG-016',
    'docs/api/conversations.md#get-v1conversationsconversation_idmessages',
    "`GET …/messages` lists the caller's messages, the agent's replies and summaries of work, by pages.",
  ],
  [
    'MSG-017',
    'docs/api/conversations.md#post-v1conversations',
    "A body over the route's limit answers 400 `body_too_large`.",
  ],
  [
    'MSG-018',
    'docs/api/conversations.md#turn',
    'Sending answers `{object: turn, id, conversation_id, status, reply, acknowledgement, task_id, interactions, error, cost_usd, created_at, settled_at}` with null for missing values.',
  ],
  [
    'MSG-019',
    'docs/api/conversations.md#turn',
    '`status` of a turn is `replying`, `working`, `waiting`, `settled`, `failed` or `stopped`.',
  ],
  [
    'MSG-020',
    'docs/api/conversations.md#turn',
    "`reply` of a turn is `{text, data}`, the final answer: the task's if it was handed off.",
  ],
  ['MSG-021', 'docs/api/conversations.md#turn', '`acknowledgement` is the one line said when work took the message.'],
  ['MSG-022', 'docs/api/conversations.md#conversation', '`interactions` of a turn lists the ids it waits on.'],
  [
    'MSG-023',
    'docs/conversation-reference.md#turns-and-messages',
    'Sending answers 202 while the turn is unsettled and 200 once it is.',
  ],
  [
    'MSG-024',
    'docs/conversation-reference.md#turns-and-messages',
    '`Prefer: wait=N` with N from 1 to 120 holds the call until the turn settles or N seconds have passed.',
  ],
  [
    'MSG-025',
    'docs/conversation-reference.md#turns-and-messages',
    'An answer to `Prefer: wait=N` carries `Preference-Applied`.',
  ],
  [
    'MSG-026',
    'docs/conversation-reference.md#turns-and-messages',
    'A message sent while a reply is being made waits behind it and is answered after it, in order.',
  ],
  [
    'MSG-027',
    'docs/conversation-reference.md#turns-and-messages',
    'Open work holds nothing up: a message during a task is answered at once.',
  ],
  [
    'MSG-028',
    'docs/conversation-reference.md#turns-and-messages',
    'The reply made during a task knows of the open work.',
  ],
  [
    'MSG-029',
    'docs/api/conversations.md#post-v1conversationsconversation_idmessages',
    '`tool_results` accepts at most 32 of `{call_id, output | error}`.',
  ],
  [
    'MSG-030',
    'docs/conversation-reference.md#turns-and-messages',
    '`tool_results` answer open calls as the interactions route does, refusals included.',
  ],
  [
    'MSG-031',
    'docs/api/conversations.md#message',
    'A message is `{object: message, id, conversation_id, turn_id, task_id, role, text, data, context, attachments, created_at}`, null for missing values.',
  ],
  ['MSG-032', 'docs/api/conversations.md#message', '`role` of a message is `user`, `agent` or `work`.'],
  ['MSG-033', 'docs/api/conversations.md#message', '`attachments` of a message are `{file_id, filename}`.'],
  ['MSG-034', 'docs/conversation-reference.md#turns-and-messages', 'Messages are listed newest first.'],
  [
    'MSG-035',
    'docs/api/conversations.md#post-v1conversations',
    'With `plan: true` a plan waits for approval before it starts.',
  ],
  [
    'MSG-036',
    'docs/conversation-reference.md#turns-and-messages',
    'A turn that was handed off settles when its work ends.',
  ],
  ['MSG-037', 'docs/api/conversations.md#message', 'The text of a message is sent in the field `message`.'],
  [
    'MSG-038',
    'docs/conversation-reference.md#turns-and-messages',
    "An attachment that does not exist, or is another user's, answers 400 `invalid_request` on `attachments.N.file_id`.",
  ],
  [
    'MSG-039',
    'docs/offline-model.md#rules-of-the-offline-model',
    'A live message with no model configured for live mode answers 503 `model_unavailable`.',
  ],
  [
    'MSG-040',
    'docs/benchmarks.md#postgresql-statements-of-a-turn',
    'A plain turn takes a bounded number of statements, in few groups.',
  ],
  [
    'MSG-141',
    'docs/webhooks.md#failure-events',
    'A reply that ran into the model’s limit of length carries `truncated: true`, and the next turn knows.',
  ],
  [
    'MSG-241',
    'docs/conversation-reference.md#turns-and-messages',
    '`Prefer: wait=N` is held to 1 to 120 and answers early when the turn waits for an answer itself.',
  ],
  [
    'MSG-242',
    'docs/conversation-reference.md#turns-and-messages',
    'Messages are listed by the time they appeared: a reply that waited is listed when it came.',
  ],
  [
    'MSG-310',
    'docs/architecture.md#a-message-end-to-end',
    'A plain message is one group of statements: it is taken without a transaction that waits for the process.',
  ],
  [
    'MSG-311',
    'docs/benchmarks.md#postgresql-statements-of-a-turn',
    'A cached user, deployment, balance or version is checked by the write that relies on it.',
  ],
  [
    'MSG-312',
    'docs/benchmarks.md#postgresql-statements-of-a-turn',
    'A conversation that another process has changed is not written over.',
  ],
  [
    'MSG-313',
    'docs/benchmarks.md#postgresql-statements-of-a-turn',
    'A plain message under an Idempotency-Key is accepted once, in the group of statements that stores its response.',
  ],
  [
    'MSG-401',
    'docs/conversation-reference.md#model-context',
    'A model request replays calls with their results, questions with answers, decisions on approvals, and how replies and work ended.',
  ],
  [
    'MSG-402',
    'docs/conversation-reference.md#files',
    'Files of earlier messages and of work stay readable: sent again while they fit, otherwise opened by name.',
  ],
  [
    'MSG-403',
    'docs/conversations.md#messages-during-an-open-interaction',
    'A message typed in the chat reaches an open question, changes open work or stops it; the agent decides which.',
  ],
  [
    'MSG-404',
    'docs/conversations.md#messages-during-an-open-interaction',
    "The agent passes on no approval, and no words but the person's own.",
  ],
  [
    'MSG-405',
    'docs/conversation-reference.md#model-context',
    'The agent knows the name of the person, their metadata as the caller’s facts, and the time in their zone.',
  ],
  [
    'MSG-406',
    'docs/conversation-reference.md#model-context',
    'A request begins byte for byte as the one before it, from step to step and from turn to turn.',
  ],
  [
    'MSG-541',
    'docs/conversation-reference.md#files',
    'A picture that is not sent again is opened by its name, and a model that sees sees it.',
  ],
  [
    'MSG-531',
    'docs/architecture.md#a-message-end-to-end',
    'A model request is the same after kill -9 of the process, between two messages and in the middle of an answer.',
  ],
  [
    'MSG-407',
    'docs/conversation-reference.md#long-conversations',
    'Numbers, amounts, dates and addresses that a summary leaves out are stored word for word.',
  ],
  [
    'MSG-601',
    'docs/benchmarks.md#budgets-that-tests-hold',
    'A turn, a create and a page take a bounded number of statements, transactions, rows and bytes of the log.',
  ],
  [
    'MSG-602',
    'docs/benchmarks.md#budgets-that-tests-hold',
    'A piece of a typed reply takes at most one statement, and as many bytes of the log late in a long reply.',
  ],
  [
    'MSG-603',
    'docs/benchmarks.md#budgets-that-tests-hold',
    'A follower of an idle conversation takes a bounded amount of memory.',
  ],
  [
    'MSG-660',
    'docs/conversations.md#talking',
    '`Prefer: wait=N` waits for functions that the deployment declares, and returns early for one that the message declares.',
  ],
]);
