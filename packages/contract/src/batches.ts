import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { metadata, metadataInput } from './metadata.ts';
import { usd } from './money.ts';
import { namedDeployment } from './named-deployment.ts';
import { page, pageQuery } from './page.ts';
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
      .describe('`running` until every item has ended; `cancelled` stays so while its running items finish.'),
    deployment_id: id('dep').nullable().describe('The deployment that runs the items; null where it has been deleted.'),
    concurrency: z.int().describe('How many items run at once at most.'),
    item_count: z.int().describe('How many items there are.'),
    counts: z
      .object({
        queued: z.int().describe('Items that have not begun.'),
        running: z.int().describe('Items that are being worked on or wait for a person.'),
        succeeded: z.int().describe('Items whose work is done.'),
        failed: z.int().describe('Items whose work failed or could not begin.'),
        cancelled: z.int().describe('Items that a cancel kept from beginning.'),
      })
      .describe('How many items are in each state.'),
    spend_usd: usd.describe('What its items were billed so far, in US dollars.'),
    metadata,
    created_at: createdAt,
    completed_at: time.nullable().describe('When the last item ended; null while any runs.'),
  })
  .describe('Many conversations run as one job.');

const batchItem = z
  .object({
    object: tag('batch.item'),
    index: z.int().describe('Its place in what was sent, from 0.'),
    user_id: userId().nullable().describe('Whom it is done for; null: the org’s own agent.'),
    status: z.enum(batchItemStatuses).describe('How far this item is.'),
    conversation_id: id('conv').nullable().describe('Its conversation; null until it has begun.'),
    task_id: id('task').nullable().describe('Its work; null until it has begun.'),
    result: z
      .object({
        reply: z.string().describe('The one line an item gets when it is taken.'),
        text: z.string().nullable().describe('The final reply of the work.'),
        data: z.unknown().describe('The structured value of the work; null where there is none.'),
        outcome: outcome.nullable().describe('Whether success criteria were met; null where there were none.'),
      })
      .nullable()
      .describe('What came of it; null unless it succeeded.'),
    error: shownFailure.nullable().describe('Why it failed; null unless it did.'),
    metadata,
    created_at: createdAt,
    finished_at: time.nullable().describe('When it ended; null while it goes on.'),
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
    description: 'Needs scope `runtime`. Only those of the key’s mode.',
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
    description:
      'Answers at once; items begin in the background, and `batch.completed` tells the end. An item that waits for a person gives its place to the next. Takes bodies of up to 32 MiB.',
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
              .describe('Whom it is done for; absent: the org’s own agent, of which at most 5 run at once.'),
            message: text(1, 32_000).describe('What is asked, 1 to 32,000 characters.'),
            context: z
              .record(z.string(), z.unknown())
              .optional()
              .describe('Data for this item; the agent reads it as data, never as instructions.'),
            metadata: metadataInput.optional(),
          }),
        )
        .min(1, 'Send at least one item.')
        .max(5000, 'At most 5000 items.')
        .describe('1 to 5,000 messages, each a conversation of its own.'),
      concurrency: z.int().min(1).max(100).default(10).describe('How many items run at once, 1 to 100.'),
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
    description: '`counts` and `spend_usd` are of this moment.',
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
    description: 'Results are read here: pages are stable while the batch runs.',
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
    description:
      'Items that have not begun become `cancelled`; what is running ends by itself. Refused with `batch_finished` once all have ended.',
    params: batchParams,
    status: 200,
    response: batch,
    errors: ['batch_finished'],
    command: 'batches cancel',
  }),
};
