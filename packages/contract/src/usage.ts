import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { exactUsd, usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { tag } from './tag.ts';
import { createdAt } from './time.ts';

export const usageGroups = ['day', 'user', 'deployment', 'conversation', 'task', 'model', 'kind'] as const;

/** The kinds of spending, which are also the keys of every `cost_breakdown`. */
export const spendKinds = [
  'orchestrator',
  'intelligence',
  'tools',
  'compute',
  'background',
  'voice',
  'improvement',
  'insight',
] as const;

const date = failsWith('invalid_window', z.iso.date());

const usageRow = z
  .object({
    object: tag('usage_row'),
    key: z.string().describe('The day, or the id of the object.'),
    label: z
      .string()
      .nullable()
      .describe('The name of the deployment, or of the row without a key; null if there is none.'),
    cost_usd: usd.describe('The cost, in US dollars.'),
    task_count: z.int().describe('The number of charged tasks.'),
    input_tokens: z.int().describe('Tokens that models read.'),
    output_tokens: z.int().describe('Tokens that models wrote.'),
  })
  .describe('The spending of one day or object.');

const lineItem = z
  .object({
    object: tag('line_item'),
    id: id('li'),
    kind: z.enum(spendKinds).describe('The kind of spending.'),
    model: z.string().nullable().describe('The model of a model call; else null.'),
    quantity: z.number().describe('The number of units.'),
    unit: z.string().describe('The unit, such as `input_tokens`, `seconds` or `calls`.'),
    unit_price_usd: z.number().describe('US dollars per unit.'),
    cost_usd: exactUsd,
    estimated: z
      .literal(true)
      .optional()
      .describe('The quantity is an estimate: the call was stopped or failed before its vendor reported it.'),
    task_id: id('task').nullable().describe('The task of the charge; null for a reply.'),
    conversation_id: id('conv').nullable().describe('The conversation of the charge; null if there is none.'),
    created_at: createdAt,
  })
  .describe('One charge.');

export const usage = {
  report: route({
    method: 'GET',
    path: '/v1/usage',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Report exact billed spend and task counts, grouped by one dimension.',
    description: 'Needs scope `admin`. Only spending of the key’s mode. Erased users are counted under `unknown`.',
    query: z.strictObject({
      group_by: z.enum(usageGroups).default('day').describe('The dimension of the rows.'),
      from: date.optional().describe('First day of the window, UTC; absent: 30 days ago.'),
      to: date.optional().describe('Last day of the window, UTC, inclusive; absent: today. At most 366 days.'),
      user_id: z.string().min(1).max(128).optional().describe('Only spending for this user; absent: for all.'),
      deployment_id: z.string().min(1).max(120).optional().describe('Only this deployment: its id, slug or name.'),
      conversation_id: failsWith('invalid_conversation_id', id('conv')).optional().describe('Only this conversation.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(usageRow).extend({
      total: z
        .object({
          cost_usd: usd.describe('The cost, in US dollars.'),
          task_count: z.int().describe('The number of charged tasks.'),
          input_tokens: z.int().describe('Tokens that models read.'),
          output_tokens: z.int().describe('Tokens that models wrote.'),
        })
        .describe('The whole window, over all pages.'),
    }),
    errors: ['invalid_window', 'invalid_conversation_id'],
    command: 'usage',
  }),
  lineItems: route({
    method: 'GET',
    path: '/v1/usage/line-items',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List the charges of one task or conversation, newest first.',
    description: 'Needs scope `admin`. The items add up exactly to the charges to the wallet.',
    query: z.strictObject({
      task_id: failsWith('invalid_task_id', id('task'))
        .optional()
        .describe('Charges of this task; send it or `conversation_id`.'),
      conversation_id: failsWith('invalid_conversation_id', id('conv'))
        .optional()
        .describe('Charges of this conversation, including its tasks; send it or `task_id`.'),
      ...pageQuery,
    }),
    status: 200,
    response: page(lineItem).extend({
      total: z
        .object({ cost_usd: exactUsd.describe('Their sum in US dollars, to the micro-dollar.') })
        .describe('All charges, over all pages.'),
    }),
    errors: [
      'invalid_request',
      'invalid_task_id',
      'invalid_conversation_id',
      'task_not_found',
      'conversation_not_found',
    ],
    command: 'usage line-items',
  }),
};
