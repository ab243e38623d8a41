import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { openSecrets } from './seal.ts';
import { findSecrets } from './store.ts';

/** The values of those of the names that are stored, for a call that sends them. `userId` is null for the company's own. */
export async function readSecrets(
  db: Executor,
  vault: Vault,
  tenant: Tenant,
  userId: string | null,
  names: readonly string[],
): Promise<Map<string, string>> {
  // The row of a secret of the company's own has an empty user.
  const owner = { tenant, userId: userId ?? '' };
  return openSecrets(db, vault, owner, await findSecrets(db, tenant, owner.userId, [...names]));
}
