import { emit, findSettings } from '../account/index.ts';
import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { presentUser } from './present.ts';
import { findUser, insertUser } from './store.ts';
import type { UserRow } from './tables.ts';
import { refuseErasing } from './user.ts';

export type Profile = Partial<Pick<UserRow, 'name' | 'email' | 'locale' | 'timezone' | 'metadata'>>;

/** The user of this id, made on first use. What is given of a user that exists changes nothing. */
export async function makeUser(
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  profile: Profile = {},
): Promise<UserRow> {
  const known = await findUser(tx, tenant, userId);
  if (known) refuseErasing(known);
  if (known) return known;
  const made = await insertUser(tx, {
    org_id: tenant.orgId,
    mode: tenant.mode,
    id: userId,
    // A millisecond is as fine as a cursor can tell moments apart.
    created_at: new Date(),
    ...profile,
  });
  if (!made) return (await findUser(tx, tenant, userId)) as UserRow;
  const data = presentUser(made, { settings: await findSettings(tx, tenant) });
  await emit(tx, { ...tenant, type: 'user.created', data });
  return made;
}
