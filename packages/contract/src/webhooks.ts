import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { deleted, page, pageQuery } from './page.ts';
import { modes, route } from './route.ts';
import { tag } from './tag.ts';
import { text } from './text.ts';
import { createdAt, time, updatedAt } from './time.ts';
import { webAddress } from './web-address.ts';
import { webhookEventTypes } from './webhook-event-types.ts';

export const webhookEndpoint = z
  .object({
    object: tag('webhook_endpoint'),
    id: id('whk'),
    url: z.string().describe('The address that events are posted to.'),
    events: z.array(z.enum([...webhookEventTypes, '*'])).describe('The subscribed types; `*` alone: all of them.'),
    description: z.string().nullable().describe('Your note about it; null if there is none.'),
    active: z
      .boolean()
      .describe(
        'Whether events are sent. False after you paused it, it answered 410, it failed for five days, or while the version that declares it is not live.',
      ),
    mode: z.enum(modes).describe('The mode of its events.'),
    deployment_id: id('dep')
      .nullable()
      .describe('Only this deployment’s events and the account’s own, if a deployment file created it; else null.'),
    managed_by: z
      .literal('file')
      .nullable()
      .describe('`file` if a deployment file declares it and only the file changes it; else null.'),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('An address that receives events.');

const delivery = z
  .object({
    object: tag('webhook_delivery'),
    id: id('whd'),
    endpoint_id: id('whk'),
    event_id: id('evt'),
    event_type: z.enum(webhookEventTypes).describe('The event type that was delivered.'),
    attempt: z.int().describe('The number of this attempt, from 1.'),
    status: z.enum(['pending', 'succeeded', 'failed']).describe('`pending` until a 2xx response or the last attempt.'),
    status_code: z.int().nullable().describe('The status of the endpoint’s response; null if there was none.'),
    duration_ms: z.int().nullable().describe('The response time in milliseconds; null before an attempt.'),
    error: z.string().nullable().describe('Why the attempt failed; null if it did not.'),
    next_attempt_at: time.nullable().describe('The time of the next attempt; null if there is none.'),
    created_at: createdAt,
  })
  .describe('One attempt to reach an endpoint.');

const withSecret = webhookEndpoint.extend({
  secret: z.string().describe('`whsec_…`: verify signatures with it; shown only once.'),
});

/** The event types of an endpoint. `*` means all and is stored as a list of one. */
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
    description: 'Needs scope `setup`. Only endpoints of the key’s mode.',
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
    description:
      'It receives events of the key’s mode from now on. Deliveries follow Standard Webhooks: return 2xx within 15 seconds, else they are retried for three days.',
    idempotent: true,
    showsSecret: true,
    body: z.strictObject({
      url: webAddress.describe('A public https address; private, local and internal ones are rejected.'),
      events: subscription.describe('1 to 40 event types, or `*` for all, including later ones.'),
      description: text(0, 500).optional().describe('Your note about its purpose.'),
      active: z.boolean().default(true).describe('False: it is saved but receives nothing yet.'),
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
    description: 'The signing secret is not shown again; roll it if it is lost.',
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
    description: 'Omitted fields stay. An endpoint of a deployment file is changed there (409 `managed_by_file`).',
    params: endpointParams,
    body: z.strictObject({
      url: webAddress.optional().describe('The new address; the secret stays.'),
      events: subscription.optional().describe('The new event types; replaces the list.'),
      description: text(0, 500).nullable().optional().describe('Your note; null clears it.'),
      active: z
        .boolean()
        .optional()
        .describe('False pauses it; true starts it again, also after it was disabled for failing.'),
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
    description: 'Pending deliveries are dropped.',
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
    summary: 'Roll the signing secret of an endpoint; the old one stays valid for 24 hours.',
    description: 'For 24 hours deliveries carry a signature with each secret, so that you can switch without a gap.',
    idempotent: true,
    showsSecret: true,
    params: endpointParams,
    status: 200,
    response: withSecret,
    errors: ['managed_by_file'],
    command: 'webhooks roll-secret',
  }),
  test: route({
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/test',
    auth: 'key',
    scopes: ['setup'],
    summary: 'Send a sample event to an endpoint now.',
    description: 'Posts `webhook.test` and returns the attempt: its status code, time and error.',
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
    summary: 'List the delivery attempts of an endpoint with status codes and times.',
    description: 'Newest first; stored for 30 days unless the operator changes it.',
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
    description: 'Posts the same event with the same `webhook-id`, so that a receiver can detect the duplicate.',
    params: endpointParams.extend({ delivery_id: failsWith('delivery_not_found', id('whd')) }),
    status: 200,
    response: delivery,
    errors: ['event_not_found'],
    command: 'webhooks retry',
  }),
};
