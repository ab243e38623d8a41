import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Database } from './pool.ts';
import { sqlState } from './sql.ts';
import { StartFailure } from './start-failure.ts';

export type Migration = AppliedMigration & { text: string };
export type AppliedMigration = { name: string; sha256: string };

/** A constant that no other program uses. While a session holds this lock, no server starts on the database. */
export const ADVISORY_LOCK = createHash('sha256').update('vestra migrate').digest().readBigInt64BE().toString();

/** Recorded as a migration while rows are loaded into a database, so that no version starts on it. */
export const UNFINISHED = 'unfinished';

/**
 * `NNNN-contract-MMMM-name.sql` removes what only versions without the migration MMMM use. Such a version is not ready
 * once it was applied. A version that has MMMM keeps serving.
 */
export const CONTRACT = '^\\d{4}-contract-(\\d{4})-';

/** The last version that has the single migrations which the baseline replaces. */
const LAST_VERSION_BEFORE_BASELINE = '0.2.0';

/**
 * Applies the files `NNNN-name.sql` of `folder` in order, each in its own transaction. `NNNN-baseline.sql` is the whole
 * schema up to that number, for new databases. Migrations only go forward: an applied file never changes, and a
 * database that is newer than this build is left alone. Servers that start at the same time wait for each other.
 */
export async function migrate(db: Database, folder: string): Promise<{ applied: string[]; newest: string }> {
  const [before, migrations] = await Promise.all([appliedTo(db), readMigrations(folder)]);
  const newest = migrations.at(-1)?.name ?? '';
  if (before?.every(({ is_free }) => is_free) && pendingOf(migrations, before).length === 0)
    return { applied: [], newest };
  const { client, release } = await dedicatedSession(db);
  let isDone = false;
  try {
    // A session lock, because it spans several transactions. After a failure it ends with the connection.
    await takeLock(client);
    const applied = await applyPending(client, migrations);
    await client.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK]);
    isDone = true;
    return { applied, newest };
  } finally {
    await release(isDone);
  }
}

/** Polls: a session that blocks on the lock has an open snapshot, and CREATE INDEX CONCURRENTLY would wait for it. */
async function takeLock(client: pg.ClientBase): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      ADVISORY_LOCK,
    ]);
    if (rows[0]?.taken) return;
    await sleep(100);
  }
}

/**
 * Nearly every start finds all migrations applied, with one read and without the lock. `is_free` is false while an
 * operator's command keeps servers away. Null if the database has no migrations.
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

type DedicatedSession = { client: pg.ClientBase; release: (isDone: boolean) => unknown };

async function dedicatedSession({ $client: pool, directUrl }: Database): Promise<DedicatedSession> {
  if (directUrl === undefined) {
    const client = await pool.connect();
    return { client, release: (isDone) => client.release(!isDone) };
  }
  const client = new pg.Client({ connectionString: directUrl });
  await client.connect();
  return { client, release: () => client.end() };
}

async function applyPending(client: pg.ClientBase, migrations: Migration[]): Promise<string[]> {
  await createMigrationsTable(client);
  const applied = await client.query<AppliedMigration>('SELECT name, sha256 FROM schema_migrations');
  const pending = pendingOf(migrations, applied.rows);
  for (const migration of pending) await apply(client, migration);
  return pending.map(({ name }) => name);
}

/** Creates the table that records the applied migrations. */
export async function createMigrationsTable(client: pg.ClientBase): Promise<void> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       name text PRIMARY KEY, sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
  );
}

/** Reads synchronously: many small asynchronous reads take several times as long. */
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
  // Git may check out other line endings, which is not a change.
  const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n');
  return { name, text, sha256: createHash('sha256').update(text).digest('hex') };
}

/** The migrations that `applied` lacks. Throws if this build cannot bring that database up to date. */
export function pendingOf(migrations: readonly Migration[], recorded: readonly AppliedMigration[]): Migration[] {
  if (recorded.some(({ name }) => name === UNFINISHED)) {
    throw new StartFailure(
      'A restore or move into this database did not finish: run the same vestra admin restore or move again, then start the server.',
    );
  }
  const applied = countBaseline(migrations, recorded);
  const known = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const { name, sha256 } of applied) {
    const migration = known.get(name);
    if (!migration) {
      throw new StartFailure(
        `The database has the migration ${name}, which this version of Vestra does not know: start the newer version that applied it.`,
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

/** Counts a database that applied the single migrations up to the baseline's number as one that has the baseline. */
export function countBaseline(
  migrations: readonly AppliedMigration[],
  applied: readonly AppliedMigration[],
): AppliedMigration[] {
  const baseline = migrations.find(({ name }) => name.endsWith('-baseline.sql'));
  if (!baseline) return [...applied];
  const number = baseline.name.slice(0, 4);
  const isReplaced = ({ name }: AppliedMigration) =>
    /^\d{4}-/.test(name) && name.slice(0, 4) <= number && name !== baseline.name;
  const replaced = applied.filter(isReplaced);
  if (replaced.length === 0) return [...applied];
  if (!replaced.some(({ name }) => name.startsWith(number))) {
    throw new StartFailure(
      `This database was last used by a version of Vestra before ${LAST_VERSION_BEFORE_BASELINE}: start version ${LAST_VERSION_BEFORE_BASELINE} on it once, then start this version.`,
    );
  }
  return [baseline, ...applied.filter((each) => !isReplaced(each))];
}

/** How often a migration that cannot get its locks is retried, with a pause of a second. */
const maxAttempts = 120;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Applies one migration. It waits at most two seconds for a lock, because all later statements on that table queue behind
 * a waiting migration, and then tries again.
 */
export async function apply(client: pg.ClientBase, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyOnce(client, migration);
    } catch (error) {
      const isLocked = error instanceof StartFailure && sqlState(error.cause) === LOCK_NOT_AVAILABLE;
      if (!isLocked || attempt === maxAttempts) throw error;
      await client.query('ROLLBACK');
      await sleep(1000);
    }
  }
}

async function applyOnce(client: pg.ClientBase, migration: Migration): Promise<void> {
  const { name, sha256, text } = migration;
  // PostgreSQL refuses CONCURRENTLY in a transaction. Such a file must be repeatable: it first drops what it creates.
  const isConcurrent = /^(CREATE|DROP) .*CONCURRENTLY/m.test(text);
  if (isConcurrent) {
    for (const { index, 0: statement } of text.matchAll(/\S[^;]*;/g)) await run(client, migration, statement, index);
  } else {
    await client.query(`BEGIN; SET LOCAL lock_timeout = '2s'`);
    await run(client, migration, text, 0);
  }
  await client.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [name, sha256]);
  if (!isConcurrent) await client.query('COMMIT');
}

async function run(client: pg.ClientBase, { name, text }: Migration, statement: string, start: number): Promise<void> {
  await client.query(statement).catch((error: pg.DatabaseError) => {
    const line = text.slice(0, start + Number(error.position ?? 0)).split('\n').length;
    const outcome = statement === text ? ' and was undone' : '';
    throw new StartFailure(`The migration ${name} failed at line ${line}${outcome}: ${error.message}.`, {
      cause: error,
    });
  });
}
