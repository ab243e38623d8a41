import { fail } from '@vestra/contract/errors';
import { findSettings } from '../account/index.ts';
import type { Caller, Tenant } from '../platform/caller.ts';
import type { Executor, Transaction } from '../platform/db/pool.ts';
import { findUser } from './store.ts';
import type { UserRow } from './tables.ts';
import { enterUser, refusalOf } from './users.ts';

/**
 * The user that a request acts for, created on first use. Null for the org's own agent. A session always acts for its
 * own user.
 */
export async function actingUser(tx: Transaction, caller: Caller, userId: string | undefined): Promise<UserRow | null> {
  const named = await namedUser(tx, caller, userId);
  return named === null ? null : enterUser(tx, caller, named);
}

/**
 * The id of the user that a request reads or deletes from. Null for the org's own agent. It creates no user: an unknown
 * user has nothing to read, and an erased one must stay erased.
 */
export async function requestedUserId(
  db: Executor,
  caller: Caller,
  userId: string | undefined,
): Promise<string | null> {
  const named = await namedUser(db, caller, userId);
  if (named !== null) await findRequestedUser(db, caller, named);
  return named;
}

/** Finds the user. Throws if the user is disabled or being erased. */
export async function findRequestedUser(db: Executor, tenant: Tenant, userId: string): Promise<UserRow | undefined> {
  const user = await findUser(db, tenant, userId);
  const refused = user ? refusalOf(user) : null;
  if (refused) throw refused;
  return user;
}

/** Finds the user of a path. Throws if there is none. */
export async function requireRequestedUser(db: Executor, tenant: Tenant, userId: string): Promise<UserRow> {
  const user = await findRequestedUser(db, tenant, userId);
  if (!user) throw fail('user_not_found');
  return user;
}

/** The user id that the request or its session names. Undefined: the org's settings decide. */
export function statedUserId(caller: Caller, userId: string | undefined): string | undefined {
  if (caller.session && userId !== undefined && userId !== caller.session.userId) throw fail('session_scope');
  return (caller.session ? caller.session.userId : userId) ?? undefined;
}

async function namedUser(db: Executor, caller: Caller, userId: string | undefined): Promise<string | null> {
  const named = statedUserId(caller, userId);
  if (named !== undefined) return named;
  const settings = await findSettings(db, caller);
  if (settings.require_user) throw fail('user_required', { param: 'user_id' });
  return null;
}
