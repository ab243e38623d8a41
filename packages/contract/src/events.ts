import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { time } from './time.ts';

/** What the stream of a conversation carries. */
const streamEventTypes = [
  'turn.started',
  'reply.delta',
  'reply.completed',
  'turn.failed',
  'turn.settled',
  'task.started',
  'task.progress',
  'task.step',
  'task.completed',
  'task.failed',
  'task.stopped',
  'interaction.created',
  'interaction.resolved',
  'tool_call.created',
  'file.created',
  'tool_server.away',
  'conversation.status',
] as const;

export type StreamEventType = (typeof streamEventTypes)[number];

/** What webhook endpoints may ask for, and what the list of events holds. */
export const webhookEventTypes = [
  'conversation.created',
  'reply.completed',
  'turn.failed',
  'task.started',
  'task.completed',
  'task.failed',
  'task.stopped',
  'interaction.created',
  'interaction.resolved',
  'interaction.expired',
  'file.created',
  'routine.ran',
  'routine.failed',
  'batch.completed',
  'test_run.completed',
  'deployment.promoted',
  'deployment.rolled_back',
  'tool_server.away',
  'user.created',
  'user.deleted',
  'key.created',
  'key.rolled',
  'key.revoked',
  'usage.threshold_reached',
  'usage.cap_reached',
  'webhook.disabled',
  'webhook.test',
] as const;

export type WebhookEventType = (typeof webhookEventTypes)[number];

/** One event on the stream of a conversation. */
export const streamEvent = z.object({
  object: z.literal('event'),
  id: id('evt'),
  type: z.enum(streamEventTypes),
  seq: z.int().meta({ description: 'Counts up from 1 within the conversation, without gaps.' }),
  conversation_id: id('conv').nullable(),
  task_id: id('task').nullable(),
  turn_id: id('turn').nullable(),
  deployment_id: id('dep').nullable(),
  created_at: time,
  data: z.record(z.string(), z.unknown()),
});

/** One event as it is delivered to a webhook endpoint. */
const webhookEvent = z.object({
  object: z.literal('event'),
  id: id('evt'),
  type: z.enum(webhookEventTypes),
  created_at: time,
  mode: z.enum(modes),
  org_id: id('org'),
  data: z
    .record(z.string(), z.unknown())
    .meta({ description: 'The resource as its GET shows it, and what the type adds.' }),
});

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
