import { area } from '../requirement.ts';

export const limits = area('limits', 'done', [
  [
    'LIM-001',
    'runtime.md · Account',
    '`GET /v1/limits` shows day and month caps for org and user, alert thresholds and rate limits.',
  ],
  ['LIM-002', 'runtime.md · Account', '`PATCH /v1/limits` sets caps and thresholds.'],
  ['LIM-003', 'runtime.md · Account', 'A cap above what the service allows answers 400 `cap_above_maximum`.'],
  [
    'LIM-004',
    'decisions.md · 5',
    'The limits record is `{object: limits, caps, usage_alerts: {thresholds}, rate_limits: {requests_per_minute, burst}}`.',
  ],
  ['LIM-005', 'decisions.md · 5', '`PATCH /v1/limits` takes any subset of `caps` and leaves the others as they are.'],
  ['LIM-006', 'decisions.md · 5', '`PATCH /v1/limits` takes `usage_alerts`.'],
  [
    'LIM-007',
    'decisions.md · 5',
    'A new org has `max_org_daily_usd` 1000, `org_daily_usd` 100, `user_daily_usd` 10, monthly caps null.',
  ],
  ['LIM-008', 'decisions.md · 5', 'A new org has thresholds `[50, 80, 95]`.'],
  ['LIM-009', 'decisions.md · 5', 'The limits routes need scope `admin` or `all`.'],
  [
    'LIM-010',
    'runtime.md · Limits',
    'Each cap takes 0 to 1000000 US dollars; a negative one and one above are refused.',
  ],
  ['LIM-011', 'runtime.md · Limits', '`org_daily_usd` above `max_org_daily_usd` answers 400 `cap_above_maximum`.'],
  ['LIM-012', 'runtime.md · Limits', "A per-user cap above the org's cap answers 400 `cap_above_maximum`."],
  ['LIM-013', 'runtime.md · Limits', 'More than 5 thresholds are refused.'],
]);
