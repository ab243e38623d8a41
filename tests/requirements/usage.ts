import { area } from '../requirement.ts';

export const usage = area('usage', 'done', [
  ['USE-001', 'docs/api/usage.md#get-v1usage', '`GET /v1/usage` reports exact billed spend and task counts.'],
  ['USE-002', 'docs/api/usage.md#get-v1usage', 'Usage filters by user, deployment and conversation.'],
  [
    'USE-003',
    'docs/api/usage.md#get-v1usage',
    'A window whose `from` is after `to`, or with an unreadable date, answers 400 `invalid_window`.',
  ],
  [
    'USE-004',
    'docs/api/usage.md#get-v1usageline-items',
    '`GET /v1/usage/line-items` lists the charges behind one task or conversation, newest first.',
  ],
  [
    'USE-005',
    'docs/api/usage.md#get-v1usage',
    '`group_by` accepts `day`, `user`, `deployment`, `conversation`, `task`, `model` and `kind`, and is `day` when absent.',
  ],
  [
    'USE-006',
    'docs/api/usage.md#get-v1usage',
    '`from` and `to` are inclusive UTC dates; absent they mean the last 30 days.',
  ],
  [
    'USE-007',
    'docs/api/usage.md#get-v1usage',
    'A window over 366 days answers 400 `invalid_window`; one of 366 is served.',
  ],
  ['USE-008', 'docs/api/usage.md#get-v1usage', 'The filters are `user_id`, `deployment_id` and `conversation_id`.'],
  [
    'USE-009',
    'docs/api/usage.md#usagerow',
    'A usage row is `{object: usage_row, key, label, cost_usd, task_count, input_tokens, output_tokens}`, `label` may be null.',
  ],
  [
    'USE-010',
    'docs/users-and-money.md#usage',
    'The usage answer carries `total`, equal to the sum of its rows over all pages.',
  ],
  ['USE-011', 'docs/users-and-money.md#usage', 'Every grouping of the same window sums to the same total.'],
  ['USE-012', 'docs/api/usage.md#get-v1usageline-items', 'The usage routes need scope `admin` or `all`.'],
  [
    'USE-013',
    'docs/api/usage.md#get-v1usageline-items',
    'Line items need `task_id` or `conversation_id`; with neither the call is 400.',
  ],
  [
    'USE-014',
    'docs/api/usage.md#lineitem',
    'A line item is `{object: line_item, id, kind, model, quantity, unit, unit_price_usd, cost_usd, task_id, conversation_id, created_at}`, null for missing values.',
  ],
  [
    'USE-015',
    'docs/api/usage.md#lineitem',
    '`quantity` times `unit_price_usd` gives `cost_usd` of a line item, to the micro-dollar.',
  ],
  [
    'USE-016',
    'docs/users-and-money.md#usage',
    'The spend of an erased user stays in usage totals under the user `unknown`.',
  ],
  ['USE-017', 'docs/users-and-money.md#usage', 'The cost of test runs is in the usage report.'],
  ['USE-161', 'docs/users-and-money.md#usage', 'Line items and their `total` are shown to the micro-dollar.'],
  [
    'USE-650',
    'docs/users-and-money.md#usage',
    'A usage row of a deployment has the name of the deployment as its `label`.',
  ],
]);
