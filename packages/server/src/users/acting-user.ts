import { fail } from '@vestra/contract/errors';
import { findSettings } from '../account/index.ts';
import type { Caller, Tenant } from '../platform/caller.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { findUser } from './store.ts';
import type { UserRow } from './tables.ts';
import { enterUser, refusalOf } from './users.ts';

/**
 * The user that a request acts for, made on first use; null for the org's own agent. A session acts for its own user,
 * whatever the request says.
 */
export async function actingUser(tx: Transaction, caller: Caller, userId: string | undefined): Promise<UserRow | null> {
  const named = await namedUser(tx, caller, userId);
  return named === null ? null : enterUser(tx, caller, named);
}

/**
 * The id of the user that a request asks about or takes something from; null for the org's own agent. It makes nobody:
 * whoever is not known has nothing, and one that was erased stays so.
 */
export async function askedUser(db: Executor, caller: Caller, userId: string | undefined): Promise<string | null> {
  const named = await namedUser(db, caller, userId);
  if (named !== null) await findAskedUser(db, caller, named);
  return named;
}

/** The user, if there is one; nobody asks about one that is disabled or being erased. */
export async function findAskedUser(db: Executor, tenant: Tenant, userId: string): Promise<UserRow | undefined> {
  const user = await findUser(db, tenant, userId);
  const refused = user ? refusalOf(user) : null;
  if (refused) throw refused;
  return user;
}

/** The user that a path names. */
export async function requireAskedUser(db: Executor, tenant: Tenant, userId: string): Promise<UserRow> {
  const user = await findAskedUser(db, tenant, userId);
  if (!user) throw fail('user_not_found');
  return user;
}

/** Whom the request or its session names. Undefined: what the org has set decides. */
export function statedUser(caller: Caller, userId: string | undefined): string | undefined {
  if (caller.session && userId !== undefined && userId !== caller.session.userId) throw fail('session_scope');
  return (caller.session ? caller.session.userId : userId) ?? undefined;
}

async function namedUser(db: Executor, caller: Caller, userId: string | undefined): Promise<string | null> {
  const named = statedUser(caller, userId);
  if (named !== undefined) return named;
  const settings = await findSettings(db, caller);
  if (settings.require_user) throw fail('user_required', { param: 'user_id' });
  return null;
}
