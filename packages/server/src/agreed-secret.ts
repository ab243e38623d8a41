import { type Vault, VaultFailure } from './adapters/secrets/vault.ts';
import type { Database } from './db/pool.ts';
import { one, run } from './db/query.ts';
import { sql } from './db/sql.ts';
import { StartFailure } from './db/start-failure.ts';
import { bytes } from './db/table.ts';

/**
 * A secret that every process on this database shares, made by the first. Reading it also proves that
 * this process holds the right master key, before it takes a request it could not serve.
 */
export async function agreedSecret(db: Database, vault: Vault, name: string): Promise<Buffer> {
  const scope = `server:${name}`;
  const wrapped = vault.newDataKey(scope);
  await run(
    db,
    sql`INSERT INTO server_settings (name, sealed_value) VALUES (${name}, ${wrapped}) ON CONFLICT (name) DO NOTHING`,
  );
  const { sealed_value: kept } = await one(
    db,
    { sealed_value: bytes() },
    sql`SELECT sealed_value FROM server_settings WHERE name = ${name}`,
  );
  try {
    return vault.derive({ orgId: scope, wrapped: kept });
  } catch (error) {
    if (!(error instanceof VaultFailure)) throw error;
    throw new StartFailure(
      'The master key does not fit this database. Set VESTRA_MASTER_KEY to the key it was made with, or copy the file master-key from the first server’s data folder.',
    );
  }
}
