import { area } from '../requirement.ts';

export const conversations = area('conversations', 'done', [
  [
    'CONV-001',
    'docs/api/conversations.md#conversation',
    'A conversation shows `id` (`conv_`), `object: conversation`, `user_id`, `deployment_id`, `deployment_version`, `status`, `metadata`, `created_at`, `last_active_at`, `open_work`, `open_interactions`, `pending_tool_calls`, `last_event_seq`, `cost_usd`, `cost_breakdown`.',
  ],
  [
    'CONV-002',
    'docs/api/conversations.md#scenariodraft',
    "`user_id` is null for the org's own agent and for an A2A conversation that names no user.",
  ],
  [
    'CONV-003',
    'docs/api/conversations.md#conversation',
    '`deployment_version` is in test mode the version it started on, in live mode the one live at its last message.',
  ],
  [
    'CONV-004',
    'docs/api/conversations.md#post-v1conversations',
    '`metadata` accepts at most 32 keys of 1 to 64 characters with string values of at most 512; beyond that it is refused.',
  ],
  [
    'CONV-005',
    'docs/conversation-reference.md#turns-and-messages',
    '`metadata` comes back as sent and never reaches the model.',
  ],
  [
    'CONV-006',
    'docs/api/conversations.md#conversation',
    '`open_work` lists unfinished work oldest first as `{task_id, title, status}`.',
  ],
  [
    'CONV-007',
    'docs/api/conversations.md#conversation',
    '`open_interactions` lists what it waits on as `{interaction_id, task_id, kind}`.',
  ],
  [
    'CONV-008',
    'docs/api/conversations.md#pendingtoolcall',
    "`pending_tool_calls` lists unanswered calls to the caller's tools as `{call_id, name, arguments, task_id}`, `task_id` null for a reply's own call.",
  ],
  [
    'CONV-009',
    'docs/api/conversations.md#conversation',
    '`last_event_seq` is the seq of the newest event; following from it after the read misses nothing.',
  ],
  [
    'CONV-010',
    'docs/api/conversations.md#message',
    '`turn_id` is the `turn_` id of the first message when one was sent, and absent otherwise.',
  ],
  ['CONV-011', 'docs/api/conversations.md#conversation', '`last_active_at` moves with each message.'],
  [
    'CONV-012',
    'docs/api/conversations.md#post-v1conversations',
    '`POST /v1/conversations` answers 201 with the conversation; an empty body is taken.',
  ],
  ['CONV-013', 'docs/users-and-money.md#users', 'A first use of an unknown `user_id` creates that user.'],
  [
    'CONV-014',
    'docs/api/conversations.md#post-v1conversations',
    "`deployment` accepts id or name; absent it is the user's default, then the org's.",
  ],
  [
    'CONV-015',
    'docs/api/conversations.md#post-v1conversations',
    'No deployment named and no default answers 400 `deployment_required`.',
  ],
  [
    'CONV-016',
    'docs/api/conversations.md#post-v1conversations',
    'A `deployment` that names none answers 400 `invalid_deployment`.',
  ],
  ['CONV-017', 'docs/api/conversations.md#post-v1conversations', 'A `message` on create starts the first turn.'],
  [
    'CONV-018',
    'docs/api/conversations.md#post-v1conversations',
    "With `stream: true` create answers a `text/event-stream` of the turn's events that ends when the turn settles.",
  ],
  [
    'CONV-019',
    'docs/api/conversations.md#get-v1conversations',
    '`GET /v1/conversations` lists newest first by pages, every conversation of the org in that mode.',
  ],
  [
    'CONV-020',
    'docs/api/conversations.md#get-v1conversations',
    "`GET /v1/conversations?user_id=` lists that user's conversations only.",
  ],
  [
    'CONV-021',
    'docs/api/conversations.md#get-v1conversationsconversation_id',
    '`GET /v1/conversations/{conversation_id}` answers the conversation.',
  ],
  [
    'CONV-022',
    'docs/api/conversations.md#post-v1conversationsconversation_idstop',
    '`POST …/stop` stops the reply and every task the conversation started.',
  ],
  ['CONV-023', 'docs/conversation-reference.md#turns-and-messages', 'A stopped conversation takes new messages.'],
  ['CONV-024', 'docs/users-and-money.md#users', "Without `user_id` a request reaches the org's own agent."],
  [
    'CONV-025',
    'docs/users-and-money.md#users',
    'Without `user_id` in an org with `require_user` create answers 400 `user_required`.',
  ],
  [
    'CONV-026',
    'docs/conversation-reference.md#turns-and-messages',
    'A message moves the status from `idle` to `replying`.',
  ],
  [
    'CONV-027',
    'docs/conversation-reference.md#turns-and-messages',
    'A reply that ends without work returns the status to `idle`.',
  ],
  [
    'CONV-028',
    'docs/conversation-reference.md#turns-and-messages',
    'A task that starts moves the status to `working`.',
  ],
  ['CONV-029', 'docs/conversation-reference.md#turns-and-messages', 'An open interaction makes the status `waiting`.'],
  [
    'CONV-030',
    'docs/conversation-reference.md#turns-and-messages',
    'When reply, tasks and interactions are all settled the status is `idle`.',
  ],
  ['CONV-031', 'docs/conversation-reference.md#turns-and-messages', 'Stop answers 200 with the conversation.'],
  [
    'CONV-032',
    'docs/api/conversations.md#get-v1conversationsconversation_idturnsturn_id',
    'An unknown conversation answers 404 `conversation_not_found`.',
  ],
  ['CONV-033', 'docs/conversation-reference.md#turns-and-messages', 'A new conversation emits `conversation.created`.'],
  [
    'CONV-101',
    'docs/api/conversations.md#get-v1conversationsconversation_idturnsturn_idtrace',
    '`GET /v1/conversations/{id}/turns/{turn_id}/trace` shows the steps and model calls of a reply as a task’s trace shows those of work.',
  ],
  [
    'CONV-102',
    'docs/conversation-reference.md#turns-and-messages',
    'A turn of another conversation, org or mode is not found.',
  ],
  [
    'CONV-400',
    'docs/find-conversations.md#feedback',
    'An answer is rated good or bad by a user’s session, a member or a key; each has one say, and the last counts.',
  ],
  [
    'CONV-401',
    'docs/find-conversations.md#feedback',
    'Ratings are listed and counted per version in the mode of the call, and emit `message.feedback`.',
  ],
  [
    'CONV-402',
    'docs/find-conversations.md#feedback',
    'A session rates its own conversation alone and sees its user’s own ratings; they go when the user is erased.',
  ],
  [
    'CONV-420',
    'docs/tests-from-conversations.md#turn-a-conversation-into-a-test',
    'A scenario is drafted from a conversation only for a caller who may read it: a key of its org and mode with scope `runtime`. A conversation that a test played is refused.',
  ],
  [
    'CONV-541',
    'docs/conversation-reference.md#turns-and-messages',
    'A message with `when_busy: interrupt` stops the reply that is being made and the messages that wait behind it, and is answered at once.',
  ],
  [
    'CONV-542',
    'docs/conversation-reference.md#turns-and-messages',
    'It stops no work and withdraws no question of a reply that waits.',
  ],
  [
    'CONV-543',
    'docs/conversation-reference.md#turns-and-messages',
    'A message that is refused interrupts nothing; one that is sent twice interrupts once.',
  ],
  [
    'CONV-544',
    'docs/conversation-reference.md#turns-and-messages',
    'If many messages interrupt each other, each ends, and the last is answered.',
  ],
  ['CONV-545', 'docs/conversation-reference.md#turns-and-messages', 'A session with `chat` may send `when_busy`.'],
  [
    'CONV-551',
    'docs/benchmarks.md#an-hour-of-everything',
    'The files of a conversation are found without reading what was said in it.',
  ],
  [
    'CONV-531',
    'docs/architecture.md#tenancy',
    'Reads of one conversation share a statement, each caller gets only its own, and the statement is planned a few times, not each time.',
  ],
  [
    'CONV-532',
    'docs/users-and-money.md#users',
    'Nothing that is written into a conversation while it is erased stays.',
  ],
  [
    'CONV-650',
    'docs/api/conversations.md#get-v1conversationsconversation_idturnsturn_id',
    '`GET /v1/conversations/{id}/turns/{turn_id}` returns the turn as it is now; a turn of another conversation, org or mode is not found.',
  ],
  [
    'CONV-651',
    'docs/conversations.md#events',
    'A model call that failed is in the trace of its reply or task with the reason and the status of the provider, and without the words of the provider.',
  ],
  [
    'CONV-700',
    'docs/find-conversations.md#deleting-conversations',
    'Deleting a conversation removes its messages, events, traces, outputs, files and sessions from every route and table; its costs stay without text.',
  ],
  [
    'CONV-701',
    'docs/find-conversations.md#deleting-conversations',
    'A message that arrives while its conversation is deleted starts nothing.',
  ],
  [
    'CONV-702',
    'docs/find-conversations.md#deleting-conversations',
    'Only a key of the org and mode with the scope `runtime` may delete a conversation.',
  ],
  [
    'CONV-703',
    'docs/find-conversations.md#deleting-conversations',
    '`conversation_retention_days` of the org, kept for each mode, deletes conversations after so many days without activity.',
  ],
  [
    'CONV-704',
    'docs/find-conversations.md#deleting-conversations',
    '`VESTRA_RETENTION_CONVERSATIONS_DAYS` is an upper bound for every org.',
  ],
  [
    'CONV-705',
    'docs/find-conversations.md#deleting-conversations',
    'A deletion ends the streams of the conversation with `stream.closed`, in every process, and calls that wait for its turn.',
  ],
]);
