import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { CONTRACT, migrate, readMigrations } from './migrate.ts';
import { closeDatabase, type Database, openDatabase } from './pool.ts';
import { StartFailure } from './start-failure.ts';

let database: TestDatabase;
let db: Database;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  // The template holds the real migrations; these tests bring their own into an empty schema.
  await db.$client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  folder = await mkdtemp(join(tmpdir(), 'vestra-migrations-'));
});

afterEach(async () => {
  await closeDatabase(db);
  await database.drop();
  await rm(folder, { recursive: true });
});

const put = (name: string, text: string) => writeFile(join(folder, name), text);

async function recorded(): Promise<string[]> {
  const { rows } = await db.$client.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  return rows.map(({ name }) => name);
}

async function failureOf(work: Promise<unknown>): Promise<string> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(StartFailure);
  return (failure as StartFailure).message;
}

describe('the migrations of this version', () => {
  /** Applied by earlier versions, or known to remove what no earlier version uses. */
  const known = ['0128-baseline.sql', '0133-drop-append-delta.sql'];
  const removes =
    /\b(DROP (TABLE|COLUMN|FUNCTION|TYPE|VIEW)|RENAME (TO|COLUMN)|ALTER COLUMN \w+ (TYPE|SET NOT NULL))\b/i;

  test('name the version that they break if they remove something [OPS-735]', async () => {
    const files = readMigrations(join(import.meta.dirname, 'migrations'));
    const unnamed = (await files).filter(
      ({ name, text }) => removes.test(text.replaceAll(/^--.*$/gm, '')) && !new RegExp(CONTRACT).test(name),
    );
    expect(unnamed.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('migrate', () => {
  test('applies the files in order, once, with several statements each', async () => {
    await put('0002-fill.sql', `INSERT INTO things VALUES (1); INSERT INTO things VALUES (2);`);
    await put('0001-things.sql', 'CREATE TABLE things (id integer);');
    await put('notes.md', 'not a migration');

    expect(await migrate(db, folder)).toMatchObject({ applied: ['0001-things.sql', '0002-fill.sql'] });
    expect(await migrate(db, folder)).toMatchObject({ applied: [] });
    expect((await db.$client.query('SELECT count(*)::int AS count FROM things')).rows).toEqual([{ count: 2 }]);

    await put('0003-more.sql', 'INSERT INTO things VALUES (3);');
    expect(await migrate(db, folder)).toMatchObject({ applied: ['0003-more.sql'] });
    expect(await recorded()).toEqual(['0001-things.sql', '0002-fill.sql', '0003-more.sql']);
  });

  test('serialises servers that start at once', async () => {
    await put('0001-slow.sql', 'SELECT pg_sleep(0.2); CREATE TABLE once (id integer);');
    await put('0002-next.sql', 'INSERT INTO once VALUES (1);');
    const others = await Promise.all(
      [1, 2, 3].map(() => openDatabase({ connectionString: database.connectionString, max: 1 })),
    );
    const results = await Promise.all([db, ...others].map((each) => migrate(each, folder)));
    await Promise.all(others.map(closeDatabase));

    expect(results.flatMap(({ applied }) => applied).sort()).toEqual(['0001-slow.sql', '0002-next.sql']);
    expect((await db.$client.query('SELECT id FROM once')).rows).toEqual([{ id: 1 }]);
  });

  test('leaves no lock behind', async () => {
    await put('0001-things.sql', 'CREATE TABLE things (id integer);');
    await migrate(db, folder);
    const locks = await db.$client.query(`SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
      WHERE l.locktype = 'advisory' AND d.datname = current_database()`);
    expect(locks.rows).toEqual([]);
  });

  test('rolls back a file that fails, keeps earlier ones and reports the line', async () => {
    await put('0001-things.sql', 'CREATE TABLE things (id integer);');
    await put('0002-broken.sql', 'INSERT INTO things VALUES (1);\n\nSELECT nothing_here;\n');
    expect(await failureOf(migrate(db, folder))).toBe(
      'The migration 0002-broken.sql failed at line 3 and was undone: column "nothing_here" does not exist.',
    );
    expect(await recorded()).toEqual(['0001-things.sql']);
    expect((await db.$client.query('SELECT id FROM things')).rows).toEqual([]);

    await put('0002-broken.sql', 'INSERT INTO things VALUES (2);');
    expect(await migrate(db, folder)).toMatchObject({ applied: ['0002-broken.sql'] });
  });

  test('refuses a file that was changed after it was applied, but ignores line endings', async () => {
    await put('0001-things.sql', 'CREATE TABLE things\n(id integer);\n');
    await migrate(db, folder);
    await put('0001-things.sql', 'CREATE TABLE things\r\n(id integer);\r\n');
    expect(await migrate(db, folder)).toMatchObject({ applied: [] });
    await put('0001-things.sql', 'CREATE TABLE things\n(id bigint);\n');
    expect(await failureOf(migrate(db, folder))).toContain('0001-things.sql was changed after');
  });

  test('refuses a database that is newer than this build', async () => {
    await put('0001-things.sql', 'CREATE TABLE things (id integer);');
    await put('0002-later.sql', 'CREATE TABLE later (id integer);');
    await migrate(db, folder);
    await rm(join(folder, '0002-later.sql'));
    expect(await failureOf(migrate(db, folder))).toContain(
      'has the migration 0002-later.sql, which this version of Vestra does not know',
    );
  });

  test('refuses a file that comes before one that is applied', async () => {
    await put('0002-second.sql', 'CREATE TABLE second (id integer);');
    await migrate(db, folder);
    await put('0001-first.sql', 'CREATE TABLE first (id integer);');
    expect(await failureOf(migrate(db, folder))).toContain('0001-first.sql comes before 0002-second.sql');
  });

  test('refuses names out of order', async () => {
    await put('1-things.sql', 'SELECT 1;');
    await expect(migrate(db, folder)).rejects.toThrow('1-things.sql is not named NNNN-name.sql');
    await rm(join(folder, '1-things.sql'));
    await put('0001-a.sql', 'SELECT 1;');
    await put('0001-b.sql', 'SELECT 1;');
    await expect(migrate(db, folder)).rejects.toThrow('used twice');
  });

  test('continues after a server died during a migration', async () => {
    await put('0001-things.sql', 'CREATE TABLE things (id integer);');
    await put('0002-slow.sql', 'INSERT INTO things VALUES (1); SELECT pg_sleep(60);');
    const dying = migrate(db, folder).catch((error: unknown) => error);
    await endSleepingSession();
    expect(await dying).toBeInstanceOf(Error);

    await put('0002-slow.sql', 'INSERT INTO things VALUES (2);');
    expect(await migrate(db, folder)).toMatchObject({ applied: ['0002-slow.sql'] });
    expect((await db.$client.query('SELECT id FROM things')).rows).toEqual([{ id: 2 }]);
  });
});

async function endSleepingSession(): Promise<void> {
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  for (;;) {
    const { rowCount } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE wait_event = 'PgSleep' AND datname = current_database()`,
    );
    if (rowCount === 1) break;
  }
  await client.end();
}

describe('the baseline', () => {
  const record = async (...names: string[]) => {
    await db.$client.query('CREATE TABLE schema_migrations (name text PRIMARY KEY, sha256 text NOT NULL)');
    for (const name of names) await db.$client.query('INSERT INTO schema_migrations VALUES ($1, $2)', [name, 'x']);
  };

  beforeEach(async () => {
    await put('0003-baseline.sql', 'CREATE TABLE things (id integer);');
    await put('0004-more.sql', 'ALTER TABLE things ADD COLUMN name text;');
  });

  test('creates a new database [OPS-680]', async () => {
    expect(await migrate(db, folder)).toMatchObject({ applied: ['0003-baseline.sql', '0004-more.sql'] });
    expect(await migrate(db, folder)).toMatchObject({ applied: [] });
  });

  test('is not applied to a database that has the migrations it replaces [OPS-680]', async () => {
    await db.$client.query('CREATE TABLE things (id integer)');
    await record('0001-old.sql', '0003-last.sql');
    expect(await migrate(db, folder)).toMatchObject({ applied: ['0004-more.sql'] });
    expect(await migrate(db, folder)).toMatchObject({ applied: [] });
    expect(await recorded()).toEqual(['0001-old.sql', '0003-last.sql', '0004-more.sql']);
  });

  test('refuses a database with only some of the migrations it replaces [OPS-680]', async () => {
    await record('0001-old.sql', '0002-old.sql');
    expect(await failureOf(migrate(db, folder))).toBe(
      'This database was last used by a version of Vestra before 0.2.0: start version 0.2.0 on it once, then start this version.',
    );
    expect(await recorded()).toEqual(['0001-old.sql', '0002-old.sql']);
  });

  test('refuses a newer database also behind the migrations it replaces [OPS-680]', async () => {
    await record('0003-last.sql', '0005-future.sql');
    expect(await failureOf(migrate(db, folder))).toContain('has the migration 0005-future.sql');
  });
});

describe('a migration of a table in use', () => {
  beforeEach(async () => {
    await put('0001-things.sql', 'CREATE TABLE things (id integer);');
    await migrate(db, folder);
  });

  test('gives up its place in the lock queue and succeeds later [OPS-681]', async () => {
    const reader = new pg.Client({ connectionString: database.connectionString });
    await reader.connect();
    await reader.query('BEGIN; SELECT FROM things');
    await put('0002-name.sql', 'ALTER TABLE things ADD COLUMN name text;');
    const applying = migrate(db, folder);
    const other = new pg.Client({ connectionString: database.connectionString });
    await other.connect();
    await migrationWaits();
    // Queued behind the migration. It is answered although the reader never ends, because the migration gives up.
    await other.query('SELECT FROM things');
    await reader.query('COMMIT');
    expect(await applying).toMatchObject({ applied: ['0002-name.sql'] });
    await Promise.all([reader.end(), other.end()]);
  });

  test('builds an index while another server waits to start, and repeats a build that was cut off [OPS-681]', async () => {
    const client = new pg.Client({ connectionString: database.connectionString });
    await client.connect();
    await client.query('BEGIN; INSERT INTO things VALUES (1)');
    const text =
      'DROP INDEX CONCURRENTLY IF EXISTS things_by_id;\n\n-- A comment.\nCREATE UNIQUE INDEX CONCURRENTLY things_by_id ON things (id);\n';
    await put('0002-index.sql', text);
    const other = await openDatabase({ connectionString: database.connectionString, max: 1 });
    const both = Promise.all([migrate(db, folder), migrate(other, folder)]);
    await migrationWaits();
    await client.query('COMMIT');
    expect((await both).flatMap(({ applied }) => applied)).toEqual(['0002-index.sql']);

    await client.query(`DELETE FROM schema_migrations WHERE name LIKE '0002%'; INSERT INTO things VALUES (2)`);
    expect(await migrate(db, folder)).toMatchObject({ applied: ['0002-index.sql'] });
    const { rows } = await client.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'things_by_id'::regclass`);
    expect(rows).toEqual([{ indisvalid: true }]);
    await Promise.all([client.end(), closeDatabase(other)]);
  });

  test('names the line of an index that cannot be built [OPS-681]', async () => {
    await put(
      '0002-index.sql',
      '-- First.\nDROP INDEX CONCURRENTLY IF EXISTS i;\nCREATE INDEX CONCURRENTLY i ON nothing (id);\n',
    );
    expect(await failureOf(migrate(db, folder))).toBe(
      'The migration 0002-index.sql failed at line 3: relation "nothing" does not exist.',
    );
  });
});

/** Waits until a migration waits for a lock. */
async function migrationWaits(): Promise<void> {
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  for (;;) {
    const { rowCount } = await client.query(
      `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
         AND query ~ '(ALTER|CREATE)'`,
    );
    if (rowCount !== 0) break;
  }
  await client.end();
}

test('migrations after the baseline build indexes of existing tables concurrently [OPS-681]', async () => {
  const real = join(import.meta.dirname, 'migrations');
  const later = (await readdir(real)).filter((name) => name > '0128-baseline.sql');
  for (const name of later) {
    const text = (await readFile(join(real, name), 'utf8')).replaceAll(/^\s*--.*$/gm, '');
    const created = [...text.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+)/g)].map(([, table]) => table);
    for (const [statement, , table] of text.matchAll(/CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?\w+ ON (\w+)/g)) {
      if (!created.includes(table)) expect(`${name}: ${statement}`).toContain('CONCURRENTLY');
    }
  }
});
