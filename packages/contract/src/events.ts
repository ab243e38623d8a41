import { z } from 'zod';
import { batch } from './batches.ts';
import { connection } from './connections.ts';
import { conversation, conversationStatuses, pendingToolCall } from './conversation.ts';
import { deployment } from './deployments.ts';
import { failsWith } from './fault.ts';
import { file } from './files.ts';
import { id } from './ids.ts';
import { interaction } from './interactions.ts';
import { key } from './keys.ts';
import { message } from './message.ts';
import { missingTools } from './missing-tools.ts';
import { usd } from './money.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { routine } from './routines.ts';
import { task } from './tasks.ts';
import { testRun } from './test-runs.ts';
import { time } from './time.ts';
import { traceStep } from './trace.ts';
import { turn } from './turn.ts';
import { userId } from './user-id.ts';
import { user } from './users.ts';
import { type WebhookEventType, webhookEventTypes } from './webhook-event-types.ts';
import { webhookEndpoint } from './webhooks.ts';

/** What a stop by a limit or a policy adds; a stop by a person adds nothing. */
const whyStopped = { reason: z.string().optional(), message: z.string().nullable().optional() };

/** Read by the person's own page too: no word of hosts and secrets. */
const awayServer = {
  server: missingTools.element.shape.server,
  reason: missingTools.element.shape.reason,
  user_id: userId().nullable().meta({ description: 'Null: it concerns every user.' }),
};

/** What the stream of a conversation carries, and the `data` of each type. */
export const streamEventData = {
  'turn.started': z.object({ turn }),
  'reply.delta': z.object({ text: z.string(), message_id: id('msg') }),
  'reply.completed': z.object({ message }),
  'turn.failed': z.object({ turn }),
  'turn.settled': z.object({ turn }),
  'task.started': z.object({ task }),
  'task.progress': z.object({ title: task.shape.title, progress: task.shape.progress }),
  'task.step': z.object({ step: traceStep }),
  'task.completed': z.object({ task }),
  'task.failed': z.object({ task }),
  'task.stopped': z.object({ task, ...whyStopped }),
  'interaction.created': z.object({ interaction }),
  'interaction.resolved': z.object({ interaction }),
  'tool_call.created': z.object({ call: pendingToolCall }),
  'tool_call.progress': z.object({ call_id: id('call'), name: z.string(), text: z.string() }),
  'file.created': z.object({ file }),
  'tool_server.away': z.object(awayServer),
  'conversation.status': z.object({ status: z.enum(conversationStatuses) }),
};

export type StreamEventType = keyof typeof streamEventData;

const usageAlert = z.object({
  object: z.literal('usage_alert'),
  cap: z.enum(['org_daily_usd', 'org_monthly_usd', 'user_daily_usd', 'user_monthly_usd']),
  user_id: userId().nullable().meta({ description: 'Null: the cap is the org’s.' }),
  period: z.string().meta({ description: 'The day, `2026-11-15`, or the month, `2026-11`.' }),
  threshold: z.int().meta({ description: 'The percentage of the cap that spend has reached.' }),
  cap_usd: usd,
  spend_usd: usd,
});

/** The `data` of each webhook type: the resource as its GET shows it, and what the type adds. */
export const webhookEventData = {
  'conversation.created': conversation,
  'reply.completed': message,
  'turn.failed': turn,
  'task.started': task,
  'task.completed': task,
  'task.failed': task,
  'task.stopped': task.extend(whyStopped),
  'interaction.created': interaction,
  'interaction.resolved': interaction,
  'interaction.expired': interaction,
  'file.created': file,
  'routine.ran': routine.extend({ run: z.object({ conversation_id: id('conv'), turn_id: id('turn') }) }),
  'routine.failed': routine.extend({ reason: z.string(), message: z.string() }),
  'batch.completed': batch,
  'test_run.completed': testRun,
  'deployment.promoted': deployment.extend({ version: z.int(), became_default: z.boolean() }),
  'deployment.rolled_back': deployment.extend({ version: z.int(), previous_version: z.int() }),
  'tool_server.away': z.object({
    object: z.literal('tool_server'),
    id: z.string(),
    ...awayServer,
    message: z.string(),
    conversation_id: id('conv'),
    turn_id: id('turn'),
  }),
  'connection.failed': connection,
  'user.created': user,
  'user.deleted': deleted('user'),
  'key.created': key,
  'key.rolled': key,
  'key.revoked': key,
  'usage.threshold_reached': usageAlert,
  'usage.cap_reached': usageAlert,
  'webhook.disabled': webhookEndpoint,
  'webhook.test': webhookEndpoint,
} satisfies Record<WebhookEventType, z.ZodType>;

/** One event on the stream of a conversation. */
export const streamEvent = eventOf(streamEventData, {
  object: z.literal('event'),
  id: id('evt'),
  seq: z.int().meta({ description: 'Counts up from 1 within the conversation, without gaps.' }),
  conversation_id: id('conv').nullable(),
  task_id: id('task').nullable(),
  turn_id: id('turn').nullable(),
  deployment_id: id('dep').nullable(),
  created_at: time,
});

/** One event as it is delivered to a webhook endpoint. */
const webhookEvent = eventOf(webhookEventData, {
  object: z.literal('event'),
  id: id('evt'),
  created_at: time,
  mode: z.enum(modes),
  org_id: id('org'),
});

type DataByType = Record<string, z.ZodType>;

type EventOf<Data extends DataByType, Envelope extends z.ZodRawShape> = {
  [Type in keyof Data & string]: z.ZodObject<Envelope & { type: z.ZodLiteral<Type>; data: Data[Type] }>;
}[keyof Data & string];

/** An event is its envelope, and by its `type` the `data` of that row. */
function eventOf<Data extends DataByType, const Envelope extends z.ZodRawShape>(table: Data, envelope: Envelope) {
  const options = Object.entries(table).map(([type, data]) => z.object({ ...envelope, type: z.literal(type), data }));
  return z.discriminatedUnion('type', options as unknown as [EventOf<Data, Envelope>]);
}

export type StreamEvent = z.input<typeof streamEvent>;
export type WebhookEvent = z.input<typeof webhookEvent>;

/** What is told: one of the table's types, with the `data` of that type. */
type ToldBy<Table extends DataByType> = {
  [Type in keyof Table & string]: { type: Type; data: z.input<Table[Type]> };
}[keyof Table & string];

export type ToldOnStream = ToldBy<typeof streamEventData>;
export type ToldByWebhook = ToldBy<typeof webhookEventData>;

export const events = {
  list: route({
    method: 'GET',
    path: '/v1/events',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the org’s events of the webhook types, newest first.',
    query: z.strictObject({ type: z.enum(webhookEventTypes).optional(), ...pageQuery }),
    status: 200,
    response: page(webhookEvent),
    errors: [],
    command: 'events list',
  }),
  get: route({
    method: 'GET',
    path: '/v1/events/{event_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show one event.',
    params: z.strictObject({ event_id: failsWith('event_not_found', id('evt')) }),
    status: 200,
    response: webhookEvent,
    errors: [],
    command: 'events get',
  }),
};
