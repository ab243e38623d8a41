import { area } from '../requirement.ts';

export const conversations = area('conversations', 'done', [
  [
    'CONV-001',
    'runtime.md · Conversation',
    'A conversation shows `id` (`conv_`), `object: conversation`, `user_id`, `deployment_id`, `deployment_version`, `status`, `metadata`, `created_at`, `last_active_at`, `open_work`, `open_interactions`, `pending_tool_calls`, `last_event_seq`, `cost_usd`, `cost_breakdown`.',
  ],
  [
    'CONV-002',
    'runtime.md · Conversation',
    "`user_id` is null for the org's own agent and for an A2A conversation that names no user.",
  ],
  [
    'CONV-003',
    'runtime.md · Conversation',
    '`deployment_version` is in test mode the version it started on, in live mode the one live at its last message.',
  ],
  [
    'CONV-004',
    'runtime.md · Conversation',
    '`metadata` takes at most 32 keys of 1 to 64 characters with string values of at most 512; beyond that it is refused.',
  ],
  ['CONV-005', 'runtime.md · Conversation', '`metadata` comes back as sent and never reaches the model.'],
  [
    'CONV-006',
    'runtime.md · Conversation',
    '`open_work` lists unfinished work oldest first as `{task_id, title, status}`, `title` null until named.',
  ],
  [
    'CONV-007',
    'runtime.md · Conversation',
    '`open_interactions` lists what it waits on as `{interaction_id, task_id, kind}`.',
  ],
  [
    'CONV-008',
    'runtime.md · Conversation',
    "`pending_tool_calls` lists unanswered calls to the caller's tools as `{call_id, name, arguments, task_id}`, `task_id` null for a reply's own call.",
  ],
  [
    'CONV-009',
    'runtime.md · Conversation',
    '`last_event_seq` is the seq of the newest event; following from it after the read misses nothing.',
  ],
  [
    'CONV-010',
    'runtime.md · Conversation',
    '`turn_id` is the `turn_` id of the first message when one was sent, and absent otherwise.',
  ],
  ['CONV-011', 'runtime.md · Conversation', '`last_active_at` moves with each message.'],
  [
    'CONV-012',
    'runtime.md · Conversations',
    '`POST /v1/conversations` answers 201 with the conversation; an empty body is taken.',
  ],
  ['CONV-013', 'runtime.md · Conversations', 'A first use of an unknown `user_id` makes that user.'],
  [
    'CONV-014',
    'runtime.md · Conversations',
    "`deployment` takes id or name; absent it is the user's default, then the org's.",
  ],
  ['CONV-015', 'runtime.md · Conversations', 'No deployment named and no default answers 400 `deployment_required`.'],
  ['CONV-016', 'runtime.md · Conversations', 'A `deployment` that names none answers 400 `invalid_deployment`.'],
  ['CONV-017', 'runtime.md · Conversations', 'A `message` on create starts the first turn.'],
  [
    'CONV-018',
    'runtime.md · Conversations',
    "With `stream: true` create answers a `text/event-stream` of the turn's events that ends when the turn settles.",
  ],
  [
    'CONV-019',
    'runtime.md · Conversations',
    '`GET /v1/conversations` lists newest first by pages, every conversation of the org in that mode.',
  ],
  ['CONV-020', 'runtime.md · Conversations', "`GET /v1/conversations?user_id=` lists that user's conversations only."],
  ['CONV-021', 'runtime.md · Conversations', '`GET /v1/conversations/{conversation_id}` answers the conversation.'],
  ['CONV-022', 'runtime.md · Conversations', '`POST …/stop` stops the reply and every task the conversation started.'],
  ['CONV-023', 'runtime.md · Conversations', 'A stopped conversation takes new messages.'],
  ['CONV-024', 'runtime.md · What the service does', "Without `user_id` a request reaches the org's own agent."],
  [
    'CONV-025',
    'runtime.md · What the service does',
    'Without `user_id` in an org with `require_user` create answers 400 `user_required`.',
  ],
  ['CONV-026', 'decisions.md · 7', 'A message moves the status from `idle` to `replying`.'],
  ['CONV-027', 'decisions.md · 7', 'A reply that ends without work returns the status to `idle`.'],
  ['CONV-028', 'decisions.md · 7', 'A task that starts moves the status to `working`.'],
  ['CONV-029', 'decisions.md · 7', 'An open interaction makes the status `waiting`.'],
  ['CONV-030', 'decisions.md · 7', 'When reply, tasks and interactions are all settled the status is `idle`.'],
  ['CONV-031', 'decisions.md · 10', 'Stop answers 200 with the conversation.'],
  ['CONV-032', 'decisions.md · 3', 'An unknown conversation answers 404 `conversation_not_found`.'],
  ['CONV-033', 'decisions.md · 7', 'A new conversation emits `conversation.created`.'],
  [
    'CONV-101',
    'decisions.md · 11',
    '`GET /v1/conversations/{id}/turns/{turn_id}/trace` shows the steps and model calls of a reply as a task’s trace shows those of work.',
  ],
  ['CONV-102', 'decisions.md · 11', 'A turn of another conversation, org or mode is not found.'],
  [
    'CONV-400',
    'docs/conversations.md · What people say of answers',
    'An answer is rated good or bad by a user’s session, a member or a key; each has one say, and the last counts.',
  ],
  [
    'CONV-401',
    'docs/conversations.md · What people say of answers',
    'Ratings are listed and counted per version in the mode of the call, and told as `message.feedback`.',
  ],
  [
    'CONV-402',
    'docs/conversations.md · What people say of answers',
    'A session rates its own conversation alone and sees its user’s own ratings; they go when the user is erased.',
  ],
  [
    'CONV-420',
    'docs/tests.md · A scenario of a talk',
    'A scenario is drafted of a talk only for whoever may read it: a key of its org and mode with scope `runtime`; what a test played is no talk.',
  ],
  [
    'CONV-531',
    'decisions.md · 11',
    'Who reads one conversation shares a statement with others, is given their own alone, and the statement is planned a few times, not each time.',
  ],
  [
    'CONV-532',
    'decisions.md · 11',
    'Of what is written into a conversation while it is erased nothing stays.',
  ],
]);
