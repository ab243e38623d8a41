import type { Mode } from '@vestra/contract/route';
import type { Membership } from './store.ts';
import type { ConsoleSessionRow, MemberRow } from './tables.ts';

export const presentMember = (row: MemberRow) => ({
  object: 'member' as const,
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  status: row.status,
  created_at: row.created_at.toISOString(),
});

export const presentSession = (
  session: ConsoleSessionRow,
  { member, org }: Membership,
  mode: Mode,
  memberships: readonly Membership[],
) => ({
  object: 'console_session' as const,
  member: presentMember(member),
  org,
  orgs: memberships.map((each) => ({ ...each.org, role: each.member.role })),
  mode,
  csrf_token: session.csrf_token,
  expires_at: session.expires_at.toISOString(),
});
