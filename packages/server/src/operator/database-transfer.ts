import { forgetUncomparable } from '../agents/notebooks/index.ts';
import { migrationsFolder } from '../main/postgres.ts';
import type { Config } from '../platform/config/config.ts';
import { describeTarget } from '../platform/db/connection-failure.ts';
import type { CarriedSequence } from '../platform/db/dump.ts';
import {
  assertNothingInIt,
  declareFinished,
  keepServersAway,
  type Load,
  loadRows,
  makeSchema,
  withSession,
  withSnapshot,
} from '../platform/db/dump.ts';
import { hasEmbeddedPostgres, reachEmbeddedPostgres, startEmbeddedPostgres } from '../platform/db/embedded.ts';
import { type AppliedMigration, countBaseline, migrate, pendingOf, readMigrations } from '../platform/db/migrate.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { version } from '../platform/version.ts';
import type { Progress } from './progress.ts';

/** Rows for an empty database, at the level of these migrations. */
export type IncomingRows = {
  migrations: readonly AppliedMigration[];
  sequences: readonly CarriedSequence[];
  /** Refuses other obstacles, before anything is changed. */
  check?: (database: { isUnfinished: boolean }) => Promise<void>;
  fill: (load: Load) => Promise<void>;
  /** Adds everything else that must exist before a server may start. */
  beside?: () => Promise<void>;
  /** Corrects rows after the migration to the current version. */
  after?: (db: Database) => Promise<void>;
};

/**
 * Fills an empty database and migrates it to the current version. If it is interrupted, no server starts on the
 * database, and the command can be repeated.
 */
export async function fillDatabase(reached: OpenDatabase, incoming: IncomingRows): Promise<void> {
  const known = await readMigrations(migrationsFolder);
  await withSession(reached.connectionString, async (client) => {
    await keepServersAway(client, `the database ${reached.name}`);
    const isUnfinished = await assertNothingInIt(client, reached.name);
    await incoming.check?.({ isUnfinished });
    await makeSchema(client, known, incoming.migrations);
    await loadRows(client, incoming.sequences, incoming.fill);
    await incoming.beside?.();
    await declareFinished(client);
  });
  await migrateToCurrent(reached.connectionString, incoming.after);
}

/** From here on this is an ordinary database of an older version. */
async function migrateToCurrent(connectionString: string, after: IncomingRows['after']): Promise<void> {
  const db = await openDatabase({ connectionString, max: 1 });
  try {
    await migrate(db, migrationsFolder);
    await forgetUncomparable(db);
    await after?.(db);
  } finally {
    await closeDatabase(db);
  }
}

/** Refuses rows of a version whose migrations this version does not know. */
export async function assertKnownMigrations(migrations: readonly AppliedMigration[], madeBy: string): Promise<void> {
  const known = await readMigrations(migrationsFolder);
  const names = new Set(known.map(({ name }) => name));
  const unknown = countBaseline(known, migrations).find(({ name }) => !names.has(name));
  if (!unknown) return void pendingOf(known, migrations);
  throw new StartFailure(
    `${madeBy}, and this is Vestra ${version}, which does not know its migration ${unknown.name}: install that version or a newer one. Nothing was changed.`,
  );
}

export type MoveReport = { from: string; to: string; tables: number; rows: number; is_embedded: boolean };

/** Copies all rows into another, empty database while no server runs on either. The source is only read. */
export async function move(
  { config, progress }: { config: Config; progress: Progress },
  to: string,
): Promise<MoveReport> {
  const isEmbedded = to === 'embedded';
  if (isEmbedded && config.databaseUrl === null) {
    throw new StartFailure(
      'DATABASE_URL is not set, so the embedded database is the one in use: set it to the one to move from.',
    );
  }
  const source = await openDatabaseInUse(config);
  try {
    const target = await openUnusedDatabase({ databaseUrl: isEmbedded ? null : to, dataDir: config.dataDir });
    try {
      return await withSession(source.connectionString, async (client) => {
        await keepServersAway(client, `the database ${source.name}`);
        return withSnapshot(client, source.name, async ({ migrations, sequences, tables, rowsOf }) => {
          await assertKnownMigrations(migrations, `The database ${source.name} was used by a newer Vestra`);
          let rows = 0;
          await fillDatabase(target, {
            migrations,
            sequences,
            fill: async (load) => {
              for (const table of tables) {
                progress.show(`Table ${table.name}`);
                rows += await load.fill(table, rowsOf(table));
              }
            },
          });
          return { from: source.name, to: target.name, tables: tables.length, rows, is_embedded: isEmbedded };
        });
      });
    } finally {
      await target.stop();
    }
  } finally {
    await source.stop();
  }
}

export type OpenDatabase = { connectionString: string; name: string; stop: () => Promise<void> };

/** Opens the database of a server that may be running. */
export async function openDatabaseInUse(config: Config): Promise<OpenDatabase> {
  // Bypass the pooler: the snapshot belongs to one session.
  if (config.databaseUrl) return atUrl(config.pooler.directUrl ?? config.databaseUrl);
  if (!hasEmbeddedPostgres(config.dataDir)) {
    throw new StartFailure(
      `There is no database in ${config.dataDir}: set VESTRA_DATA_DIR or DATABASE_URL as for the server.`,
    );
  }
  const postgres = await reachEmbeddedPostgres({ dataDir: config.dataDir, log: () => {} });
  return { ...postgres, name: `in ${config.dataDir}` };
}

/** Opens the database of a server that is not running. It creates an embedded one if there is none. */
export async function openUnusedDatabase({
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
