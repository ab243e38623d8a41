import { z } from 'zod';
import { batch } from './batches.ts';
import { connection } from './connections.ts';
import { conversation, conversationStatuses, pendingToolCall } from './conversation.ts';
import { deployment } from './deployment.ts';
import { failsWith } from './fault.ts';
import { messageFeedback } from './feedback.ts';
import { file, fileSeen } from './files.ts';
import { id } from './ids.ts';
import { improvement } from './improvements.ts';
import { interaction, interactionSeen } from './interactions.ts';
import { key } from './keys.ts';
import { grantEndings, mcpGrant, whyGrantEnded } from './mcp-grants.ts';
import { message, messageSeen } from './message.ts';
import { missingTools } from './missing-tools.ts';
import { usd } from './money.ts';
import { deleted, page, pageQuery } from './page.ts';
import { replay } from './replays.ts';
import { modes, route } from './route.ts';
import { routine } from './routines.ts';
import { type SeenFields, shown } from './session-access.ts';
import { tag } from './tag.ts';
import { task, taskSeen } from './tasks.ts';
import { testRun } from './test-runs.ts';
import { createdAt } from './time.ts';
import { stepSeen, traceStep } from './trace.ts';
import { turn, turnSeen } from './turn.ts';
import { userId } from './user-id.ts';
import { user } from './users.ts';
import { type WebhookEventType, webhookEventTypes } from './webhook-event-types.ts';
import { webhookEndpoint } from './webhooks.ts';

/** Present if a limit, a policy or the end of its user or deployment stopped it, absent if a person did. */
const whyStopped = {
  reason: z
    .string()
    .optional()
    .describe(
      'The reason: `max_turns`, `max_budget`, `credits_exhausted`, `hook_blocked`, `user_disabled` or `deployment_deleted`; absent if a caller or a person stopped it.',
    ),
  message: z
    .string()
    .nullable()
    .optional()
    .describe('The reason as a sentence; absent if a caller or a person stopped it.'),
};

/** Shown on the user's page too: it contains no hosts and secrets. */
const awayServer = {
  server: missingTools.element.shape.server,
  reason: missingTools.element.shape.reason,
  user_id: userId().nullable().describe('Null: it affects every user.'),
};

/** The event types of a conversation's stream, with the `data` of each. */
export const streamEventData = {
  'turn.started': z.object({ turn }).describe('A message was accepted and its turn has started.'),
  'reply.delta': z
    .object({
      text: z.string().describe('The next piece of the reply: append it to the previous ones.'),
      message_id: id('msg'),
    })
    .describe('The next piece of a reply that is being written.'),
  'reply.completed': z
    .object({ message })
    .describe('A reply, or the summary of a task, is complete and is now a message.'),
  'turn.failed': z.object({ turn }).describe('A turn ended without an answer; `error` explains why.'),
  'turn.settled': z.object({ turn }).describe('A turn ended: answered, failed or stopped.'),
  'task.started': z.object({ task }).describe('A task has started.'),
  'task.progress': z
    .object({ title: task.shape.title, progress: task.shape.progress })
    .describe('The plan or the title of a task has changed.'),
  'task.step': z.object({ step: traceStep }).describe('A tool was called in a task, or has answered.'),
  'task.completed': z.object({ task }).describe('A task is done.'),
  'task.failed': z.object({ task }).describe('A task failed.'),
  'task.stopped': z
    .object({ task, ...whyStopped })
    .describe('A task was ended by a limit, a policy, a caller or a person.'),
  'task.deleted': z
    .object({})
    .describe(
      'The task was deleted. Its earlier events have this type too: they keep `seq` and `task_id`, without data.',
    ),
  'interaction.created': z
    .object({ interaction })
    .describe('The agent waits for an approval, an answer, a hand-off, a connection or your function.'),
  'interaction.resolved': z.object({ interaction }).describe('An interaction was answered, withdrawn or has expired.'),
  'tool_call.created': z.object({ call: pendingToolCall }).describe('The agent calls your function: answer it.'),
  'tool_call.started': z
    .object({
      call_id: id('call'),
      name: z.string().describe('A built-in tool, or the tool of a server as `mcp__<slug>__<tool>`.'),
    })
    .describe('A reply calls a built-in tool or a tool of a server. Calls of tasks are `task.step`.'),
  'tool_call.progress': z
    .object({
      call_id: id('call'),
      name: z.string().describe('The running function, or the tool of a server as `mcp__<slug>__<tool>`.'),
      text: z.string().describe('The progress text from your code or from the server.'),
    })
    .describe('A running function or a tool of a server reported progress.'),
  'file.created': z.object({ file }).describe('A task has created a file.'),
  'tool_server.away': z
    .object(awayServer)
    .describe('The tools of a server or app were unavailable; the agent continues without them.'),
  'conversation.status': z
    .object({
      status: z.enum(conversationStatuses).describe('The new status of the conversation.'),
    })
    .describe('The status of the conversation has changed.'),
  'stream.closed': z
    .object({
      reason: z.enum(['server_restarting', 'conversation_deleted']).describe('Why the server ended the stream.'),
    })
    .describe(
      'The last event of a stream that the server ends because it restarts or the conversation was deleted. It is not part of the log: its `seq` is that of the event before it. After a restart, reconnect with it as `Last-Event-ID`.',
    ),
};

