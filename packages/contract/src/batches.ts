import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { metadata, metadataInput } from './metadata.ts';
import { usd } from './money.ts';
import { namedDeployment } from './named-deployment.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { outcome } from './tasks.ts';
import { text } from './text.ts';
import { time } from './time.ts';
import { userId } from './user-id.ts';

const batchStatuses = ['running', 'cancelled', 'completed'] as const;
const batchItemStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

export const batch = z.object({
  object: z.literal('batch'),
  id: id('bat'),
  status: z.enum(batchStatuses),
  deployment_id: id('dep').nullable(),
  concurrency: z.int(),
  item_count: z.int(),
  counts: z.object({
    queued: z.int(),
    running: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    cancelled: z.int(),
  }),
  spend_usd: usd,
  metadata,
  created_at: time,
  completed_at: time.nullable(),
});

const batchItem = z.object({
  object: z.literal('batch.item'),
  index: z.int(),
  user_id: userId().nullable(),
  status: z.enum(batchItemStatuses),
  conversation_id: id('conv').nullable(),
  task_id: id('task').nullable(),
  result: z
    .object({
      reply: z.string().meta({ description: 'The one line an item gets when it is taken.' }),
      text: z.string().nullable().meta({ description: 'The final reply of the work.' }),
      data: z.unknown(),
      outcome: outcome.nullable(),
    })
    .nullable(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  metadata,
  created_at: time,
  finished_at: time.nullable(),
});

const batchParams = z.strictObject({ batch_id: failsWith('batch_not_found', id('bat')) });

export const batches = {
  list: route({
    method: 'GET',
    path: '/v1/batches',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List batches, newest first.',
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(batch),
    errors: [],
    command: 'batches list',
  }),
  create: route({
    method: 'POST',
    path: '/v1/batches',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Run one conversation per item, each straight to work, for up to 5,000 items.',
    idempotent: true,
    bodyLimit: 32 * 1024 * 1024,
    body: z.strictObject({
      deployment: namedDeployment.optional(),
      items: z
        .array(
          z.strictObject({
            user_id: userId().optional(),
            message: text(1, 32_000),
            context: z.record(z.string(), z.unknown()).optional(),
            metadata: metadataInput.optional(),
          }),
        )
        .min(1, 'Send at least one item.')
        .max(5000, 'At most 5000 items.'),
      concurrency: z.int().min(1).max(100).default(10),
      metadata: metadataInput.optional(),
    }),
    status: 201,
    response: batch,
    errors: [
      'user_required',
      'invalid_deployment',
      'deployment_required',
      'deployment_not_live',
      'deployment_archived',
      'wallet_empty',
      'org_cap_reached',
      'model_unavailable',
    ],
    command: 'batches create',
  }),
  get: route({
    method: 'GET',
    path: '/v1/batches/{batch_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Show a batch with its counts and spend.',
    params: batchParams,
    status: 200,
    response: batch,
    errors: [],
    command: 'batches get',
  }),
  items: route({
    method: 'GET',
    path: '/v1/batches/{batch_id}/items',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List the items of a batch in the order they were sent.',
    params: batchParams,
    query: z.strictObject(pageQuery),
    status: 200,
    response: page(batchItem),
    errors: [],
    command: 'batches items',
  }),
  cancel: route({
    method: 'POST',
    path: '/v1/batches/{batch_id}/cancel',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Start no further item of a batch; running ones finish.',
    params: batchParams,
    status: 200,
    response: batch,
    errors: ['batch_finished'],
    command: 'batches cancel',
  }),
};
