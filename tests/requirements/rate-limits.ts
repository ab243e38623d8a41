import { area } from '../requirement.ts';

export const rateLimits = area('rate-limits', 'done', [
  [
    'RATE-001',
    'docs/requests.md#rate-limits',
    'Requests are limited per key, to 1,200 a minute unless the setting differs.',
  ],
  [
    'RATE-002',
    'docs/requests.md#rate-limits',
    'Every answer carries `RateLimit-Policy: "default";q=1200;w=60` with the configured numbers.',
  ],
  [
    'RATE-003',
    'docs/requests.md#rate-limits',
    'Every answer carries `RateLimit: "default";r=<left>;t=<seconds>` and `r` falls with each request.',
  ],
  [
    'RATE-004',
    'docs/requests.md#rate-limits',
    'A request beyond the limit answers 429 `rate_limited` of type `rate_limited`.',
  ],
  ['RATE-005', 'docs/requests.md#rate-limits', 'A 429 carries `Retry-After`, and `retry_after_ms` in its body.'],
  ['RATE-006', 'docs/requests.md#rate-limits', 'One key at its limit does not slow another key of the same org.'],
  [
    'RATE-700',
    'docs/requests.md#rate-limits',
    'All keys and sessions of an org together may send ten times the limit of a key, and an org at its limit does not slow another.',
  ],
  ['RATE-701', 'docs/requests.md#rate-limits', 'All sessions of a user share one count.'],
  [
    'RATE-702',
    'docs/requests.md#rate-limits',
    'A message that starts a task beyond the limit of its user answers 429 `rate_limited` with `Retry-After`, and nothing is stored.',
  ],
  [
    'RATE-703',
    'docs/requests.md#rate-limits',
    'All tasks of an org share a limit. Another org, plain messages, waiting tasks and batches are not refused by it.',
  ],
  [
    'RATE-705',
    'docs/shares.md#limits-of-callers',
    'An org that uses up its places in a process delays no turn and no task of another org: none of its own turns need to end first.',
  ],
  [
    'RATE-706',
    'docs/shares.md#a-busy-process',
    'While a process is busy, messages of an org with 16 runs or more wait before they are accepted, until one of its runs ends or the process is no longer busy. Messages of other orgs do not wait for them.',
  ],
  [
    'RATE-707',
    'docs/shares.md#a-busy-process',
    'An org that has a process for itself waits for nobody, however busy the process is.',
  ],
  [
    'RATE-708',
    'docs/requests.md#rate-limits',
    'A request is counted and answered although its old count is deleted at the same moment.',
  ],
  ['RATE-007', 'docs/requests.md#rate-limits', 'After the wait a 429 named, the key is served again.'],
  [
    'RATE-600',
    'docs/requests.md#rate-limits',
    'A request without a credential is counted by its address before its body is read, so that refused bodies count too.',
  ],
]);
