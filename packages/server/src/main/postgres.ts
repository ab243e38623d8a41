import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../platform/config/config.ts';
import { folderFailure } from '../platform/db/embedded/failure.ts';
import { ownEmbeddedPostgres } from '../platform/db/embedded.ts';
import { type Database, openDatabase } from '../platform/db/pool.ts';
import { startPatienceMs } from '../platform/db/retry-through-failover.ts';
import { makeFolder } from '../platform/files/make-folder.ts';

type Postgres = {
  db: Database;
  connectionString: string;
  /** Stops the database that this process started, and ends all its sessions. */
  stop: () => Promise<void>;
};

export type StartingPostgres = {
  reached: Promise<Postgres>;
  /** Resolves when only other processes still work on the start, so that this one can load code meanwhile. */
  isElsewhere: Promise<void>;
};

type Settings = Pick<Config, 'databaseUrl' | 'dataDir' | 'pooler'>;

/** Opens the database of the settings, or starts an embedded one. The start continues in the background. */
export function startPostgres(config: Settings, log: Logger): StartingPostgres {
  const { promise: isElsewhere, resolve: onWait } = Promise.withResolvers<void>();
  const reached = reach(config, log, onWait);
  // Mark a rejection as handled: the caller may await `reached` later.
  reached.then(
    () => onWait(),
    () => onWait(),
  );
  return { reached, isElsewhere };
}

async function reach(config: Settings, log: Logger, onWait: () => void): Promise<Postgres> {
  if (config.databaseUrl === null) return reachOwn(config.dataDir, log, onWait);
  await makeDataDir(config.dataDir);
  const { databaseUrl: connectionString, pooler } = config;
  onWait();
  const db = await openDatabase({ connectionString, pooler, log, patienceMs: startPatienceMs });
  return { db, connectionString, stop: async () => {} };
}

/** The session that tests the connection stays in the pool. */
async function reachOwn(dataDir: string, log: Logger, onWait: () => void): Promise<Postgres> {
  let opening: Promise<Database> | undefined;
  const open = (connectionString: string) => {
    opening ??= openDatabase({ connectionString, isOwn: true, log });
    return opening;
  };
  const connect = async (connectionString: string) => {
    const db = await open(connectionString);
    (await db.$client.connect()).release();
  };
  const postgres = await ownEmbeddedPostgres({ dataDir, log: (line) => log.info(line), onWait, connect });
  return { ...postgres, db: await open(postgres.connectionString) };
}

async function makeDataDir(dataDir: string): Promise<void> {
  await makeFolder(dataDir, 0o711).catch((error) => {
    throw folderFailure(error, dataDir);
  });
}

export const migrationsFolder: string = join(import.meta.dirname, '..', 'platform', 'db', 'migrations');
