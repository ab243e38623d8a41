import { area } from '../requirement.ts';

export const retention = area('retention', 'done', [
  ['RET-001', 'docs/operating.md#retention', 'Events are stored for 30 days, a setting.'],
  ['RET-002', 'docs/operating.md#retention', 'Traces are stored for 90 days, a setting.'],
  ['RET-003', 'docs/operating.md#retention', 'Deliveries are stored for 30 days, a setting.'],
  ['RET-004', 'docs/operating.md#retention', 'Audit entries are stored for 365 days, a setting.'],
  [
    'RET-005',
    'docs/operating.md#retention',
    "Only a prefix of a conversation's stream is pruned, so no seq is missing behind a stored one.",
  ],
  ['RET-006', 'docs/operating.md#retention', 'Idempotency records are removed after their 24 hours.'],
]);
