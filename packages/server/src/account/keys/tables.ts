import type { Mode, Scope } from '@vestra/contract/route';
import { bytes, moment, type RowOf, table, text, textArray } from '../../platform/db/table.ts';

export const apiKeys = table('api_keys', {
  id: text(),
  org_id: text(),
  mode: text<Mode>(),
  name: text(),
  scopes: textArray<Scope>(),
  secret_hash: bytes(),
  last4: text(),
  created_at: moment().withDefault(),
  last_used_at: moment().nullable(),
  expires_at: moment().nullable(),
  revoked_at: moment().nullable(),
});

export const rolledKeySecrets = table('rolled_key_secrets', {
  secret_hash: bytes(),
  key_id: text(),
  expires_at: moment(),
});

export type KeyRow = RowOf<typeof apiKeys>;
