import { z } from 'zod';
import { failsWith } from './fault.ts';
import { id } from './ids.ts';
import { exactUsd, usd } from './money.ts';
import { page, pageQuery } from './page.ts';
import { route } from './route.ts';
import { time } from './time.ts';

export const usageGroups = ['day', 'user', 'deployment', 'conversation', 'task', 'model', 'kind'] as const;

/** What money is spent on; also the keys of every `cost_breakdown`. */
export const spendKinds = ['orchestrator', 'intelligence', 'tools', 'compute', 'background', 'voice'] as const;

const date = failsWith('invalid_window', z.iso.date());

const usageRow = z.object({
  object: z.literal('usage_row'),
  key: z.string(),
  label: z.string().nullable(),
  cost_usd: usd,
  task_count: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
});

const lineItem = z.object({
  object: z.literal('line_item'),
  id: id('li'),
  kind: z.enum(spendKinds),
  model: z.string().nullable(),
  quantity: z.number(),
  unit: z.string(),
  unit_price_usd: z.number(),
  cost_usd: exactUsd,
  estimated: z
    .literal(true)
    .optional()
    .meta({ description: 'The quantity was counted here: the call was stopped or failed before its vendor said it.' }),
  task_id: id('task').nullable(),
  conversation_id: id('conv').nullable(),
  created_at: time,
});

export const usage = {
  report: route({
    method: 'GET',
    path: '/v1/usage',
    auth: 'key',
    scopes: ['admin'],
    summary: 'Report exact billed spend and task counts, grouped by one dimension.',
    query: z.strictObject({
      group_by: z.enum(usageGroups).default('day'),
      from: date.optional(),
      to: date.optional(),
      user_id: z.string().min(1).max(128).optional(),
      deployment_id: z.string().min(1).max(120).optional(),
      conversation_id: failsWith('invalid_conversation_id', id('conv')).optional(),
      ...pageQuery,
    }),
    status: 200,
    response: page(usageRow).extend({
      total: z.object({ cost_usd: usd, task_count: z.int(), input_tokens: z.int(), output_tokens: z.int() }),
    }),
    errors: ['invalid_window', 'invalid_conversation_id'],
    command: 'usage',
  }),
  lineItems: route({
    method: 'GET',
    path: '/v1/usage/line-items',
    auth: 'key',
    scopes: ['admin'],
    summary: 'List the charges behind one task or conversation, newest first.',
    query: z.strictObject({
      task_id: failsWith('invalid_task_id', id('task')).optional(),
      conversation_id: failsWith('invalid_conversation_id', id('conv')).optional(),
      ...pageQuery,
    }),
    status: 200,
    response: page(lineItem).extend({ total: z.object({ cost_usd: exactUsd }) }),
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
