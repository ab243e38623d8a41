import type { Config } from '../platform/config/config.ts';
import { describeTarget } from '../platform/db/connection-failure.ts';
import { hasEmbeddedPostgres, reachEmbeddedPostgres, startEmbeddedPostgres } from '../platform/db/embedded.ts';
import { StartFailure } from '../platform/db/start-failure.ts';

export type OpenDatabase = { connectionString: string; name: string; stop: () => Promise<void> };

/** The database of a server that may be running. */
export async function reachInUse(config: Config): Promise<OpenDatabase> {
  // Past a pooler: what is read is one snapshot of one session.
  if (config.databaseUrl) return atUrl(config.pooler.directUrl ?? config.databaseUrl);
  if (!hasEmbeddedPostgres(config.dataDir)) {
    throw new StartFailure(
      `There is no database in ${config.dataDir}: set VESTRA_DATA_DIR or DATABASE_URL as for the server.`,
    );
  }
  const postgres = await reachEmbeddedPostgres({ dataDir: config.dataDir, log: () => {} });
  return { ...postgres, name: `in ${config.dataDir}` };
}

/** The database of a server that is not running; an embedded one is made where there is none. */
export async function reachAlone({
  databaseUrl,
  dataDir,
}: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<OpenDatabase> {
  if (databaseUrl) return atUrl(databaseUrl);
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => {} });
  return { ...postgres, name: `in ${dataDir}` };
}

const atUrl = (databaseUrl: string): OpenDatabase => ({
  connectionString: databaseUrl,
  name: describeTarget(databaseUrl).name,
  stop: async () => {},
});
