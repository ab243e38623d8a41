import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from './embedded.ts';
import { StartFailure } from './start-failure.ts';

type Options = Pick<Parameters<typeof startEmbeddedPostgres>[0], 'dataDir' | 'log' | 'onWait' | 'connect'>;
type OpenDatabase = { connectionString: string; stop: () => Promise<void> };

const addressFile = (dataDir: string) => join(dataDir, 'postgres.url');

/** Whether this data folder has ever had a database: to start one makes it. */
export const hasEmbeddedPostgres = (dataDir: string): boolean =>
  ['postgres', 'postgres-location.json'].some((name) => existsSync(join(dataDir, name)));

/** Starts PostgreSQL in the data folder and leaves word of where it is for operator commands. */
export async function ownEmbeddedPostgres(options: Options): Promise<OpenDatabase> {
  const postgres = await startEmbeddedPostgres(options);
  const file = addressFile(options.dataDir);
  await writeFile(file, postgres.connectionString, { mode: 0o600 });
  return {
    connectionString: postgres.connectionString,
    async stop() {
      await rm(file, { force: true });
      await postgres.stop();
    },
  };
}

/** The PostgreSQL of a server that runs beside this process, or one started for as long as this takes. */
export async function reachEmbeddedPostgres(options: Options): Promise<OpenDatabase> {
  try {
    return await startEmbeddedPostgres(options);
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    const connectionString = await readFile(addressFile(options.dataDir), 'utf8').catch(() => null);
    if (connectionString === null) throw error;
    return { connectionString, stop: async () => {} };
  }
}
