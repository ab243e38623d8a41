import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { deleteSession, findSession } from './login-store.ts';
import { recordAccess } from './record-access.ts';
import { hashToken } from './token.ts';

/** Ends this one session; the person's other browsers stay logged in. */
export async function logOut(tx: Transaction, token: string, source: Pick<Origin, 'requestId' | 'ip'>): Promise<void> {
  const hash = hashToken(token);
  const found = await findSession(tx, hash);
  if (!found) return;
  await deleteSession(tx, hash);
  await recordAccess(tx, found.memberships, 'member.logged_out', source);
}
