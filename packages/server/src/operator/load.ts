import { forgetUncomparable } from '../agents/notebooks/index.ts';
import { migrationsFolder } from '../main/migrations-folder.ts';
import type { CarriedSequence } from '../platform/db/dump.ts';
import {
  assertNothingInIt,
  declareFinished,
  keepServersAway,
  type Load,
  loadRows,
  makeSchema,
  withSession,
} from '../platform/db/dump.ts';
import { type AppliedMigration, countBaseline, migrate, pendingOf, readMigrations } from '../platform/db/migrate.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { version } from '../platform/version.ts';
import type { OpenDatabase } from './reach-database.ts';

/** What comes into an empty database: rows at the level of these migrations. */
export type Incoming = {
  migrations: readonly AppliedMigration[];
  sequences: readonly CarriedSequence[];
  /** Refuses what stands in the way elsewhere, before anything is changed. */
  check?: (database: { isUnfinished: boolean }) => Promise<void>;
  fill: (load: Load) => Promise<void>;
  /** What must be there as well before a server may start. */
  beside?: () => Promise<void>;
  /** What has to be set right in the rows, at the level of this program. */
  after?: (db: Database) => Promise<void>;
};

/**
 * Fills an empty database and brings it to the level of this program. Whenever this is interrupted, no server starts on what
 * there is, and it can be run again.
 */
export async function fillDatabase(reached: OpenDatabase, incoming: Incoming): Promise<void> {
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
  await bringUp(reached.connectionString, incoming.after);
}

/** From here on it is a database like any other that an older program has left. */
async function bringUp(connectionString: string, after: Incoming['after']): Promise<void> {
  const db = await openDatabase({ connectionString, max: 1 });
  try {
    await migrate(db, migrationsFolder);
    await forgetUncomparable(db);
    await after?.(db);
  } finally {
    await closeDatabase(db);
  }
}

/** Refuses rows of a version whose migrations this one does not know. */
export async function assertKnown(migrations: readonly AppliedMigration[], madeBy: string): Promise<void> {
  const known = await readMigrations(migrationsFolder);
  const names = new Set(known.map(({ name }) => name));
  const unknown = countBaseline(known, migrations).find(({ name }) => !names.has(name));
  if (!unknown) return void pendingOf(known, migrations);
  throw new StartFailure(
    `${madeBy}, and this is Vestra ${version}, which does not know its migration ${unknown.name}: install that version or a newer one. Nothing was changed.`,
  );
}
