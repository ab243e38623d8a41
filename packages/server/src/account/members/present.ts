import { routes } from '@vestra/contract/api';
import { roleMayCall } from '@vestra/contract/role';
import type { Mode, Role } from '@vestra/contract/route';
import { deviceOf } from './device.ts';
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

const mayOf: Record<Role, string[]> = {
  owner: operationsOf('owner'),
  admin: operationsOf('admin'),
  developer: operationsOf('developer'),
};

function operationsOf(role: Role): string[] {
  return routes.filter(({ route }) => roleMayCall(role, route)).map(({ name }) => name);
}

export const presentSignIn = (row: ConsoleSessionRow, currentId: string) => ({
  object: 'console_sign_in' as const,
  id: row.id,
  device: deviceOf(row.user_agent),
  ip: row.ip,
  is_current: row.id === currentId,
  created_at: row.created_at.toISOString(),
  last_seen_at: row.last_seen_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
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
  may: mayOf[member.role],
  has_password: session.email !== null,
  csrf_token: session.csrf_token,
  expires_at: session.expires_at.toISOString(),
});
