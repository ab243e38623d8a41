import { area } from '../requirement.ts';

export const account = area('account', 'done', [
  [
    'ACC-001',
    'runtime.md · Account',
    '`GET /v1/me` answers `{object: me, org: {id, name, status}, mode, key, member}`.',
  ],
  [
    'ACC-002',
    'runtime.md · Account',
    '`key` of `me` is `{id, name, last4}` for a key call and null for a console member.',
  ],
  [
    'ACC-003',
    'runtime.md · Account',
    '`member` of `me` is `{role}` for a console member, one of `owner`, `admin`, `developer`, and null for a key.',
  ],
  ['ACC-004', 'runtime.md · Account', '`GET /v1/health` says whether the API is up, with 200.'],
  ['ACC-005', 'runtime.md · Account', '`GET /v1/models` lists the models a deployment may choose.'],
  ['ACC-006', 'runtime.md · Account', '`GET /v1/org` answers the org record with `admin` or `all` and 403 without.'],
  [
    'ACC-007',
    'runtime.md · Org',
    'The org record carries `id` (`org_`), `object: org`, `name`, `status`, `mode` and `created_at`.',
  ],
  [
    'ACC-008',
    'runtime.md · Org',
    'The org record carries `allowed_return_urls`, `allowed_embed_origins` and `default_deployment` (or null).',
  ],
  [
    'ACC-009',
    'runtime.md · Org',
    'The org record carries `require_user`, `memory_panel`, `memory_mode` and `memory_endpoint`.',
  ],
  ['ACC-010', 'runtime.md · Org', 'The org record carries `otlp_endpoint` and `otlp_headers_secret`.'],
  ['ACC-011', 'runtime.md · Org', 'The org record carries `balance_usd`, `caps` and `usage_alerts`.'],
  [
    'ACC-012',
    'runtime.md · Account',
    '`caps` holds `org_daily_usd`, `user_daily_usd`, `max_org_daily_usd`, `org_monthly_usd` and `user_monthly_usd`; null means none, and `max_org_daily_usd` is never null.',
  ],
  ['ACC-013', 'runtime.md · Account', '`usage_alerts.thresholds` is a list of at most 5 integers.'],
  ['ACC-014', 'runtime.md · Account', "`balance_usd` is the wallet of the caller's mode, with at most 5 decimals."],
  [
    'ACC-015',
    'runtime.md · Account',
    'With `require_user: true` a request without `user_id` answers 400 `user_required`.',
  ],
  ['ACC-016', 'runtime.md · Account', '`PATCH /v1/org` changes `name` of 1 to 200 characters; 0 or 201 are refused.'],
  [
    'ACC-017',
    'runtime.md · Account',
    '`PATCH /v1/org` replaces `allowed_return_urls` as a whole; more than 20 are refused.',
  ],
  [
    'ACC-018',
    'runtime.md · Account',
    '`PATCH /v1/org` replaces `allowed_embed_origins` as a whole; more than 20 are refused.',
  ],
  [
    'ACC-019',
    'runtime.md · Account',
    'An embed origin that is not https, or carries a path, answers 400 `invalid_origin`.',
  ],
  ['ACC-020', 'runtime.md · Account', '`default_deployment` takes a name or a `dep_` id, and null clears it.'],
  [
    'ACC-021',
    'runtime.md · Account',
    '`default_deployment` naming no deployment of the org is refused with 400 `invalid_deployment`.',
  ],
  ['ACC-022', 'runtime.md · Account', '`memory_mode` takes `vestra`, `customer` and `none` only.'],
  ['ACC-023', 'runtime.md · Account', '`memory_endpoint` takes an https URL or null.'],
  ['ACC-024', 'runtime.md · Account', '`otlp_endpoint` takes a URL to which traces go from then on; null stops them.'],
  ['ACC-025', 'runtime.md · Account', '`otlp_headers_secret` takes the name of a secret and null clears it.'],
  ['ACC-026', 'runtime.md · Account', '`PATCH /v1/org` leaves fields that were not sent as they are.'],
  [
    'ACC-027',
    'decisions.md · 9',
    '`memory_mode: customer` while the org has no memory endpoint answers 400 `memory_endpoint_required`.',
  ],
  [
    'ACC-028',
    'decisions.md · 10',
    "`require_user` applies on every route where an absent `user_id` would mean the org's own agent.",
  ],
  [
    'ACC-029',
    'decisions.md · 5',
    'A model entry is `{object: model, id, provider, name, default, context_tokens, price, available}`.',
  ],
  [
    'ACC-030',
    'decisions.md · 5',
    '`price` of a model holds `input_per_mtok`, `output_per_mtok` and `cache_read_per_mtok`.',
  ],
  ['ACC-031', 'decisions.md · 5', 'Exactly one listed model has `default: true`.'],
  [
    'ACC-201',
    'decisions.md · 11',
    'In test mode an embed origin may also be `http://localhost` or `http://127.0.0.1`, with any port.',
  ],
  [
    'ACC-202',
    'decisions.md · 11',
    "An embed origin's host is a name or address: nothing that could end its place in a policy header.",
  ],
]);
