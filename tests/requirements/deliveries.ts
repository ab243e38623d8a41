import { area } from '../requirement.ts';

export const deliveries = area('deliveries', 'done', [
  [
    'WHD-001',
    'docs/webhooks.md#requests',
    "Each delivery carries `Service-Signature`, which the endpoint's secret verifies.",
  ],
  ['WHD-002', 'docs/webhooks.md', 'Each attempt is recorded with status code and timing and can be retried.'],
  ['WHD-003', 'docs/webhooks.md#verifying', 'A webhook secret reads `whsec_…`.'],
  [
    'WHD-004',
    'docs/webhooks.md#requests',
    'A delivery is a `POST` of `{id, object: event, type, created_at, mode, org_id, data}`.',
  ],
  ['WHD-005', 'docs/webhooks.md#requests', '`webhook-id` is the event id, the same on every retry.'],
  ['WHD-006', 'docs/webhooks.md#requests', '`webhook-timestamp` is the time of the attempt.'],
  [
    'WHD-007',
    'docs/webhooks.md#requests',
    '`webhook-signature` is `v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<raw body>`.',
  ],
  [
    'WHD-008',
    'docs/webhooks.md#verifying',
    'A Standard Webhooks verifier accepts a delivery and refuses one with a changed byte.',
  ],
  ['WHD-009', 'docs/webhooks.md#requests', '`Service-Signature` has the same value as `webhook-signature`.'],
  [
    'WHD-010',
    'docs/webhooks.md#verifying',
    'For 24 hours after a roll the signature header holds one signature per valid secret, separated by spaces.',
  ],
  ['WHD-011', 'docs/webhooks.md#answering', 'Only a 2xx within 15 seconds counts as success.'],
  ['WHD-012', 'docs/webhooks.md#answering', 'A redirect is not followed and counts as failure.'],
  ['WHD-013', 'docs/webhooks.md#answering', 'A 410 switches the endpoint off.'],
  [
    'WHD-014',
    'docs/webhooks.md#answering',
    'A failed delivery is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, with jitter.',
  ],
  [
    'WHD-015',
    'docs/webhooks.md#answering',
    'An endpoint that fails for 5 days is switched off and `webhook.disabled` is emitted.',
  ],
  [
    'WHD-016',
    'docs/api/webhooks.md#webhookdelivery',
    'A delivery record is `{object: webhook_delivery, id, endpoint_id, event_id, event_type, attempt, status, status_code, duration_ms, error, next_attempt_at, created_at}`, null for missing values.',
  ],
  ['WHD-017', 'docs/api/webhooks.md#webhookdelivery', '`status` of a delivery is `pending`, `succeeded` or `failed`.'],
  ['WHD-018', 'docs/webhooks.md#inspect-and-resend', 'Retry and test answer the delivery.'],
  ['WHD-019', 'docs/webhooks.md#inspect-and-resend', '`test` sends `webhook.test` to that endpoint alone.'],
  ['WHD-020', 'docs/webhooks.md', 'A host that resolves to a private address at connection is refused.'],
  ['WHD-021', 'docs/webhooks.md', 'An event is delivered after a crash between the change and the delivery.'],
  [
    'WHD-551',
    'docs/webhooks.md#inspect-and-resend',
    'Pending attempts are stored apart from those that were made: a search for due ones does not read the history.',
  ],
]);
