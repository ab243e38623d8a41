import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { deleteLogin, lockLogin } from './login-store.ts';
import { leavesNoOwner, loginOf, type Manager, refusalOf } from './member.ts';
import { deleteMember, listMemberships, lockMemberAndOwners } from './store.ts';

export async function removeMember(
  tx: Transaction,
  origin: Origin,
  { manager, memberId }: { manager: Manager; memberId: string },
): Promise<void> {
  const { member, activeOwnerIds } = await lockMemberAndOwners(tx, origin.orgId, memberId);
  if (!member) throw fail('member_not_found');
  const refusal = refusalOf(manager, { from: member.role, to: null });
  if (refusal) throw refusal;
  if (leavesNoOwner(memberId, null, activeOwnerIds)) throw fail('last_owner');

  await deleteMember(tx, memberId);
  const login = loginOf(member);
  if (login !== null) await endUnusedLogin(tx, login);
  await recordAudit(tx, origin, {
    action: 'member.removed',
    target: { type: 'member', id: memberId },
    details: { email: member.email, role: member.role },
  });
}

/**
 * A login that leads to no org goes, and its sessions with it: a person who is invited again chooses a new
 * password. The lock comes before the look, so that an acceptance elsewhere is either seen or finds no login.
 */
async function endUnusedLogin(tx: Transaction, key: string): Promise<void> {
  await lockLogin(tx, key, 'update');
  const memberships = await listMemberships(tx, key);
  if (memberships.length === 0) await deleteLogin(tx, key);
}
