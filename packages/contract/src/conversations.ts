import { z } from 'zod';
import { conversation, conversationSeen } from './conversation.ts';
import { streamEvent } from './events.ts';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import {
  asksSomething,
  message,
  messageErrors,
  messageFields,
  messageSeen,
  saysSomething,
  toolResults,
} from './message.ts';
import { metadataInput } from './metadata.ts';
import { namedDeployment } from './named-deployment.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { eventSeen } from './session-event.ts';
import { traceFields } from './trace.ts';
import { turn, turnSeen } from './turn.ts';
import { userId } from './user-id.ts';

const conversationParams = z.strictObject({ conversation_id: failsWith('invalid_conversation_id', id('conv')) });

const turnTrace = z.object({
  object: z.literal('turn_trace'),
  conversation_id: id('conv'),
  turn_id: z.string(),
  task_id: id('task').nullable().meta({ description: 'The work that the reply handed over to.' }),
  ...traceFields,
});

const needsMessage = {
  error: 'Send a message, an attachment or a tool result.',
  path: ['message'],
  params: { code: 'message_required' },
};

/** What may keep a message from being taken, whoever sends it. */
const refusals = [
  ...messageErrors,
  'user_disabled',
  'deployment_not_live',
  'deployment_archived',
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
    query: z.strictObject({ user_id: userId().optional(), ...pageQuery }),
    status: 200,
    response: page(conversation),
    errors: [],
    command: 'conversations list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/conversations',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Start a conversation, with or without its first message.',
    idempotent: true,
    body: z
      .strictObject({
        user_id: userId().optional(),
        deployment: namedDeployment.optional(),
        metadata: metadataInput.optional(),
        ...messageFields,
      })
      .refine((body) => !asksSomething(body) || saysSomething(body), needsMessage),
    bodyOptional: true,
    status: 201,
    response: conversation,
    produces: ['text/event-stream'],
    streams: true,
    errors: [...refusals, 'user_required', 'invalid_deployment', 'deployment_required'],
    command: 'conversations create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}',
    auth: 'key',
    scopes: ['runtime'],
    session: { needs: ['chat'], sends: [], sees: conversationSeen },
    summary: 'Show a conversation with its open work, interactions and tool calls.',
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
      sends: ['message', 'attachments', 'stream'],
      sees: turnSeen,
      follows: eventSeen,
    },
    summary: 'Send a message; the turn is answered at once, held for with `Prefer: wait=N`, or streamed.',
    idempotent: true,
    params: conversationParams,
    headers: z.object({
      Prefer: z.string().optional().meta({
        description:
          '`wait=N` holds the call for the final answer, or until it waits for one itself; 1 to 120 seconds, what is beyond counts as the nearest.',
      }),
    }),
    body: z
      .strictObject({ ...messageFields, tool_results: toolResults.optional() })
      .refine(saysSomething, needsMessage),
    bodyOptional: true,
    status: 202,
    alsoStatus: [200],
    response: turn,
    produces: ['text/event-stream'],
    streams: true,
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
    summary: 'List the messages of a conversation, newest first: the user’s, the agent’s and summaries of work.',
    params: conversationParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(message),
    errors: ['conversation_not_found'],
    command: 'conversations messages',
  }),
  events: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/events',
    auth: 'key',
    scopes: ['runtime'],
    session: {
      needs: ['chat'],
      sends: ['task_id', 'format', 'after', 'limit'],
      sees: { data: eventSeen, next_after: true },
      follows: eventSeen,
    },
    summary: 'Follow a conversation as server-sent events, or read its events as JSON pages.',
    params: conversationParams,
    headers: z.object({
      'Last-Event-ID': failsWith(
        'invalid_last_event_id',
        z.string().regex(/^(0|[1-9][0-9]{0,14})$/, 'Last-Event-ID is a whole number, or 0.'),
      )
        .optional()
        .meta({ description: 'The `seq` of the last event seen: the stream goes on after it.' }),
    }),
    query: z.strictObject({
      task_id: failsWith('invalid_task_id', id('task')).optional(),
      format: z.enum(['json']).optional(),
      after: z
        .string()
        .regex(/^(0|[1-9][0-9]{0,14})$/, '`after` is the `seq` of an event, or 0.')
        .transform(Number)
        .optional(),
      limit: pageQuery.limit,
    }),
    status: 200,
    response: z.object({ data: z.array(streamEvent), next_after: z.int().nullable() }),
    produces: ['text/event-stream'],
    streams: true,
    errors: ['conversation_not_found', 'invalid_task_id', 'task_not_found', 'invalid_last_event_id'],
    // The command `events` reads these and the org's own.
    command: null,
  }),
  trace: route({
    method: 'GET',
    path: '/v1/conversations/{conversation_id}/turns/{turn_id}/trace',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show each step and each model call of a reply; work that it handed over has a trace of its own.',
    params: z.strictObject({ ...conversationParams.shape, turn_id: z.string() }),
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
    params: conversationParams,
    status: 200,
    response: conversation,
    errors: ['conversation_not_found'],
    command: 'conversations stop',
  }),
};
