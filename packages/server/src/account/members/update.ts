import { fail } from '@vestra/contract/errors';
import type { Role } from '@vestra/contract/route';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { leavesNoOwner, type Manager, refusalOf } from './member.ts';
import { presentMember } from './present.ts';
import { changeMember, lockMemberAndOwners } from './store.ts';

export type MemberChange = { manager: Manager; memberId: string; role?: Role | undefined; name?: string | undefined };

export async function updateMember(tx: Transaction, origin: Origin, { manager, memberId, role, name }: MemberChange) {
  const { member, activeOwnerIds } = await lockMemberAndOwners(tx, origin.orgId, memberId);
  if (!member) throw fail('member_not_found');
  const to = role ?? member.role;
  const refusal = refusalOf(manager, { from: member.role, to });
  if (refusal) throw refusal;
  if (leavesNoOwner(memberId, to, activeOwnerIds)) throw fail('last_owner', { param: 'role' });

  const changes = {
    ...(to !== member.role && { role: to }),
    ...(name !== undefined && name !== member.name && { name }),
  };
  const changed = Object.keys(changes);
  if (changed.length === 0) return presentMember(member);
  const row = await changeMember(tx, memberId, changes);
  await recordAudit(tx, origin, {
    action: 'member.updated',
    target: { type: 'member', id: memberId },
    details: { changed, ...(changes.role && { role: { from: member.role, to } }) },
  });
  return presentMember(row);
}