export type StreamEventType = keyof typeof streamEventData;

const usageAlert = z.object({
  object: tag('usage_alert'),
  cap: z
    .enum(['org_daily_usd', 'org_monthly_usd', 'user_daily_usd', 'user_monthly_usd'])
    .describe('The cap that spending has approached or reached.'),
  user_id: userId().nullable().describe('Null: the cap is the org’s.'),
  period: z.string().describe('The day, `2026-11-15`, or the month, `2026-11`.'),
  threshold: z.int().describe('The percentage of the cap that spend has reached.'),
  cap_usd: usd.describe('The cap itself, in US dollars.'),
  spend_usd: usd.describe('The spending in the period, in US dollars.'),
});

/** The `data` of each webhook type: the resource as its GET returns it, and the type's own fields. */
export const webhookEventData = {
  'conversation.created': conversation.describe('A conversation was started.'),
  'reply.completed': message.describe('The agent has answered, or a task has summarised its result.'),
  'message.feedback': messageFeedback.describe('Somebody rated an answer.'),
  'turn.failed': turn.describe('A turn ended without an answer; `error` explains why.'),
  'task.started': task.describe('A task has started.'),
  'task.completed': task.describe('A task is done.'),
  'task.failed': task.describe('A task failed.'),
  'task.stopped': task.extend(whyStopped).describe('A task was ended by a limit, a policy, a caller or a person.'),
  'interaction.created': interaction.describe(
    'The agent waits for an approval, an answer, a hand-off, a connection or your function.',
  ),
  'interaction.resolved': interaction.describe('An interaction was answered or withdrawn.'),
  'interaction.expired': interaction.describe('Nobody answered in time; the agent continues without an answer.'),
  'file.created': file.describe('A task has created a file.'),
  'routine.ran': routine
    .extend({
      run: z.object({ conversation_id: id('conv'), turn_id: id('turn') }).describe('Where to follow the run.'),
    })
    .describe('A routine has run; `run` names its conversation and turn.'),
  'routine.failed': routine
    .extend({
      reason: z.string().describe('The error code of the missed run.'),
      message: z.string().describe('The reason as a sentence for the operator of the deployment.'),
    })
    .describe('A due run did not happen; `reason` explains why.'),
  'batch.completed': batch.describe('Every item of a batch has ended.'),
  'test_run.completed': testRun.describe('A test run has ended; `status` is its verdict.'),
  'replay.completed': replay.describe(
    'A replay has ended; read its conversations with `GET /v1/replays/{replay_id}`, they are omitted here.',
  ),
  'improvement.completed': improvement.describe(
    'An improvement has ended, failed or was cancelled; read its scenarios and its change with `GET /v1/improvements/{improvement_id}`, they are omitted here.',
  ),
  'deployment.promoted': deployment
    .extend({
      version: z.int().describe('The version that now runs in the mode of the event.'),
      became_default: z.boolean().describe('Whether the deployment also became the org’s default.'),
    })
    .describe('Another version of a deployment now runs.'),
  'deployment.rolled_back': deployment
    .extend({
      version: z.int().describe('The version that is live again.'),
      previous_version: z.int().describe('The version that was live until then.'),
    })
    .describe('The previous live version is live again.'),
  'tool_server.away': z
    .object({
      object: tag('tool_server'),
      id: z.string().describe('The id of the MCP server, or of the app.'),
      ...awayServer,
      message: z.string().describe('The problem, in a sentence for the operator of the deployment.'),
      conversation_id: id('conv'),
      turn_id: id('turn'),
    })
    .describe('The tools of a server or app were unavailable; the agent continues without them.'),
  'connection.failed': connection.describe('A connected app can no longer be used; `error` explains why.'),
  'user.created': user.describe('A user was created by their first action.'),
  'user.deleted': deleted('user').describe('The erasure of a user is done.'),
  'key.created': key.describe('An API key was created.'),
  'key.rolled': key.describe('An API key got a new secret.'),
  'key.revoked': key.describe('An API key was revoked.'),
  'mcp_grant.created': mcpGrant.describe(
    'A member has authorized an MCP client, which has a minute to fetch its access.',
  ),
  'mcp_grant.revoked': mcpGrant
    .extend({ reason: z.enum(grantEndings).describe(whyGrantEnded) })
    .describe('The access of an MCP client was revoked before it expired.'),
  'usage.threshold_reached': usageAlert.describe('Spending has reached one of the configured percentages of a cap.'),
  'usage.cap_reached': usageAlert.describe(
    'Spending has reached a cap: nothing more is spent under it until its period ends.',
  ),
  'webhook.disabled': webhookEndpoint.describe(
    'An endpoint was disabled, because it failed for five days or answered 410.',
  ),
  'webhook.test': webhookEndpoint.describe('A sample event, sent on request.'),
} satisfies Record<WebhookEventType, z.ZodType>;

