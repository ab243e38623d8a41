import { type Failure, fail } from '@vestra/contract/errors';
import type { Mode, Role, Scope } from '@vestra/contract/route';
import type { Caller } from '../../platform/caller.ts';
import type { LoginRow, MemberRow } from '../tables.ts';
import type { Membership } from './store.ts';

/** The party that changes members. The operator uses the server's command line. */
export type Manager =
  | { kind: 'operator' }
  | { kind: 'member'; role: Role }
  | { kind: 'key'; mode: Mode; scopes: readonly Scope[] };

/** `from` is null for a new member, `to` for one who is removed. */
export type RoleChange = { from: Role | null; to: Role | null };

export const managerOf = ({ member, mode, scopes }: Pick<Caller, 'member' | 'mode' | 'scopes'>): Manager =>
  member ? { kind: 'member', role: member.role } : { kind: 'key', mode, scopes };

/**
 * Owners and admins manage members. Only owners may create, change or remove an owner. A key with scope `all` counts as
 * an owner, and one with scope `admin` as an admin. Members also act in live mode, so a test key may not change them.
 */
export function refusalOf(manager: Manager, { from, to }: RoleChange): Failure | null {
  if (manager.kind === 'operator') return null;
  const concernsOwner = from === 'owner' || to === 'owner';
  if (manager.kind === 'member') {
    if (manager.role === 'owner') return null;
    if (manager.role !== 'admin') return fail('role_missing', { message: 'Only owners and admins manage members.' });
    return concernsOwner
      ? fail('role_missing', { message: 'Only an owner can add, change or remove an owner.' })
      : null;
  }
  if (!manager.scopes.includes('all')) {
    if (!manager.scopes.includes('admin')) return fail('scope_missing');
    if (concernsOwner) {
      return fail('scope_missing', { message: 'Only a key with scope all can add, change or remove an owner.' });
    }
  }
  if (manager.mode === 'test') {
    return fail('live_key_required', { message: 'Members also act in live mode: change them with a live key.' });
  }
  return null;
}

/** The key of the login that opens a membership. Null: only the org's identity provider opens it. */
export function loginOf({ login, email, opened_by }: Pick<MemberRow, 'login' | 'email' | 'opened_by'>): string | null {
  return login ?? (opened_by === 'identity' ? null : email);
}

export const addressOf = ({ address, email }: Pick<LoginRow, 'address' | 'email'>): string => address ?? email;

/**
 * Whether a password or a passkey opens a membership. A membership that the identity provider created is opened by it
 * alone. If the org no longer accepts passwords, members keep theirs until they have linked the provider. Owners always
 * keep theirs, so that someone can sign in while the provider is down.
 */
export function opensByPassword({ member, takesPasswords, isLinked }: Omit<Membership, 'org'>): boolean {
  if (loginOf(member) === null) return false;
  return takesPasswords || !isLinked || member.role === 'owner';
}

/** Counts only active owners: an invitation that is never accepted would leave the org without one. */
export function leavesNoOwner(memberId: string, to: Role | null, activeOwnerIds: readonly string[]): boolean {
  return to !== 'owner' && activeOwnerIds.length === 1 && activeOwnerIds[0] === memberId;
}

/** Normalise last, because lower-casing can undo the normal form. */
export const normaliseEmail = (email: string): string => email.trim().toLowerCase().normalize('NFC');

export const presentMember = (row: MemberRow) => ({
  object: 'member' as const,
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  status: row.status,
  created_at: row.created_at.toISOString(),
});
