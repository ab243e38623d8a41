import { migrationsFolder } from '../main/migrations-folder.ts';
import type { Config } from '../platform/config/config.ts';
import { reachEmbeddedPostgres } from '../platform/db/embedded.ts';
import { migrate } from '../platform/db/migrate.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { type MasterKeys, openMasterKeys } from '../platform/secrets/master-key.ts';
import { createVault, type Vault } from '../platform/secrets/vault.ts';

export type Operator = {
  config: Config;
  db: Database;
  vault: Vault;
  masterKeys: MasterKeys;
  close: () => Promise<void>;
};

/** The same database and keys as the server's, whether or not a server is running. */
export async function openOperator(config: Config): Promise<Operator> {
  const postgres = config.databaseUrl
    ? { connectionString: config.databaseUrl, stop: async () => {} }
    : await reachEmbeddedPostgres({ dataDir: config.dataDir, log: () => {} });
  const db = await openDatabase({ connectionString: postgres.connectionString, max: 2, pooler: config.pooler });
  await migrate(db, migrationsFolder);
  const masterKeys = openMasterKeys(config);
  return {
    config,
    db,
    masterKeys,
    vault: createVault(masterKeys),
    async close() {
      await closeDatabase(db);
      await postgres.stop();
    },
  };
}
