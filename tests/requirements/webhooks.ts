import { area } from '../requirement.ts';

export const webhooks = area('webhooks', 'done', [
  [
    'WHK-001',
    'runtime.md · Webhook endpoint',
    'An endpoint shows `id` (`whk_`), `object: webhook_endpoint`, `url`, `events`, `description`, `active`, `mode`, `deployment_id`, `managed_by`, `created_at`, `updated_at`.',
  ],
  ['WHK-002', 'runtime.md · Webhook endpoint', '`secret` appears in the answers of create and roll only.'],
  ['WHK-003', 'runtime.md · Webhook endpoint', '`managed_by` is `file` or null.'],
  [
    'WHK-004',
    'runtime.md · Webhooks and events',
    '`POST /v1/webhooks` answers 201 with the endpoint and its `secret`.',
  ],
  ['WHK-005', 'runtime.md · Webhooks and events', '`url` is required: public https, at most 2048 characters.'],
  ['WHK-006', 'runtime.md · Webhooks and events', 'A private, local or internal address is refused.'],
  [
    'WHK-007',
    'runtime.md · Webhooks and events',
    '`events` is required: 1 to 40 types or `*`; an unknown type is refused.',
  ],
  [
    'WHK-008',
    'runtime.md · Webhooks and events',
    '`description` takes at most 500 characters; `active` is true when absent.',
  ],
  [
    'WHK-009',
    'runtime.md · Webhooks and events',
    '`GET /v1/webhooks` lists endpoints by pages and `GET /v1/webhooks/{endpoint_id}` answers one.',
  ],
  [
    'WHK-010',
    'runtime.md · Webhooks and events',
    '`PATCH /v1/webhooks/{endpoint_id}` takes `url`, `events`, `description` (null clears), `active`.',
  ],
  [
    'WHK-011',
    'runtime.md · Webhooks and events',
    '`DELETE /v1/webhooks/{endpoint_id}` answers `{id, object, deleted: true}`.',
  ],
  [
    'WHK-012',
    'runtime.md · Webhooks and events',
    '`POST …/roll-secret` gives a new secret, and the old one is accepted for 24 hours.',
  ],
  ['WHK-013', 'runtime.md · Webhooks and events', '`POST …/test` sends a sample event now.'],
  [
    'WHK-014',
    'runtime.md · Webhooks and events',
    '`GET …/deliveries` lists every attempt with status code and timing.',
  ],
  ['WHK-015', 'runtime.md · Webhooks and events', '`POST …/deliveries/{delivery_id}/retry` sends one again.'],
  [
    'WHK-016',
    'runtime.md · Webhooks and events',
    "`GET /v1/events` lists the mode's events newest first, by pages, filtered by `type`.",
  ],
  ['WHK-017', 'runtime.md · Webhooks and events', '`GET /v1/events/{event_id}` answers one event.'],
  [
    'WHK-018',
    'runtime.md · Webhooks and events',
    'Webhook routes need `setup` or `all`, event routes `runtime` or `all`.',
  ],
  ['WHK-019', 'runtime.md · Events', 'An endpoint receives the types it listed and no others; `*` receives all.'],
  ['WHK-020', 'runtime.md · Events', 'A test endpoint never hears a live event, nor a live endpoint a test event.'],
  [
    'WHK-021',
    'runtime.md · Events',
    "An endpoint from a file receives its deployment's events and the account's own (keys, users, usage alerts).",
  ],
  ['WHK-022', 'runtime.md · Events', "An endpoint from a file does not receive another deployment's events."],
  ['WHK-023', 'runtime.md · Events', 'An inactive endpoint receives nothing.'],
  [
    'WHK-024',
    'decisions.md · 7',
    'The webhook types are exactly `conversation.created reply.completed task.started task.completed task.failed task.stopped interaction.created interaction.resolved interaction.expired file.created routine.ran batch.completed test_run.completed deployment.promoted deployment.rolled_back user.created user.deleted key.created key.rolled key.revoked usage.threshold_reached usage.cap_reached webhook.disabled webhook.test`.',
  ],
  [
    'WHK-025',
    'decisions.md · 7',
    'An endpoint of the file cannot be changed or deleted over the API: 409 `managed_by_file`.',
  ],
  [
    'WHK-026',
    'decisions.md · 10',
    '`GET /v1/events` lists every event of a webhook type, also where no endpoint listens.',
  ],
  [
    'WHK-027',
    'decisions.md · 10',
    'An event in the list has the delivery envelope; its `data` is the resource as its GET shows it, plus the extra fields.',
  ],
  ['WHK-028', 'decisions.md · 10', "`events` takes `['*']` and `'*'` alike."],
  ['WHK-029', 'decisions.md · 10', 'A webhook host without a dot is refused, and 168.63.129.16 counts as private.'],
  ['WHK-030', 'decisions.md · 3', 'An unknown endpoint answers 404 `webhook_not_found`.'],
  ['WHK-031', 'decisions.md · 3', 'An unknown delivery answers 404 `delivery_not_found`.'],
  ['WHK-032', 'decisions.md · 3', 'An unknown event answers 404 `event_not_found`.'],
]);