/** One event of a conversation's stream. */
export const streamEvent = eventOf('StreamEvent', streamEventData, {
  object: tag('event'),
  id: id('evt'),
  seq: z
    .int()
    .describe('Counts up from 1 within the conversation, without gaps. `stream.closed` repeats the last one.'),
  conversation_id: id('conv').nullable().describe('The conversation that the stream belongs to.'),
  task_id: id('task').nullable().describe('The task of the event; null if there is none.'),
  turn_id: id('turn').nullable().describe('The turn of the event; null if there is none.'),
  deployment_id: id('dep').nullable().describe('The deployment that answers; null if there is none.'),
  created_at: createdAt,
});

/** One event as delivered to a webhook endpoint. */
export const webhookEvent = eventOf('WebhookEvent', webhookEventData, {
  object: tag('event'),
  id: id('evt'),
  created_at: createdAt,
  mode: z.enum(modes).describe('The mode of the event; endpoints of the other mode do not receive it.'),
  org_id: id('org'),
});

type DataByType = Record<string, z.ZodType>;

type EventOf<Data extends DataByType, Envelope extends z.ZodRawShape> = {
  [Type in keyof Data & string]: z.ZodObject<Envelope & { type: z.ZodLiteral<Type>; data: Data[Type] }>;
}[keyof Data & string];

/** Builds a union of events: an envelope with the `data` of each `type`. */
function eventOf<Data extends DataByType, const Envelope extends z.ZodRawShape>(
  name: string,
  table: Data,
  envelope: Envelope,
) {
  const options = Object.entries(table).map(([type, data]) =>
    z
      .object({
        ...envelope,
        type: z.literal(type).describe(`Always \`${type}\`: it determines the contents of \`data\`.`),
        data: data.describe('The object of the event, as it was at that moment.'),
      })
      .meta({ title: `${type} ${name}`, description: data.description ?? '' }),
  );
  return z
    .discriminatedUnion('type', options as unknown as [EventOf<Data, Envelope>])
    .meta({ title: name, description: 'One event; its `type` determines the contents of `data`.' });
}

export type StreamEvent = z.input<typeof streamEvent>;
export type WebhookEvent = z.input<typeof webhookEvent>;

/** An event to publish: one of the table's types with its `data`. */
type ToldBy<Table extends DataByType> = {
  [Type in keyof Table & string]: { type: Type; data: z.input<Table[Type]> };
}[keyof Table & string];

export type ToldOnStream = ToldBy<typeof streamEventData>;
export type ToldByWebhook = ToldBy<typeof webhookEventData>;

/** The visible part of each event type for a session. */
const dataSeen: Readonly<Record<StreamEventType, SeenFields>> = {
  'turn.started': { turn: turnSeen },
  'turn.settled': { turn: turnSeen },
  'turn.failed': { turn: turnSeen },
  'reply.delta': shown('text', 'message_id'),
  'reply.completed': { message: messageSeen },
  'task.started': { task: taskSeen },
  'task.progress': { title: true, progress: shown('content', 'status') },
  'task.step': { step: stepSeen },
  'task.completed': { task: taskSeen },
  'task.failed': { task: taskSeen },
  // The `message` of a stop is for operators.
  'task.stopped': { task: taskSeen, reason: true },
  'task.deleted': {},
  'interaction.created': { interaction: interactionSeen },
  'interaction.resolved': { interaction: interactionSeen },
  'tool_call.created': { call: shown('call_id', 'name', 'task_id', 'progress') },
  'tool_call.started': shown('call_id', 'name'),
  'tool_call.progress': shown('call_id', 'name', 'text'),
  'file.created': { file: fileSeen },
  'conversation.status': shown('status'),
  'tool_server.away': shown('server', 'reason', 'user_id'),
  'stream.closed': shown('reason'),
};

/** An event of a conversation's stream: every `seq` is present, even if its content is hidden. */
export const streamEventSeen = {
  always: {
    ...shown('object', 'id', 'type', 'seq', 'conversation_id', 'task_id', 'turn_id', 'deployment_id', 'created_at'),
    data: {},
  },
  byType: Object.fromEntries(Object.entries(dataSeen).map(([type, data]) => [type, { data }])),
};

export const events = {
  list: route({
    method: 'GET',
    path: '/v1/events',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the org’s events of the webhook types, newest first.',
    description:
      'Needs scope `runtime`. Every event of a webhook type is here in the format of deliveries, whether or not an endpoint subscribed to it; stored for 30 days unless the operator changes it.',
    query: z.strictObject({
      type: z.enum(webhookEventTypes).optional().describe('Only events of this type.'),
      ...pageQuery,
    }),
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
    description: 'The same body that webhook endpoints receive, to check or process it again.',
    params: z.strictObject({ event_id: failsWith('event_not_found', id('evt')) }),
    status: 200,
    response: webhookEvent,
    errors: [],
    command: 'events get',
  }),
};
