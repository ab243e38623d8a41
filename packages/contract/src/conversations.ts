import { z } from 'zod';
import { conversation, conversationSeen, conversationStatuses } from './conversation.ts';
import { streamEvent, streamEventSeen } from './events.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import {
  asksSomething,
  edgeMessageFields,
  message,
  messageErrors,
  messageFields,
  messageSeen,
  messageSource,
  messageSourceSeen,
  saysSomething,
  toolResults,
  whenBusy,
} from './message.ts';
import { metadataInput } from './metadata.ts';
import { namedDeployment } from './named-deployment.ts';
import { deleted, page, pageQuery } from './page.ts';
import { queryFlag } from './query-flag.ts';
import { queryTime } from './query-time.ts';
import { route } from './route.ts';
import { scenarioDraft } from './scenarios.ts';
import { tag } from './tag.ts';
import { plainText, text } from './text.ts';
import { traceFields, traceQuery } from './trace.ts';
import { turn, turnSeen } from './turn.ts';
import { userId } from './user-id.ts';

const conversationParams = z.strictObject({ conversation_id: failsWith('invalid_conversation_id', id('conv')) });

const turnParams = z.strictObject({
  ...conversationParams.shape,
  turn_id: failsWith('turn_not_found', plainText(1, 64)).describe('The id of a turn of this conversation, `turn_…`.'),
});

const messageParams = z.strictObject({
  ...conversationParams.shape,
  message_id: failsWith('message_not_found', id('msg')),
});

const turnTrace = z
  .object({
    object: tag('turn_trace'),
    conversation_id: id('conv'),
    turn_id: z.string().describe('The turn of the trace.'),
    task_id: id('task').nullable().describe('The task that the reply handed off to.'),
    ...traceFields,
  })
  .describe('Each step and each model call of a reply.');

const needsMessage = {
  error: 'Send a message, an attachment or a tool result.',
  path: ['message'],
  params: { code: 'message_required' },
};

const createBody = (fields: typeof messageFields) =>
  z
    .strictObject({
      user_id: userId()
        .optional()
        .describe('The user of the conversation; absent: the org’s own agent, unless the org requires a user.'),
      deployment: namedDeployment
        .optional()
        .describe(
          'The agent that answers: a dep_ id, a slug or a name, `@version` to pin one; absent: the user’s default, then the org’s.',
        ),
      metadata: metadataInput.optional(),
      ...fields,
    })
    .refine((body) => !asksSomething(body) || saysSomething(body), needsMessage);

const sendBody = (fields: typeof messageFields) =>
  z
    .strictObject({ ...fields, when_busy: whenBusy, tool_results: toolResults.optional() })
    .refine(saysSomething, needsMessage);

/** Errors that any sender of a message may receive. */
const refusals = [
  ...messageErrors,
  'user_disabled',
  'deployment_not_live',
  'deployment_archived',
  'deployment_deleted',
  'wallet_empty',
  'org_cap_reached',
  'user_cap_reached',
  'model_unavailable',
] as const;

