import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { metadata, metadataInput } from './metadata.ts';
import { usd } from './money.ts';
import { namedDeployment } from './named-deployment.ts';
import { deleted, page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { shownFailure } from './shown-failure.ts';
import { tag } from './tag.ts';
import { outcome } from './tasks.ts';
import { text } from './text.ts';
import { createdAt, time } from './time.ts';
import { userId } from './user-id.ts';

const batchStatuses = ['running', 'cancelled', 'completed'] as const;
const batchItemStatuses = ['queued', 'running', 'succeeded', 'failed', 'cancelled'] as const;

export const batch = z
  .object({
    object: tag('batch'),
    id: id('bat'),
    status: z
      .enum(batchStatuses)
      .describe('`running` until every item has ended; `cancelled` remains while running items finish.'),
    deployment_id: id('dep').nullable().describe('The deployment that runs the items; null if it was deleted.'),
    concurrency: z.int().describe('The maximum number of parallel items.'),
    item_count: z.int().describe('The number of items.'),
    counts: z
      .object({
        queued: z.int().describe('Items that have not started.'),
        running: z.int().describe('Items that are running or wait for a person.'),
        succeeded: z.int().describe('Items that succeeded.'),
        failed: z.int().describe('Items that failed or could not start.'),
        cancelled: z.int().describe('Items that were cancelled before they started.'),
      })
      .describe('The number of items in each state.'),
    spend_usd: usd.describe('The cost of its items so far, in US dollars.'),
    metadata,
    created_at: createdAt,
    completed_at: time.nullable().describe('When the last item ended; null while any runs.'),
  })
  .describe('Many conversations that run as one job.');

const batchItem = z
  .object({
    object: tag('batch.item'),
    index: z.int().describe('Its position in the request, from 0.'),
    user_id: userId().nullable().describe('The user of the item; null: the org’s own agent.'),
    status: z.enum(batchItemStatuses).describe('The state of the item.'),
    conversation_id: id('conv').nullable().describe('Its conversation; null until it has started.'),
    task_id: id('task').nullable().describe('Its task; null until it has started.'),
    result: z
      .object({
        reply: z.string().describe('The acknowledgement when the item was accepted.'),
        text: z.string().nullable().describe('The final reply of the task.'),
        data: z.unknown().describe('The structured value of the task; null if there is none.'),
        outcome: outcome.nullable().describe('Whether the success criteria were met; null if there were none.'),
      })
      .nullable()
      .describe('The result; null unless it succeeded.'),
    error: shownFailure.nullable().describe('Why it failed; null unless it did.'),
    metadata,
    created_at: createdAt,
    finished_at: time.nullable().describe('When it ended; null while it runs.'),
  })
  .describe('One conversation of a batch.');

const batchParams = z.strictObject({ batch_id: failsWith('batch_not_found', id('bat')) });

export const batches = {
  list: route({
    method: 'GET',
    path: '/v1/batches',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'List batches, newest first.',
    description: 'Needs scope `runtime`. Shows only batches of the key’s mode.',
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
    summary: 'Run up to 5,000 items, each as a conversation with one task.',
    description:
      'Returns at once; items start in the background, and `batch.completed` reports the end. An item that waits for a person frees its slot. Accepts bodies of up to 32 MiB.',
    idempotent: true,
    bodyLimit: 32 * 1024 * 1024,
    // 5,000 items with 50 values each.
    bodyValues: 250_000,
    body: z.strictObject({
      deployment: namedDeployment
        .optional()
        .describe('A dep_ id, a slug or a name without `@version`; absent: the org’s default.'),
      items: z
        .array(
          z.strictObject({
            user_id: userId()
              .optional()
              .describe('The user of the item; absent: the org’s own agent, of which at most 5 run at once.'),
            message: text(1, 32_000).describe('The message to the agent, 1 to 32,000 characters.'),
            context: z
              .record(z.string(), z.unknown())
              .optional()
              .describe('Data for this item; the agent reads it as data, never as instructions.'),
            success_criteria: text(1, 4000)
              .optional()
              .describe('What the result of the item must meet, as in a message; its `outcome` says whether it did.'),
            metadata: metadataInput.optional(),
          }),
        )
        .min(1, 'Send at least one item.')
        .max(5000, 'At most 5000 items.')
        .describe('1 to 5,000 messages, each a separate conversation.'),
      concurrency: z.int().min(1).max(100).default(10).describe('The maximum number of parallel items, 1 to 100.'),
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
    description: '`counts` and `spend_usd` are current values.',
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
    description: 'Read results here: pages are stable while the batch runs.',
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
    summary: 'Cancel a batch; running items finish.',
    description:
      'Items that have not started become `cancelled`; running ones finish. Rejected with `batch_finished` once all have ended.',
    params: batchParams,
    status: 200,
    response: batch,
    errors: ['batch_finished'],
    command: 'batches cancel',
  }),
  delete: route({
    method: 'DELETE',
    path: '/v1/batches/{batch_id}',
    auth: 'key',
    scopes: ['runtime'],
    summary: 'Delete a batch that has ended, with its items.',
    description:
      'The conversations and tasks of the items stay: delete those with `DELETE /v1/conversations/{conversation_id}`. Costs stay in the usage report.',
    params: batchParams,
    status: 200,
    response: deleted('batch'),
    errors: ['still_running'],
    command: 'batches delete',
  }),
};
