import { mkdirSync } from 'node:fs';
import type { Logger } from 'pino';
import { ownEmbeddedPostgres } from '../db/reach-embedded.ts';
import { StartFailure } from '../db/start-failure.ts';
import type { Config } from './config.ts';

type Postgres = { connectionString: string; stop: () => Promise<void> };

export type BegunPostgres = {
  reached: Promise<Postgres>;
  /** Resolves when the rest is up to other processes, so that this one can do something else meanwhile. */
  isElsewhere: Promise<void>;
};

/** The database that the settings name, or else one of this process's own, which begins to start now. */
export function beginPostgres(config: Pick<Config, 'databaseUrl' | 'dataDir'>, log: Logger): BegunPostgres {
  const { promise: isElsewhere, resolve: onWait } = Promise.withResolvers<void>();
  const reached = reach(config, log, onWait);
  // Whoever awaits it is told, also when that begins later.
  reached.then(
    () => onWait(),
    () => onWait(),
  );
  return { reached, isElsewhere };
}

async function reach(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: Logger,
  onWait: () => void,
): Promise<Postgres> {
  if (databaseUrl === null) return ownEmbeddedPostgres({ dataDir, log: (line) => log.info(line), onWait });
  makeDataDir(dataDir);
  return { connectionString: databaseUrl, stop: async () => {} };
}

function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  } catch (error) {
    throw new StartFailure(
      `The data folder ${dataDir} cannot be made (${(error as NodeJS.ErrnoException).code}). Set VESTRA_DATA_DIR to one that can.`,
    );
  }
}
