import { idPattern } from '@vestra/contract/ids';
import { migrationsFolder } from '../main/postgres.ts';
import type { Config } from '../platform/config/config.ts';
import { reachEmbeddedPostgres } from '../platform/db/embedded.ts';
import { migrate } from '../platform/db/migrate.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { createVault, type MasterKeys, openMasterKeys, type Vault } from '../platform/secrets/vault.ts';

export type Values = Record<string, string>;

export type Work<Result = unknown> = {
  run: (operator: Operator, values: Values) => Promise<Result>;
  show: (result: Result) => string;
};

export type Operator = {
  config: Config;
  db: Database;
  vault: Vault;
  masterKeys: MasterKeys;
  /** Bypasses a pooler: snapshots and temporary tables belong to one session. */
  connectionString: string;
  close: () => Promise<void>;
};

/** Opens the server's database and keys, whether or not a server is running. */
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
    connectionString: config.pooler.directUrl ?? postgres.connectionString,
    vault: createVault(masterKeys),
    async close() {
      await closeDatabase(db);
      await postgres.stop();
    },
  };
}

/** `named`: how the caller gives the org. */
export function readOrg({ org = '' }: Values, named = '--org'): string {
  if (!idPattern('org').test(org)) throw new StartFailure(`${named} must be an org id such as org_0…, not ${org}.`);
  return org;
}
