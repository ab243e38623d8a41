import { area } from '../requirement.ts';

export const retention = area('retention', 'done', [
  ['RET-001', 'docs/retention.md#retention', 'Events are stored for 30 days, a setting.'],
  ['RET-002', 'docs/retention.md#retention', 'Traces are stored for 90 days, a setting.'],
  ['RET-003', 'docs/retention.md#retention', 'Deliveries are stored for 30 days, a setting.'],
  ['RET-004', 'docs/retention.md#retention', 'Audit entries are stored for 365 days, a setting.'],
  [
    'RET-005',
    'docs/retention.md#retention',
    "Only a prefix of a conversation's stream is pruned, so no seq is missing behind a stored one.",
  ],
  ['RET-006', 'docs/retention.md#retention', 'Idempotency records are removed after their 24 hours.'],
]);
