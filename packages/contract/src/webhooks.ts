import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { webAddress } from './web-address.ts';
import { webhookEventTypes } from './webhook-event-types.ts';

export const webhookEndpoint = z.object({
  object: z.literal('webhook_endpoint'),
  id: id('whk'),
  url: z.string(),
  events: z.array(z.enum([...webhookEventTypes, '*'])),
  description: z.string().nullable(),
  active: z.boolean(),
  mode: z.enum(modes),
  deployment_id: id('dep').nullable(),
  managed_by: z.literal('file').nullable(),
  created_at: time,
  updated_at: time,
});

const delivery = z.object({
  object: z.literal('webhook_delivery'),
  id: id('whd'),
  endpoint_id: id('whk'),
  event_id: id('evt'),
  event_type: z.enum(webhookEventTypes),
  attempt: z.int(),
  status: z.enum(['pending', 'succeeded', 'failed']),
  status_code: z.int().nullable(),
  duration_ms: z.int().nullable(),
  error: z.string().nullable(),
  next_attempt_at: time.nullable(),
  created_at: time,
});

const withSecret = webhookEndpoint.extend({ secret: z.string() });

/** Event types an endpoint asks for; all of them as `*`, which is kept as a list of one. */
const whichEvents = 'Send a list of 1 to 40 event types, or `*`.';

const subscription = z
  .union(
    [
      z
        .array(z.enum([...webhookEventTypes, '*']))
        .min(1, 'Name at least one event type.')
        .max(40, 'At most 40 event types.')
        .refine((types) => types.length === 1 || !types.includes('*'), '`*` means every type and stands alone.'),
      z.literal('*', whichEvents),
    ],
    whichEvents,
  )
  .transform((types) => (types === '*' ? ['*' as const] : [...new Set(types)]));

const endpointParams = z.strictObject({ endpoint_id: failsWith('webhook_not_found', id('whk')) });

export const webhooks = {
  list: route({
    method: 'GET',
    path: '/v1/webhooks',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List webhook endpoints, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(webhookEndpoint),
    errors: [],
    command: 'webhooks list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/webhooks',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Register an https address for events; its signing secret is shown once.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      url: webAddress,
      events: subscription,
      description: text(0, 500).optional(),
      active: z.boolean().default(true),
    }),
    status: 201,
    response: withSecret,
    errors: [],
    command: 'webhooks create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/webhooks/{endpoint_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Show a webhook endpoint.',
    params: endpointParams,
    status: 200,
    response: webhookEndpoint,
    errors: [],
    command: 'webhooks get',
  }),
  update: route({
    method: 'PATCH',
    path: '/v1/webhooks/{endpoint_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Change the address, events, description or state of an endpoint.',
    params: endpointParams,
    body: z.strictObject({
      url: webAddress.optional(),
      events: subscription.optional(),
      description: text(0, 500).nullable().optional(),
      active: z.boolean().optional(),
    }),
    status: 200,
    response: webhookEndpoint,
    errors: ['managed_by_file'],
    command: 'webhooks update',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/webhooks/{endpoint_id}',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Delete a webhook endpoint.',
    params: endpointParams,
    status: 200,
    response: deleted('webhook_endpoint'),
    errors: ['managed_by_file'],
    command: 'webhooks delete',
  }),
  rollSecret: route({
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/roll-secret',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Give an endpoint a new signing secret; the old one is accepted for 24 hours.',
    idempotent: true,
    showsSecret: true,
    params: endpointParams,
    status: 200,
    response: withSecret,
    errors: [],
    command: 'webhooks roll-secret',
  }),
  test: route({
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/test',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Send a sample event to an endpoint now.',
    params: endpointParams,
    status: 200,
    response: delivery,
    errors: [],
    command: 'webhooks test',
  }),
  deliveries: route({
    method: 'GET',
    path: '/v1/webhooks/{endpoint_id}/deliveries',
    auth: 'key',
    scopes: ['setup'],
    summary: 'List every attempt to reach an endpoint with its status code and timing.',
    params: endpointParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(delivery),
    errors: [],
    command: 'webhooks deliveries',
  }),
  retry: route({
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/deliveries/{delivery_id}/retry',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Send one delivery again.',
    params: endpointParams.extend({ delivery_id: failsWith('delivery_not_found', id('whd')) }),
    status: 200,
    response: delivery,
    errors: ['event_not_found'],
    command: 'webhooks retry',
  }),
};
