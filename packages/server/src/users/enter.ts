import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { makeUser } from './make.ts';
import type { UserRow } from './tables.ts';

/** The user whom a request acts for, made on first use; nobody acts for a disabled one. */
export async function enterUser(tx: Transaction, tenant: Tenant, userId: string): Promise<UserRow> {
  const user = await makeUser(tx, tenant, userId);
  if (user.status === 'disabled') throw fail('user_disabled');
  return user;
}
