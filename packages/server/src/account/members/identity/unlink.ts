import { fail } from '@vestra/contract/errors';
import type { Transaction } from '../../../platform/db/pool.ts';
import type { SignedIn } from '../account.ts';
import { loginOf } from '../member.ts';
import { recordMemberChange } from '../record-access.ts';
import type { Source } from '../source.ts';
import { changeOpening, deleteIdentity, lockMember } from './store.ts';

/** For who has a password to go on with; the sign-ins that the link opened end. */
export async function unlink(tx: Transaction, { session, membership }: SignedIn, source: Source): Promise<void> {
  const { member, org } = membership;
  const locked = await lockMember(tx, org.id, { id: member.id });
  if (session.email === null || !locked || loginOf(locked) === null) throw fail('password_not_used');
  if (!(await deleteIdentity(tx, member.id))) throw fail('identity_not_linked');
  if (locked.login === null) await changeOpening(tx, member.id, 'password');
  await recordMemberChange(tx, member, 'member.unlinked', { by: 'identity_provider' }, source);
}
