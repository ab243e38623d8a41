import { fail } from '@vestra/contract/errors';
import type { Transaction } from '../../platform/db/pool.ts';
import type { SignedIn } from './account.ts';
import { deleteSessionById, deleteSessions } from './login-store.ts';
import { recordAccess } from './record-access.ts';
import type { Source } from './source.ts';

export async function endSignIn(
  tx: Transaction,
  { session, memberships }: SignedIn,
  id: string,
  source: Source,
): Promise<void> {
  if (!(await deleteSessionById(tx, session, id))) throw fail('console_session_not_found');
  await recordAccess(tx, memberships, 'member.logged_out', source);
}

export async function endOtherSignIns(
  tx: Transaction,
  { session, memberships }: SignedIn,
  source: Source,
): Promise<number> {
  const ended = await deleteSessions(tx, session, { exceptId: session.id });
  if (ended > 0) await recordAccess(tx, memberships, 'member.logged_out', source);
  return ended;
}
