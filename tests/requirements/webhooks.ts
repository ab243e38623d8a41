import { area } from '../requirement.ts';

export const webhooks = area('webhooks', 'done', [
  [
    'WHK-001',
    'docs/api/webhooks.md#webhookendpoint',
    'An endpoint shows `id` (`whk_`), `object: webhook_endpoint`, `url`, `events`, `description`, `active`, `mode`, `deployment_id`, `managed_by`, `created_at`, `updated_at`.',
  ],
  ['WHK-002', 'docs/webhooks.md', '`secret` appears in the answers of create and roll only.'],
  ['WHK-003', 'docs/api/webhooks.md#patch-v1webhooksendpoint_id', '`managed_by` is `file` or null.'],
  [
    'WHK-004',
    'docs/api/webhooks.md#post-v1webhooks',
    '`POST /v1/webhooks` answers 201 with the endpoint and its `secret`.',
  ],
  ['WHK-005', 'docs/api/webhooks.md#post-v1webhooks', '`url` is required: public https, at most 2048 characters.'],
  ['WHK-006', 'docs/api/webhooks.md#post-v1webhooks', 'A private, local or internal address is refused.'],
  [
    'WHK-007',
    'docs/api/webhooks.md#post-v1webhooks',
    '`events` is required: 1 to 40 types or `*`; an unknown type is refused.',
  ],
  [
    'WHK-008',
    'docs/api/webhooks.md#post-v1webhooks',
    '`description` accepts at most 500 characters; `active` is true when absent.',
  ],
  [
    'WHK-009',
    'docs/api/webhooks.md#get-v1webhooks',
    '`GET /v1/webhooks` lists endpoints by pages and `GET /v1/webhooks/{endpoint_id}` answers one.',
  ],
  [
    'WHK-010',
    'docs/api/webhooks.md#patch-v1webhooksendpoint_id',
    '`PATCH /v1/webhooks/{endpoint_id}` accepts `url`, `events`, `description` (null clears), `active`.',
  ],
  [
    'WHK-011',
    'docs/api/webhooks.md#delete-v1webhooksendpoint_id',
    '`DELETE /v1/webhooks/{endpoint_id}` answers `{id, object, deleted: true}`.',
  ],
  ['WHK-012', 'docs/webhooks.md', '`POST …/roll-secret` gives a new secret, and the old one is accepted for 24 hours.'],
  ['WHK-013', 'docs/api/webhooks.md#post-v1webhooksendpoint_idtest', '`POST …/test` sends a sample event now.'],
  [
    'WHK-014',
    'docs/api/webhooks.md#get-v1webhooksendpoint_iddeliveries',
    '`GET …/deliveries` lists every attempt with status code and timing.',
  ],
  ['WHK-015', 'docs/webhooks.md#inspect-and-resend', '`POST …/deliveries/{delivery_id}/retry` sends one again.'],
  [
    'WHK-016',
    'docs/api/events.md#get-v1events',
    "`GET /v1/events` lists the mode's events newest first, by pages, filtered by `type`.",
  ],
  ['WHK-017', 'docs/api/events.md#get-v1eventsevent_id', '`GET /v1/events/{event_id}` answers one event.'],
  [
    'WHK-018',
    'docs/requests.md#authentication',
    'Webhook routes need `setup` or `all`, event routes `runtime` or `all`.',
  ],
  ['WHK-019', 'docs/webhooks.md', 'An endpoint receives the types it listed and no others; `*` receives all.'],
  ['WHK-020', 'docs/webhooks.md', 'A test endpoint never receives a live event, nor a live endpoint a test event.'],
  [
    'WHK-021',
    'docs/webhooks.md',
    "An endpoint from a file receives its deployment's events and the account's own (keys, users, usage alerts).",
  ],
  ['WHK-022', 'docs/webhooks.md', "An endpoint from a file does not receive another deployment's events."],
  ['WHK-023', 'docs/webhooks.md', 'An inactive endpoint receives nothing.'],
  [
    'WHK-024',
    'docs/api/webhooks.md#webhookendpoint',
    'The webhook types are exactly `conversation.created reply.completed task.started task.completed task.failed task.stopped interaction.created interaction.resolved interaction.expired file.created routine.ran batch.completed test_run.completed deployment.promoted deployment.rolled_back user.created user.deleted key.created key.rolled key.revoked usage.threshold_reached usage.cap_reached webhook.disabled webhook.test`.',
  ],
  [
    'WHK-025',
    'docs/webhooks.md',
    'An endpoint of the file cannot be changed or deleted over the API: 409 `managed_by_file`.',
  ],
  ['WHK-026', 'docs/webhooks.md', '`GET /v1/events` lists every event of a webhook type, also if no endpoint listens.'],
  [
    'WHK-027',
    'docs/webhooks.md',
    'An event in the list has the delivery envelope; its `data` is the resource as its GET shows it, plus the extra fields.',
  ],
  ['WHK-028', 'docs/webhooks.md', "`events` accepts `['*']` and `'*'` alike."],
  ['WHK-029', 'docs/webhooks.md', 'A webhook host without a dot is refused, and 168.63.129.16 counts as private.'],
  [
    'WHK-030',
    'docs/api/webhooks.md#delete-v1webhooksendpoint_id',
    'An unknown endpoint answers 404 `webhook_not_found`.',
  ],
  [
    'WHK-031',
    'docs/api/webhooks.md#post-v1webhooksendpoint_iddeliveriesdelivery_idretry',
    'An unknown delivery answers 404 `delivery_not_found`.',
  ],
  ['WHK-032', 'docs/api/events.md#get-v1eventsevent_id', 'An unknown event answers 404 `event_not_found`.'],
]);
