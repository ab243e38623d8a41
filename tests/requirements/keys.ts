import { area } from '../requirement.ts';

export const keys = area('keys', 'done', [
  [
    'KEY-001',
    'docs/api/keys.md#get-v1keys',
    '`GET /v1/keys` lists the keys and shows of each secret only the last four characters.',
  ],
  [
    'KEY-002',
    'docs/api/keys.md#post-v1keys',
    '`POST /v1/keys` accepts `name` and `scopes` and shows the full key once, in that answer alone.',
  ],
  ['KEY-003', 'docs/api/keys.md#post-v1keys', 'A made key works at once with the scopes it was given, and no others.'],
  [
    'KEY-004',
    'docs/api/keys.md#post-v1keyskey_idroll',
    '`POST /v1/keys/{key_id}/roll` gives a new secret, and the new secret works at once.',
  ],
  [
    'KEY-005',
    'docs/api/keys.md#post-v1keyskey_idroll',
    'During `grace_seconds` after a roll the old secret keeps working; afterwards it stops.',
  ],
  ['KEY-006', 'docs/api/keys.md#delete-v1keyskey_id', '`DELETE /v1/keys/{key_id}` revokes the key at once.'],
  ['KEY-007', 'docs/api/keys.md#post-v1keys', 'A scope other than `setup`, `runtime`, `admin`, `all` is refused.'],
  [
    'KEY-008',
    'docs/api/keys.md#key',
    'A key row is `{object: key, id, name, mode, scopes, last4, created_at, last_used_at, expires_at}`, the last two null if nothing applies.',
  ],
  ['KEY-009', 'docs/api/keys.md#post-v1keys', 'The create answer is the row plus `key`.'],
  ['KEY-010', 'docs/api/keys.md#post-v1keys', '`mode` of a new key is `test` unless the body names `live`.'],
  ['KEY-011', 'docs/api/keys.md#post-v1keys', 'A test key that asks for a live key answers 403 `live_key_required`.'],
  [
    'KEY-012',
    'docs/api/keys.md#post-v1keyskey_idroll',
    '`grace_seconds` accepts 0 to 604800 and is 0 when absent; -1 and 604801 are refused.',
  ],
  [
    'KEY-013',
    'docs/api/keys.md#post-v1keyskey_idroll',
    'The roll answer is the key with a new `key` and with `previous_expires_at`.',
  ],
  [
    'KEY-014',
    'docs/requests.md#authentication',
    'The keys routes answer 403 `scope_missing` to a key without `admin` or `all`.',
  ],
  ['KEY-015', 'docs/api/keys.md#key', '`last_used_at` is the last use of the key.'],
  [
    'KEY-016',
    'docs/security.md#keys-and-secrets',
    'A key that gives a scope it does not hold itself answers 403 `scope_missing`.',
  ],
  ['KEY-017', 'docs/api/keys.md#post-v1keyskey_idroll', 'A rolled key keeps its id.'],
  ['KEY-018', 'docs/api/keys.md#post-v1keyskey_idroll', 'The old secret after its grace answers 401 `key_expired`.'],
  [
    'KEY-019',
    'docs/security.md#keys-and-secrets',
    'Making, rolling and revoking a key emit `key.created`, `key.rolled` and `key.revoked`, none of which carries the secret.',
  ],
  ['KEY-020', 'docs/api/keys.md#delete-v1keyskey_id', 'An unknown key id answers 404 `key_not_found`.'],
  [
    'KEY-201',
    'docs/security.md#keys-and-secrets',
    'A key revokes and rolls only keys whose scopes it holds: 403 `scope_missing`.',
  ],
]);
