import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { migrate } from './migrate.ts';
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

  test('lets servers that start at once wait for each other', async () => {
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

  test('undoes a file that fails, keeps those before it and names the line', async () => {
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

  test('refuses a file that was changed after it had been applied, but not for its line ends', async () => {
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
      'has the migration 0002-later.sql, which this Vestra does not know',
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

  test('goes on after a server died in the middle of one', async () => {
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

describe('settings that an org has for both modes', () => {
  const real = join(import.meta.dirname, 'migrations');

  test('become settings of each mode [TEN-206]', async () => {
    const names = (await readdir(real)).sort();
    const isBefore = (name: string) => name < '0051';
    for (const name of names.filter(isBefore)) await copyFile(join(real, name), join(folder, name));
    await migrate(db, folder);
    await db.$client.query(`
      INSERT INTO orgs (id, name, wrapped_data_key, allowed_embed_origins, require_user, memory_mode, memory_endpoint,
        org_daily_micros, user_daily_micros, alert_thresholds)
      VALUES ('org_1', 'One', '', '{https://shop.example}', true, 'customer', 'https://memory.example', 5, NULL, '{7}');
      INSERT INTO deployments (id, org_id, slug, name) VALUES ('dep_1', 'org_1', 'desk', 'desk');
      UPDATE orgs SET default_deployment = 'dep_1'`);
    for (const name of names) await copyFile(join(real, name), join(folder, name));
    await migrate(db, folder);
    const { rows } = await db.$client.query('SELECT * FROM org_settings ORDER BY mode');
    const settings = {
      org_id: 'org_1',
      allowed_embed_origins: ['https://shop.example'],
      allowed_return_urls: [],
      default_deployment: 'dep_1',
      require_user: true,
      memory_mode: 'customer',
      memory_endpoint: 'https://memory.example',
      org_daily_micros: '5',
      user_daily_micros: null,
      alert_thresholds: [7],
    };
    expect(rows).toMatchObject([
      { mode: 'live', ...settings },
      { mode: 'test', ...settings },
    ]);
  });
});

test('versions that were saved before they fixed content fix what stands there at the upgrade [VER-126]', async () => {
  const real = join(import.meta.dirname, 'migrations');
  const names = (await readdir(real)).sort();
  const first = names.indexOf('0042-whole-versions.sql');
  for (const name of names.slice(0, first)) await copyFile(join(real, name), join(folder, name));
  await migrate(db, folder);
  await db.$client.query(`
    INSERT INTO orgs (id, name, wrapped_data_key) VALUES ('org_a', 'A', '\\x00'), ('org_b', 'B', '\\x00');
    INSERT INTO notebooks (id, org_id, slug, name, description) VALUES
      ('nb_a', 'org_a', 'a', 'A', ''), ('nb_b', 'org_b', 'b', 'B', '');
    INSERT INTO documents (id, org_id, notebook_id, title, content_type, language, bytes, sha256)
      VALUES ('doc_a', 'org_a', 'nb_a', 't', 'text/plain', 'simple', 1, 'x');
    INSERT INTO skills (id, org_id, slug, description, hash) VALUES ('skl_a', 'org_a', 'returns', 'How.', 'h2');
    INSERT INTO skill_versions (skill_id, number, hash, parent_hash) VALUES ('skl_a', 1, 'h1', NULL), ('skl_a', 2, 'h2', 'h1');
    INSERT INTO deployments (id, org_id, slug, name, newest_version, draft_version, live_version)
      VALUES ('dep_a', 'org_a', 'd', 'D', 2, 2, 1);
    INSERT INTO deployment_versions (deployment_id, version, org_id, manifest, file_objects, changed, uses, created_by_type, created_by_id, created_by_name)
      VALUES ('dep_a', 1, 'org_a', '{}', '{}', '{}', '{nb_a,skl_a,mcp_x}', 'system', 's', 's'),
        ('dep_a', 2, 'org_a', '{}', '{}', '{}', '{nb_a,nb_gone,nb_b,skl_gone}', 'system', 's', 's')`);
  for (const name of names.slice(first)) await copyFile(join(real, name), join(folder, name));
  await migrate(db, folder);
  const rows = async (text: string) => (await db.$client.query(text)).rows;
  expect(await rows('SELECT version, content, missing FROM deployment_versions ORDER BY version')).toEqual([
    { version: 1, content: { notebooks: { nb_a: 1 }, skills: { skl_a: 'h2' } }, missing: [] },
    { version: 2, content: { notebooks: { nb_a: 1 }, skills: {} }, missing: ['nb_gone', 'nb_b', 'skl_gone'] },
  ]);
  expect(await rows('SELECT revisions @> 1 AS is_fixed, upper_inf(revisions) AS is_newest FROM documents')).toEqual([
    { is_fixed: true, is_newest: true },
  ]);
  expect(await rows(`SELECT name, description FROM skill_versions WHERE hash = 'h2'`)).toEqual([
    { name: 'returns', description: 'How.' },
  ]);
  expect(await rows('SELECT last_version, newest_version, live_version FROM deployments')).toEqual([
    { last_version: 2, newest_version: 2, live_version: 1 },
  ]);
});
