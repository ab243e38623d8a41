import { area } from '../requirement.ts';

export const events = area('events', 'done', [
  [
    'EVT-001',
    'docs/api/conversations.md#get-v1conversationsconversation_idevents',
    '`GET …/events` answers a stream of server-sent events of the conversation.',
  ],
  ['EVT-002', 'docs/conversation-reference.md#reading-the-stream', '`Last-Event-ID` resumes after that seq.'],
  [
    'EVT-003',
    'docs/conversation-reference.md#reading-the-stream',
    'A `Last-Event-ID` that is neither a whole number nor 0 answers 400 `invalid_last_event_id`.',
  ],
  [
    'EVT-004',
    'docs/api/conversations.md#get-v1conversationsconversation_idevents',
    "`task_id` narrows the stream to one task's events.",
  ],
  [
    'EVT-005',
    'docs/api/conversations.md#get-v1conversationsconversation_idevents',
    '`format=json` with `after=<seq>` answers pages of events as JSON after the seq.',
  ],
  [
    'EVT-006',
    'docs/conversation-reference.md#reading-the-stream',
    '`seq` grows from event to event in a conversation.',
  ],
  [
    'EVT-007',
    'docs/events.md#on-the-stream-of-a-conversation',
    'The stream carries replies as they are typed, work started and finished, progress, approvals, tool calls and files.',
  ],
  [
    'EVT-008',
    'docs/conversation-reference.md#reading-the-stream',
    'A reader that resumes after a cut connection gets every event exactly once.',
  ],
  [
    'EVT-009',
    'docs/events.md#on-the-stream-of-a-conversation',
    'An event is `{object: event, id, type, seq, conversation_id, task_id, turn_id, deployment_id, created_at, data}`, null for missing values.',
  ],
  [
    'EVT-010',
    'docs/api/conversations.md#get-v1conversationsconversation_idevents',
    'On the stream an event is `id: <seq>`, `event: <type>`, `data: <the event as JSON>`.',
  ],
  [
    'EVT-011',
    'docs/conversation-reference.md#reading-the-stream',
    'A silent stream carries a comment line every 15 seconds.',
  ],
  [
    'EVT-012',
    'docs/conversation-reference.md#reading-the-stream',
    '`seq` starts at 1 and has no gaps, also under concurrent writers.',
  ],
  [
    'EVT-013',
    'docs/api/conversations.md#get-v1conversationsconversation_idevents',
    'JSON pages are `{data, next_after}`, `next_after` null on the last, with `limit` as for lists.',
  ],
  [
    'EVT-014',
    'docs/conversations.md#events',
    'A turn opens with `turn.started` and closes with `turn.settled` `{turn}`.',
  ],
  [
    'EVT-015',
    'docs/conversations.md#events',
    "A reply is `reply.delta` `{text}` events and one `reply.completed` `{message}`; the deltas joined are the message's text.",
  ],
  [
    'EVT-016',
    'docs/conversations.md#events',
    'A task emits `task.started`, `task.progress` and one `task.step` per trace step.',
  ],
  [
    'EVT-017',
    'docs/conversation-reference.md#tasks',
    'A task ends with exactly one of `task.completed`, `task.failed`, `task.stopped`.',
  ],
  ['EVT-018', 'docs/conversations.md#events', 'Waiting emits `interaction.created` and `interaction.resolved`.'],
  [
    'EVT-019',
    'docs/events.md#on-the-stream-of-a-conversation',
    "A call to the caller's tool emits `tool_call.created`.",
  ],
  ['EVT-020', 'docs/conversations.md#events', 'A file that the agent creates emits `file.created`.'],
  ['EVT-021', 'docs/conversations.md#events', 'A change of status emits `conversation.status`.'],
  [
    'EVT-022',
    'docs/conversation-reference.md#reading-the-stream',
    'Deltas are joined for at most 40 ms before they are stored, for up to 90 ms if many replies stream at once, and for up to 400 ms while the database is slow.',
  ],
  [
    'EVT-023',
    'docs/api/conversations.md#get-v1conversationsconversation_idevents',
    'Streams answer 200 `text/event-stream`.',
  ],
  [
    'EVT-024',
    'docs/api/conversations.md#get-v1conversationsconversation_idevents',
    'Without `Last-Event-ID` and `after` the stream replays from the first event.',
  ],
  ['EVT-025', 'docs/conversation-reference.md#reading-the-stream', '`after` also works for the SSE form.'],
  [
    'EVT-141',
    'docs/events.md#on-the-stream-of-a-conversation',
    'A reply that fails, or that a limit ends, emits `turn.failed` with the turn and its error, on the stream and to webhooks; a stop by a person does not.',
  ],
  [
    'EVT-670',
    'docs/restarts.md',
    'A stream that the server ends because it restarts closes with `stream.closed`, whose `seq` is that of the last event: clients resume from it without a gap, and both SDKs at once.',
  ],
]);
