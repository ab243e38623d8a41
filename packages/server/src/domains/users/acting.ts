import { fail } from '@vestra/contract/errors';
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { findSettings } from '../orgs/api.ts';
import { enterUser } from './enter.ts';
import type { UserRow } from './tables.ts';

/**
 * The user that a request acts for, made on first use; null for the org's own agent. A session acts for its own user,
 * whatever the request says.
 */
export async function actingUser(tx: Transaction, caller: Caller, userId: string | undefined): Promise<UserRow | null> {
  if (caller.session && userId !== undefined && userId !== caller.session.userId) throw fail('session_scope');
  const named = caller.session ? caller.session.userId : userId;
  if (named === undefined || named === null) {
    const settings = await findSettings(tx, caller);
    if (settings.require_user) throw fail('user_required', { param: 'user_id' });
    return null;
  }
  return enterUser(tx, caller, named);
}
