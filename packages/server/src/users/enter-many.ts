import type { Failure } from '@vestra/contract/errors';
import { emitAll, findSettings } from '../account/index.ts';
import type { Tenant } from '../platform/caller.ts';
import type { Transaction } from '../platform/db/pool.ts';
import { presentUser } from './present.ts';
import { findUsers, insertUsers } from './store.ts';
import type { UserRow } from './tables.ts';
import { refusalOf } from './user.ts';

/**
 * Enters many users as `enterUser` does one, in a few statements, and answers with them and why some may not be acted for.
 * New ones are made in the order of their ids, so that two that make the same users do not wait for each other in a circle.
 */
export async function enterUsers(
  tx: Transaction,
  tenant: Tenant,
  userIds: readonly string[],
): Promise<{ users: ReadonlyMap<string, UserRow>; refused: ReadonlyMap<string, Failure> }> {
  const ids = [...new Set(userIds)].sort();
  const known = await findUsers(tx, tenant, ids);
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) {
    // A millisecond is as fine as a cursor can tell moments apart.
    const created_at = new Date();
    const made = await insertUsers(
      tx,
      missing.map((id) => ({ org_id: tenant.orgId, mode: tenant.mode, id, created_at })),
    );
    for (const row of made) known.set(row.id, row);
    const settings = await findSettings(tx, tenant);
    await emitAll(
      tx,
      made.map((row) => ({ ...tenant, type: 'user.created', data: presentUser(row, { settings }) })),
    );
    if (made.length < missing.length) {
      for (const [id, row] of await findUsers(tx, tenant, missing)) known.set(id, row);
    }
  }
  const refused = [...known].map(([id, row]) => [id, refusalOf(row)] as const);
  return { users: known, refused: new Map(refused.filter((each): each is [string, Failure] => each[1] !== null)) };
}