export const conversations = {
  list: route({
    method: 'GET',
    path: '/v1/conversations',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List conversations, newest first: one user’s, or all of the org’s.',
    description: 'Needs scope `runtime`. Filters are combined. Conversations of test runs are not listed.',
    query: z.strictObject({
      user_id: userId().optional().describe('Only this user’s; absent: all, including those of the org’s own agent.'),
      deployment: namedDeployment
        .optional()
        .describe('Only of this deployment: a dep_ id, a slug or a name, with `@version` only of that version.'),
      status: z.enum(conversationStatuses).optional().describe('Only conversations in this state.'),
      failed: queryFlag
        .optional()
        .describe('`true`: only those with a `last_error`; `false`: only those without one; absent: all.'),
      error_code: text(1, 64)
        .optional()
        .describe('Only those whose `last_error` has this code; with `failed_after`, those that failed with it since.'),
      failed_after: queryTime
        .optional()
        .describe(
          'Only those with a message sent at this time or later whose turn failed, even if a later one succeeded.',
        ),
      q: text(1, 200)
        .optional()
        .describe('Only those whose `preview` has words that start with each of these words, in any order.'),
      created_after: queryTime.optional().describe('Only those created at this time or later.'),
      created_before: queryTime.optional().describe('Only those created before this time.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(conversation),
    errors: ['invalid_deployment'],
    command: 'conversations list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/conversations',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Start a conversation, with or without its first message.',
    description:
      'The user is created on first use. With a `message` the turn starts at once: the response contains its `turn_id`, or with `stream: true` its events until it settles. Test keys run the draft of the deployment, live keys its live version.',
    idempotent: true,
    body: createBody(messageFields),
    edgeBody: createBody(edgeMessageFields),
    bodyOptional: true,
    status: 201,
    response: conversation,
    produces: ['text/event-stream'],
    streams: true,
    streamed: streamEvent,
    errors: [...refusals, 'user_required', 'invalid_deployment', 'deployment_required'],
    command: 'conversations create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: [], sees: conversationSeen },
    summary: 'Show a conversation with its open tasks, interactions and tool calls.',
    description: 'Also for a session token with `chat`. To miss no event, stream its events after `last_event_seq`.',
    params: conversationParams,
    status: 200,
    response: conversation,
    errors: ['conversation_not_found'],
    command: 'conversations get',
  }),
  send: route({
    method: 'POST',
    path: '/v1/conversations/{conversation_id}/messages',
    auth: 'key',
    scopes: ['runtime'],
    session: {
      needs: ['chat'],
      sends: ['message', 'attachments', 'stream', 'when_busy'],
      sees: turnSeen,
      follows: streamEventSeen,
    },
    summary: 'Send a message; the response comes at once, after the reply with `Prefer: wait=N`, or as a stream.',
    description:
      'A message sent during a reply is queued, or replaces it with `when_busy: interrupt`; open tasks continue. `tool_results` answer pending calls of your functions. 200: the turn has settled; 202: it continues, follow the events.',
    idempotent: true,
    params: conversationParams,
    headers: z.object({
      traceparent: z
        .string()
        .optional()
        .describe('A W3C trace context: the turn continues the caller’s trace. Ignored for session tokens.'),
      Prefer: z
        .string()
        .optional()
        .describe(
          '`wait=N` holds the call until the final answer, or until a person or the message’s sender has to act; 1 to 120 seconds, clamped to this range.',
        ),
    }),
    body: sendBody(messageFields),
    edgeBody: sendBody(edgeMessageFields),
    bodyOptional: true,
    status: 202,
    alsoStatus: [200],
    response: turn,
    produces: ['text/event-stream'],
    streams: true,
    streamed: streamEvent,
    errors: [
      ...refusals,
      'conversation_not_found',
      'answer_mismatch',
      'interaction_not_found',
      'already_answered',
      'interaction_expired',
    ],
    command: 'conversations send',
  }),
  messages: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/messages',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: ['limit', 'cursor'], sees: { data: messageSeen, next_cursor: true } },
    summary: 'List the messages of a conversation, newest first: the user’s, the agent’s and summaries of tasks.',
    description: 'Pages go back in time. Reply deltas are only in the event stream.',
    params: conversationParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(message),
    errors: ['conversation_not_found'],
    command: 'conversations messages',
  }),
  messageSources: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/messages/{message_id}/sources',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: [], sees: { object: true, message_id: true, data: messageSourceSeen } },
    summary: 'Read the passages that a reply cites.',
    description:
      'In the order of `sources` of the message. It leaves out passages that the user’s agent cannot read now: of a deleted or replaced document, or of a notebook that is closed to the user. Also for a session token with `chat`.',
    params: messageParams,
    status: 200,
    response: z.object({
      object: tag('message_sources'),
      message_id: id('msg'),
      data: z.array(messageSource).describe('The passages that can be read now.'),
    }),
    errors: ['conversation_not_found', 'message_not_found'],
    command: 'conversations sources',
  }),
  events: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/events',
    auth: 'key',
    scopes: ['runtime'],
    session: {
      needs: ['chat'],
      sends: ['task_id', 'format', 'after', 'limit'],
      sees: { data: streamEventSeen, next_after: true },
      follows: streamEventSeen,
    },
    summary: 'Follow a conversation as server-sent events, or read its events as JSON pages.',
    description:
      'Reconnect with `Last-Event-ID`, or `after`: every `seq` arrives once and in order. The stream stays open, with a comment line every 15 seconds; `format=json` returns pages instead. Events are deleted after 30 days unless the operator changes it.',
    params: conversationParams,
    headers: z.object({
      'Last-Event-ID': failsWith(
        'invalid_last_event_id',
        z.string().regex(/^(0|[1-9][0-9]{0,14})$/, 'Last-Event-ID is a whole number, or 0.'),
      )
        .optional()
        .describe('The `seq` of the last received event: the stream continues after it.'),
    }),
    query: z.strictObject({
      task_id: failsWith('invalid_task_id', id('task')).optional().describe('Only events of this task.'),
      format: z.enum(['json']).optional().describe('`json` returns a page of events at once instead of a stream.'),
      after: z
        .string()
        .regex(/^(0|[1-9][0-9]{0,14})$/, '`after` is the `seq` of an event, or 0.')
        .transform(Number)
        .optional()
        .describe('The `seq` after which to start; absent: from the first stored event.'),
      limit: pageQuery.limit,
    }),
    status: 200,
    response: z.object({
      data: z.array(streamEvent).describe('Events after `after`, oldest first.'),
      next_after: z.int().nullable().describe('Send it as `after` for the next page; null on the last one.'),
    }),
    produces: ['text/event-stream'],
    streams: true,
    streamed: streamEvent,
    errors: ['conversation_not_found', 'invalid_task_id', 'task_not_found', 'invalid_last_event_id'],
    // The command `events` reads these and the org's events.
    command: null,
  }),
  turn: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/turns/{turn_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: [], sees: turnSeen },
    summary: 'Show a turn: the state of a message, its reply, or why it failed.',
    description:
      'The current state of the turn that sending the message returned and that `turn.settled` carries. Also for a session token with `chat`.',
    params: turnParams,
    status: 200,
    response: turn,
    errors: ['conversation_not_found', 'turn_not_found'],
    command: 'conversations turn',
  }),
  trace: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/turns/{turn_id}/trace',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show each step and each model call of a reply; a task that it handed off to has its own trace.',
    description:
      'Model calls with tokens and cost, tools with one line of input and output, and unavailable tool servers. `include=content` adds their content. `GET /v1/tasks/{task_id}/trace` shows the task of the turn.',
    params: turnParams,
    query: traceQuery,
    status: 200,
    response: turnTrace,
    errors: ['conversation_not_found', 'turn_not_found'],
    command: 'conversations trace',
  }),
  stop: route({
    method: 'POST',
    path: '/v1/conversations/{conversation_id}/stop',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: [], sees: conversationSeen },
    summary: 'Stop the reply and every task the conversation started.',
    description:
      'Messages and costs stay. Tasks end as `failed` with the error `stopped`; pending interactions are cancelled.',
    params: conversationParams,
    status: 200,
    response: conversation,
    errors: ['conversation_not_found'],
    command: 'conversations stop',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/conversations/{conversation_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Delete a conversation with its messages, events, traces, outputs and files.',
    description:
      'What is open is stopped and charged first. Sessions of the conversation end. Costs stay in the usage report without any text, and facts in the memory stay: delete those with `DELETE /v1/memory`.',
    params: conversationParams,
    status: 200,
    response: deleted('conversation'),
    errors: ['conversation_not_found'],
    command: 'conversations delete',
  }),
  draftScenario: route({
    method: 'POST',
    path: '/v1/conversations/{conversation_id}/scenario-draft',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Draft a scenario from a conversation, with the results of its tools; nothing is saved.',
    description:
      'The first message becomes the goal, and the results of the deployment’s own tools are included without credentials. If the version’s model comes from a provider, it words the criteria and the call is billed. Save it with `POST …/scenarios`.',
    idempotent: true,
    params: conversationParams,
    body: z.strictObject({
      task_id: failsWith('invalid_task_id', id('task'))
        .optional()
        .describe('A task of the conversation: only it and its message are used; absent: the whole conversation.'),
    }),
    bodyOptional: true,
    status: 200,
    response: scenarioDraft,
    errors: ['conversation_not_found', 'task_not_found', 'deployment_not_found', 'invalid_request'],
    command: 'conversations draft-scenario',
  }),
};
