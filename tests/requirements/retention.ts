import { area } from '../requirement.ts';

export const retention = area('retention', 'done', [
  ['RET-001', 'docs/operating.md#how-long-things-are-kept', 'Events are kept 30 days, a setting.'],
  ['RET-002', 'docs/operating.md#how-long-things-are-kept', 'Traces are kept 90 days, a setting.'],
  ['RET-003', 'docs/operating.md#how-long-things-are-kept', 'Deliveries are kept 30 days, a setting.'],
  ['RET-004', 'docs/operating.md#how-long-things-are-kept', 'Audit rows are kept 365 days, a setting.'],
  [
    'RET-005',
    'docs/operating.md#how-long-things-are-kept',
    "Of a conversation's stream only a prefix is pruned, so no seq is missing behind a kept one.",
  ],
  ['RET-006', 'docs/operating.md#how-long-things-are-kept', 'Idempotency records are removed after their 24 hours.'],
]);
