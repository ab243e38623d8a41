import { area } from '../requirement.ts';

export const usage = area('usage', 'done', [
  ['USE-001', 'runtime.md · Account', '`GET /v1/usage` reports exact billed spend and task counts.'],
  ['USE-002', 'runtime.md · Account', 'Usage filters by user, deployment and conversation.'],
  [
    'USE-003',
    'runtime.md · Account',
    'A window whose `from` lies after `to`, or with an unreadable date, answers 400 `invalid_window`.',
  ],
  [
    'USE-004',
    'runtime.md · Account',
    '`GET /v1/usage/line-items` lists the charges behind one task or conversation, newest first.',
  ],
  [
    'USE-005',
    'decisions.md · 5',
    '`group_by` takes `day`, `user`, `deployment`, `conversation`, `task`, `model` and `kind`, and is `day` when absent.',
  ],
  ['USE-006', 'decisions.md · 5', '`from` and `to` are inclusive UTC dates; absent they mean the last 30 days.'],
  ['USE-007', 'decisions.md · 5', 'A window over 366 days answers 400 `invalid_window`; one of 366 is served.'],
  ['USE-008', 'decisions.md · 5', 'The filters are `user_id`, `deployment_id` and `conversation_id`.'],
  [
    'USE-009',
    'decisions.md · 5',
    'A usage row is `{object: usage_row, key, label, cost_usd, task_count, input_tokens, output_tokens}`, `label` null where none.',
  ],
  ['USE-010', 'decisions.md · 5', 'The usage answer carries `total`, equal to the sum of its rows over all pages.'],
  ['USE-011', 'decisions.md · 5', 'Every grouping of the same window sums to the same total.'],
  ['USE-012', 'decisions.md · 5', 'The usage routes need scope `admin` or `all`.'],
  ['USE-013', 'decisions.md · 5', 'Line items need `task_id` or `conversation_id`; with neither the call is 400.'],
  [
    'USE-014',
    'decisions.md · 5',
    'A line item is `{object: line_item, id, kind, model, quantity, unit, unit_price_usd, cost_usd, task_id, conversation_id, created_at}`, nulls where none.',
  ],
  [
    'USE-015',
    'decisions.md · 5',
    '`quantity` times `unit_price_usd` gives `cost_usd` of a line item, to the micro-dollar.',
  ],
  ['USE-016', 'runtime.md · Users', 'The spend of an erased user stays in usage totals under the user `unknown`.'],
  ['USE-017', 'decisions.md · 6', 'The cost of test runs is in the usage report.'],
  ['USE-161', 'decisions.md · 11', 'Line items and their `total` are shown to the micro-dollar.'],
  [
    'USE-650',
    'docs/users-and-money.md · What was spent',
    'A usage row of a deployment has the name of the deployment as its `label`.',
  ],
]);
