import type { Database } from '../platform/db/pool.ts';
import { keptSetting } from '../platform/db/server-settings.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { type Vault, VaultFailure } from '../platform/secrets/vault.ts';

/**
 * A secret that every process on this database shares, made by the first. Reading it also proves that
 * this process holds the right master key, before it takes a request it could not serve.
 */
export async function agreedSecret(db: Database, vault: Vault, name: string): Promise<Buffer> {
  const scope = settingScope(name);
  const wrapped = await keptSetting(db, name, () => vault.newDataKey(scope));
  if (fits(vault, name, wrapped)) return vault.derive({ orgId: scope, wrapped });
  throw new StartFailure(
    'The master key does not fit this database. Set VESTRA_MASTER_KEY to the key it was made with, or copy the file master-key from the first server’s data folder.',
  );
}

/** Whether this setting was sealed under the vault's master key. */
export function fits(vault: Vault, name: string, wrapped: Buffer): boolean {
  try {
    vault.derive({ orgId: settingScope(name), wrapped });
    return true;
  } catch (error) {
    if (error instanceof VaultFailure) return false;
    throw error;
  }
}

/** What the data key of a setting is sealed for, where that of an org is sealed for its id. */
export const settingScope = (name: string): string => `server:${name}`;
