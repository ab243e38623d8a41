import type { KeyRow } from './tables.ts';

export const presentKey = (row: KeyRow) => ({
  object: 'key' as const,
  id: row.id,
  name: row.name,
  mode: row.mode,
  scopes: row.scopes,
  last4: row.last4,
  created_at: row.created_at.toISOString(),
  last_used_at: row.last_used_at?.toISOString() ?? null,
  expires_at: row.expires_at?.toISOString() ?? null,
});
