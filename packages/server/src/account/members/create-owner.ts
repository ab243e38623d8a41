import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { serverOrigin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { recordAudit } from '../audit/record.ts';
import { enterLogin } from './enter-login.ts';
import { normaliseEmail } from './member.ts';
import { presentMember } from './present.ts';
import { insertOrLockMember } from './store.ts';

/** The owner an org starts with, made by the server itself and not by an invitation. */
export async function createOwner(
  tx: Transaction,
  { orgId, email, password, name }: { orgId: string; email: string; password: string; name: string },
) {
  const address = normaliseEmail(email);
  const id = newId('mbr');
  const row = await insertOrLockMember(tx, {
    id,
    org_id: orgId,
    email: address,
    name,
    role: 'owner',
    status: 'active',
  });
  if (row.id !== id) throw fail('member_exists', { param: 'email' });
  await enterLogin(tx, { memberId: id, email: address, password });
  await recordAudit(tx, serverOrigin({ orgId, mode: 'live' }), {
    action: 'member.created',
    target: { type: 'member', id },
    details: { role: 'owner' },
  });
  return presentMember(row);
}
