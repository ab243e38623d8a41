import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { Database } from './pool.ts';
import { sqlState } from './query-error.ts';
import { StartFailure } from './start-failure.ts';

export type Migration = AppliedMigration & { text: string };
export type AppliedMigration = { name: string; sha256: string };

/**
 * Any number does, as long as it stays the same and nobody else takes it. Whoever holds it lets no server start on this
 * database: each waits here first.
 */
export const ADVISORY_LOCK = createHash('sha256').update('vestra migrate').digest().readBigInt64BE().toString();

/** Stands among the migrations while rows are brought into a database: no version of the program starts on it. */
export const UNFINISHED = 'unfinished';

/**
 * Brings the database up to the SQL files `NNNN-name.sql` of `folder`, in order, each in a transaction of its own.
 * Migrations only go forward: a file that was applied never changes, and a database that knows more than this build
 * is left alone. Servers that start at the same time wait for each other.
 */
export async function migrate(db: Database, folder: string): Promise<{ applied: string[]; newest: string }> {
  const [before, migrations] = await Promise.all([appliedTo(db), readMigrations(folder)]);
  const newest = migrations.at(-1)?.name ?? '';
  if (before?.every(({ is_free }) => is_free) && pendingOf(migrations, before).length === 0)
    return { applied: [], newest };
  const { client, release } = await ownSession(db);
  let isDone = false;
  try {
    // Held by the session, since it spans several transactions; after a failure it goes with the connection.
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    const applied = await applyPending(client, migrations);
    await client.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK]);
    isDone = true;
    return { applied, newest };
  } finally {
    await release(isDone);
  }
}

/**
 * Nearly every start finds everything applied: one read, and no lock that another start would wait for. Where an operator's
 * command keeps servers away it holds the lock, and the start waits after all. Null where nothing ever was applied.
 */
async function appliedTo(db: Database): Promise<(AppliedMigration & { is_free: boolean })[] | null> {
  try {
    const { rows } = await db.$client.query<AppliedMigration & { is_free: boolean }>(
      'SELECT name, sha256, (SELECT pg_try_advisory_xact_lock_shared($1)) AS is_free FROM schema_migrations',
      [ADVISORY_LOCK],
    );
    return rows;
  } catch (error) {
    if (sqlState(error) === UNDEFINED_TABLE) return null;
    throw error;
  }
}

const UNDEFINED_TABLE = '42P01';

type OwnSession = { client: pg.ClientBase; release: (isDone: boolean) => unknown };

async function ownSession({ $client: pool, directUrl }: Database): Promise<OwnSession> {
  if (directUrl === undefined) {
    const client = await pool.connect();
    return { client, release: (isDone) => client.release(!isDone) };
  }
  const client = new pg.Client({ connectionString: directUrl });
  await client.connect();
  return { client, release: () => client.end() };
}

async function applyPending(client: pg.ClientBase, migrations: Migration[]): Promise<string[]> {
  await makeRecord(client);
  const applied = await client.query<AppliedMigration>('SELECT name, sha256 FROM schema_migrations');
  const pending = pendingOf(migrations, applied.rows);
  for (const migration of pending) await apply(client, migration);
  return pending.map(({ name }) => name);
}

/** Where it is written which migrations a database has. */
export async function makeRecord(client: pg.ClientBase): Promise<void> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
}

/** Without a pause: a hundred small files, each in the background, would take several times as long. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  const wrong = names.find((name) => !/^\d{4}-[a-z0-9-]+\.sql$/.test(name));
  if (wrong) throw new Error(`The migration ${wrong} is not named NNNN-name.sql.`);
  const twice = names.find((name, index) => name.slice(0, 4) === names[index + 1]?.slice(0, 4));
  if (twice) throw new Error(`The number of the migration ${twice} is used twice.`);
  return names.map((name) => readMigration(folder, name));
}

function readMigration(folder: string, name: string): Migration {
  // Git may write other line ends on another machine; that is no change.
  const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
  return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
}

export function pendingOf(migrations: readonly Migration[], applied: readonly AppliedMigration[]): Migration[] {
  if (applied.some(({ name }) => name === UNFINISHED)) {
    throw new StartFailure(
      'What was being restored or moved into this database is not all there: run the same vestra admin restore or move again, and start afterwards.',
    );
  }
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, sha256 } of applied) {
    const migration = known.get(name);
    if (!migration) {
      throw new StartFailure(
        `The database has the migration ${name}, which this Vestra does not know: start the newer version that made it.`,
      );
    }
    if (migration.sha256 !== sha256) {
      throw new StartFailure(
        `The migration ${name} was changed after this database had applied it: restore the file and put the change into a new one.`,
      );
    }
  }
  const names = new Set(applied.map(({ name }) => name));
  const pending = migrations.filter(({ name }) => !names.has(name));
  const last = [...names].sort().at(-1);
  const late = pending.find(({ name }) => last !== undefined && name < last);
  if (late) {
    throw new StartFailure(
      `The migration ${late.name} comes before ${last}, which this database has applied already: give it the next number.`,
    );
  }
  return pending;
}

export async function apply(client: pg.ClientBase, { name, sha256, text }: Migration): Promise<void> {
  await client.query('BEGIN');
  await client.query(text).catch((error: pg.DatabaseError) => {
    const line = text.slice(0, Number(error.position ?? 0)).split('\n').length;
    throw new StartFailure(`The migration ${name} failed at line ${line} and was undone: ${error.message}.`, {
      cause: error,
    });
  });
  await client.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [name, sha256]);
  await client.query('COMMIT');
}
