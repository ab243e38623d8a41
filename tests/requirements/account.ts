import { area } from '../requirement.ts';

export const account = area('account', 'done', [
  ['ACC-001', 'docs/api/me.md#me', '`GET /v1/me` answers `{object: me, org: {id, name, status}, mode, key, member}`.'],
  [
    'ACC-002',
    'docs/api/me.md#me',
    '`key` of `me` is `{id, name, last4}` for a key call and null for a console member.',
  ],
  [
    'ACC-003',
    'docs/api/me.md#me',
    '`member` of `me` is `{role}` for a console member, one of `owner`, `admin`, `developer`, and null for a key.',
  ],
  ['ACC-004', 'docs/api/health.md#get-v1health', '`GET /v1/health` reports whether the API is up, with 200.'],
  [
    'ACC-005',
    'docs/model-reference.md#provider-requests',
    '`GET /v1/models` lists the models a deployment may choose.',
  ],
  [
    'ACC-006',
    'docs/api/org.md#get-v1org',
    '`GET /v1/org` answers the org record with `admin` or `all` and 403 without.',
  ],
  [
    'ACC-007',
    'docs/api/org.md#org',
    'The org record carries `id` (`org_`), `object: org`, `name`, `status`, `mode` and `created_at`.',
  ],
  [
    'ACC-008',
    'docs/api/org.md#patch-v1org',
    'The org record carries `allowed_return_urls`, `allowed_embed_origins` and `default_deployment` (or null).',
  ],
  [
    'ACC-009',
    'docs/api/org.md#patch-v1org',
    'The org record carries `require_user`, `memory_panel`, `memory_mode` and `memory_endpoint`.',
  ],
  ['ACC-010', 'docs/api/org.md#patch-v1org', 'The org record carries `otlp_endpoint` and `otlp_headers_secret`.'],
  ['ACC-011', 'docs/api/org.md#org', 'The org record carries `balance_usd`, `caps` and `usage_alerts`.'],
  [
    'ACC-012',
    'docs/api/org.md#org',
    '`caps` holds `org_daily_usd`, `user_daily_usd`, `max_org_daily_usd`, `org_monthly_usd` and `user_monthly_usd`; null means none, and `max_org_daily_usd` is never null.',
  ],
  ['ACC-013', 'docs/api/org.md#org', '`usage_alerts.thresholds` is a list of at most 5 integers.'],
  ['ACC-014', 'docs/api/org.md#org', "`balance_usd` is the wallet of the caller's mode, with at most 5 decimals."],
  [
    'ACC-015',
    'docs/users-and-money.md#users',
    'With `require_user: true` a request without `user_id` answers 400 `user_required`.',
  ],
  [
    'ACC-016',
    'docs/api/org.md#patch-v1org',
    '`PATCH /v1/org` changes `name` of 1 to 200 characters; 0 or 201 are refused.',
  ],
  [
    'ACC-017',
    'docs/api/org.md#patch-v1org',
    '`PATCH /v1/org` replaces `allowed_return_urls` as a whole; more than 20 are refused.',
  ],
  [
    'ACC-018',
    'docs/api/org.md#patch-v1org',
    '`PATCH /v1/org` replaces `allowed_embed_origins` as a whole; more than 20 are refused.',
  ],
  [
    'ACC-019',
    'docs/embedding.md#1-the-origin-of-your-page',
    'An embed origin that is not https, or carries a path, answers 400 `invalid_origin`.',
  ],
  ['ACC-020', 'docs/api/org.md#patch-v1org', '`default_deployment` accepts a name or a `dep_` id, and null clears it.'],
  [
    'ACC-021',
    'docs/api/org.md#patch-v1org',
    '`default_deployment` naming no deployment of the org is refused with 400 `invalid_deployment`.',
  ],
  ['ACC-022', 'docs/api/org.md#org', '`memory_mode` accepts `vestra`, `customer` and `none` only.'],
  ['ACC-023', 'docs/api/org.md#patch-v1org', '`memory_endpoint` accepts an https URL or null.'],
  [
    'ACC-024',
    'docs/api/org.md#patch-v1org',
    '`otlp_endpoint` accepts a URL to which traces go from then on; null stops them.',
  ],
  ['ACC-025', 'docs/api/org.md#patch-v1org', '`otlp_headers_secret` accepts the name of a secret and null clears it.'],
  ['ACC-026', 'docs/api/org.md#patch-v1org', '`PATCH /v1/org` leaves fields that were not sent as they are.'],
  [
    'ACC-027',
    'docs/api/org.md#patch-v1org',
    '`memory_mode: customer` while the org has no memory endpoint answers 400 `memory_endpoint_required`.',
  ],
  [
    'ACC-028',
    'docs/users-and-money.md#users',
    "`require_user` applies on every route on which an absent `user_id` would mean the org's own agent.",
  ],
  [
    'ACC-029',
    'docs/api/models.md#get-v1models',
    'A model entry is `{object: model, id, provider, name, default, context_tokens, price, available}`.',
  ],
  [
    'ACC-030',
    'docs/model-reference.md#provider-requests',
    '`price` of a model holds `input_per_mtok`, `output_per_mtok` and `cache_read_per_mtok`.',
  ],
  ['ACC-031', 'docs/model-reference.md#provider-requests', 'Exactly one listed model has `default: true`.'],
  [
    'ACC-201',
    'docs/embedding.md#1-the-origin-of-your-page',
    'In test mode an embed origin may also be `http://localhost` or `http://127.0.0.1`, with any port.',
  ],
  [
    'ACC-202',
    'docs/embedding.md#1-the-origin-of-your-page',
    "An embed origin's host is a name or address: nothing that could end its place in a policy header.",
  ],
]);
