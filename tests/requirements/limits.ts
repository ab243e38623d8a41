import { area } from '../requirement.ts';

export const limits = area('limits', 'done', [
  [
    'LIM-001',
    'docs/api/limits.md#get-v1limits',
    '`GET /v1/limits` shows day and month caps for org and user, alert thresholds and rate limits.',
  ],
  ['LIM-002', 'docs/api/limits.md#patch-v1limits', '`PATCH /v1/limits` sets caps and thresholds.'],
  ['LIM-003', 'docs/users-and-money.md#caps', 'A cap above what the service allows answers 400 `cap_above_maximum`.'],
  [
    'LIM-004',
    'docs/api/limits.md#limits',
    'The limits record is `{object: limits, caps, usage_alerts: {thresholds}, rate_limits: {requests_per_minute, burst}}`.',
  ],
  [
    'LIM-005',
    'docs/api/limits.md#patch-v1limits',
    '`PATCH /v1/limits` accepts any subset of `caps` and leaves the others as they are.',
  ],
  ['LIM-006', 'docs/api/limits.md#patch-v1limits', '`PATCH /v1/limits` accepts `usage_alerts`.'],
  [
    'LIM-007',
    'docs/users-and-money.md#caps',
    'A new org has `max_org_daily_usd` 1000, `org_daily_usd` 100, `user_daily_usd` 10, monthly caps null.',
  ],
  ['LIM-008', 'docs/users-and-money.md#get-a-warning-first', 'A new org has thresholds `[50, 80, 95]`.'],
  ['LIM-009', 'docs/api/limits.md#get-v1limits', 'The limits routes need scope `admin` or `all`.'],
  [
    'LIM-010',
    'docs/users-and-money.md#caps',
    'Each cap takes 0 to 1000000 US dollars; a negative one and one above are refused.',
  ],
  [
    'LIM-011',
    'docs/users-and-money.md#caps',
    '`org_daily_usd` above `max_org_daily_usd` answers 400 `cap_above_maximum`.',
  ],
  ['LIM-012', 'docs/users-and-money.md#caps', "A per-user cap above the org's cap answers 400 `cap_above_maximum`."],
  ['LIM-013', 'docs/api/limits.md#patch-v1limits', 'More than 5 thresholds are refused.'],
  [
    'LIM-700',
    'docs/users-and-money.md#get-a-warning-first',
    'A cap that was raised alerts again when spend reaches its new amount.',
  ],
  [
    'LIM-701',
    'docs/users-and-money.md#get-a-warning-first',
    'A cap that is lowered below the spend alerts at once, without more spend.',
  ],
  [
    'LIM-702',
    'docs/users-and-money.md#get-a-warning-first',
    'A cap that is reached and then raised or removed within seconds still alerts.',
  ],
  [
    'LIM-703',
    'docs/users-and-money.md#caps',
    "A user's own cap may be above the org's cap for users, up to the org's own cap.",
  ],
]);
