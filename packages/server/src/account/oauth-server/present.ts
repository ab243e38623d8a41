import type { MemberRow } from '../members/tables.ts';
import type { GrantRow } from './tables.ts';

export const presentGrant = (row: GrantRow, members: readonly MemberRow[]) => {
  const member = members.find(({ id }) => id === row.member_id);
  return {
    object: 'mcp_grant' as const,
    id: row.id,
    client: { name: row.client_name, address: row.client_address, is_verified: row.is_verified },
    member: { id: row.member_id, name: member?.name ?? member?.email ?? row.member_id },
    mode: row.mode,
    scopes: row.scopes,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
  };
};
