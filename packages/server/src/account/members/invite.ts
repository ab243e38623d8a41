import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Role } from '@vestra/contract/route';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { type Manager, normaliseEmail, refusalOf } from './member.ts';
import { presentMember } from './present.ts';
import { insertOrLockMember, putInvite } from './store.ts';
import { newToken } from './token.ts';

const validDays = 7;

export type Invitation = { manager: Manager; email: string; role: Role; publicUrl: string };

/** Inviting a person who has not accepted yet renews their link and sets their role. */
export async function inviteMember(tx: Transaction, origin: Origin, { manager, email, role, publicUrl }: Invitation) {
  const refusal = refusalOf(manager, { from: null, to: role });
  if (refusal) throw refusal;
  const id = newId('mbr');
  const kept = await insertOrLockMember(tx, {
    id,
    org_id: origin.orgId,
    email: normaliseEmail(email),
    role,
    status: 'invited',
  });
  if (kept.status === 'active') throw fail('member_exists', { param: 'email' });
  const isRenewal = kept.id !== id;
  const renewalRefusal = isRenewal ? refusalOf(manager, { from: kept.role, to: role }) : null;
  if (renewalRefusal) throw renewalRefusal;

  const { token, hash } = newToken('vinv_');
  const row = await putInvite(tx, kept.id, { role, hash, validDays });
  await recordAudit(tx, origin, {
    action: 'member.invited',
    target: { type: 'member', id: row.id },
    details: { email: row.email, role, renewed: isRenewal },
  });
  return {
    ...presentMember(row),
    // A fragment stays in the browser: the token reaches no server's log.
    invite_url: `${publicUrl.replace(/\/+$/, '')}/console/accept#token=${token}`,
    invite_expires_at: (row.invite_expires_at as Date).toISOString(),
  };
}
