import { area } from '../requirement.ts';

export const retention = area('retention', 'done', [
  ['RET-001', 'decisions.md · 10', 'Events are kept 30 days, a setting.'],
  ['RET-002', 'decisions.md · 10', 'Traces are kept 90 days, a setting.'],
  ['RET-003', 'decisions.md · 10', 'Deliveries are kept 30 days, a setting.'],
  ['RET-004', 'decisions.md · 10', 'Audit rows are kept 365 days, a setting.'],
  [
    'RET-005',
    'decisions.md · 10',
    "Of a conversation's stream only a prefix is pruned, so no seq is missing behind a kept one.",
  ],
  ['RET-006', 'decisions.md · 4', 'Idempotency records are removed after their 24 hours.'],
]);
