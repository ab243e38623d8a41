import { area } from '../requirement.ts';

export const secrets = area('secrets', 'done', [
  [
    'SEC-001',
    'docs/security.md#keys-and-secrets',
    'A company secret is used wherever `${NAME}` or `${secret:NAME}` stands in tool auth, headers, environment and repo tokens.',
  ],
  [
    'SEC-002',
    'docs/security.md#keys-and-secrets',
    "A user's own secret is used wherever `${user_secret:NAME}` stands, with that user's value.",
  ],
  [
    'SEC-003',
    'docs/security.md#keys-and-secrets',
    "A secret's value is never returned by any route, event, log, trace or audit row.",
  ],
  [
    'SEC-004',
    'docs/security.md#keys-and-secrets',
    'Secrets are separate per mode: the same name holds another value in the other mode.',
  ],
  [
    'SEC-005',
    'docs/api/secrets.md#put-v1secretsname',
    '`PUT /v1/secrets/{name}` stores a company secret, and stores again under the same name as a replacement.',
  ],
  [
    'SEC-006',
    'docs/api/secrets.md#put-v1secretsname',
    "With `user_id` the PUT stores that user's own secret, apart from the company's of the same name.",
  ],
  [
    'SEC-007',
    'docs/api/secrets.md#delete-v1secretsname',
    'A name that is not a capital letter followed by capitals, digits and underscores answers 400 `invalid_secret_name`.',
  ],
  [
    'SEC-008',
    'docs/api/secrets.md#put-v1secretsname',
    'A name of 64 characters is taken, one of 65 answers 400 `invalid_secret_name`.',
  ],
  ['SEC-009', 'docs/api/secrets.md#put-v1secretsname', '`value` accepts 1 to 8192 characters; 0 and 8193 are refused.'],
  [
    'SEC-010',
    'docs/api/secrets.md#secret',
    'A secret is shown as `{object: secret, name, user_id, mode, created_at, updated_at}`, `user_id` null for a company secret.',
  ],
  ['SEC-011', 'docs/api/secrets.md#get-v1secrets', "`GET /v1/secrets` lists secrets, and with `user_id` that user's."],
  [
    'SEC-012',
    'docs/api/secrets.md#delete-v1secretsname',
    "`DELETE /v1/secrets/{name}` removes a company secret, with `?user_id=` that user's own.",
  ],
  ['SEC-013', 'docs/api/secrets.md#get-v1secrets', 'Secrets routes need scope `setup` or `all`.'],
  ['SEC-014', 'docs/api/secrets.md#get-v1secrets', 'Secrets routes with a `user_id` also open with scope `runtime`.'],
  [
    'SEC-015',
    'docs/requests.md#authentication',
    'Scope `runtime` without a `user_id` answers 403 `scope_missing` on the secrets routes.',
  ],
  ['SEC-016', 'docs/security.md#secrets', 'At rest a value is AES-256-GCM ciphertext under a data key of its org.'],
  [
    'SEC-017',
    'docs/server-reference.md#settings-of-the-start',
    "The org's data key is stored only wrapped by the server's master key.",
  ],
  [
    'SEC-018',
    'docs/server-reference.md#settings-of-the-start',
    'The master key comes from `VESTRA_MASTER_KEY`, else from a generated file in the data folder with mode 0600.',
  ],
  ['SEC-019', 'docs/api/secrets.md#put-v1secretsname', 'A secrets PUT answers 200, the first time and when replacing.'],
  [
    'SEC-020',
    'docs/api/secrets.md#delete-v1secretsname',
    'A secrets delete answers `{object: secret, name, deleted: true}`.',
  ],
  [
    'SEC-021',
    'docs/api/secrets.md#delete-v1secretsname',
    'Deleting a secret that does not exist answers 404 `secret_not_found`.',
  ],
]);
