import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { findSession } from './login-store.ts';
import { presentSession } from './present.ts';
import { hashToken } from './token.ts';

/** A session or membership that ended while this request was on its way is gone here too. */
export async function showSession(db: Executor, caller: Caller, token: string | null) {
  const found = token === null ? null : await findSession(db, hashToken(token));
  const membership = found?.memberships.find(({ member }) => member.id === caller.member?.id);
  if (!found || !membership) throw fail('console_login_required');
  return presentSession(found.session, membership, caller.mode, found.memberships);
}
