import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { createDatabaseHealthCheck } from './database-health.ts';
import { closeDatabase, type Database, openDatabase } from './pool.ts';
import { run } from './query.ts';
import { sql } from './sql.ts';

let database: TestDatabase;
let db: Database;
let other: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString, max: 2 });
  other = new pg.Client({ connectionString: database.connectionString });
  await other.connect();
});
afterAll(async () => {
  await other.end();
  await closeDatabase(db);
  await database.drop();
});

const patience = { slowMs: 50, giveUpMs: 150 };
const oldest = '0001-';

it('reports a healthy database, also with migrations of a newer version [OPS-204]', async () => {
  const condition = await createDatabaseHealthCheck(db, oldest)();
  expect(condition).toEqual({ isUp: true, readOnly: null, behind: null, seconds: expect.any(Number) });
});

it('reports a database that lacks a migration [OPS-204]', async () => {
  const condition = await createDatabaseHealthCheck(db, '9999-later.sql')();
  expect(condition).toMatchObject({ behind: expect.stringContaining('lacks the migration 9999-later.sql') });
});

it.each([
  ['0158-later.sql', null],
  ['0158-contract-0149-drop-old.sql', null],
  ['0158-contract-0150-drop-old.sql', null],
  ['0158-contract-0151-drop-old.sql', 'too new for this version: 0158-contract-0151-drop-old.sql removed'],
])('reports whether a version of migration 0150 can serve after %s [OPS-734]', async (name, reason) => {
  const look = createDatabaseHealthCheck(db, '0150-runs-of-tests.sql');
  await other.query('INSERT INTO schema_migrations (name, sha256) VALUES ($1, $2)', [name, '']);
  const condition = await look();
  await other.query('DELETE FROM schema_migrations WHERE name = $1', [name]);
  expect(condition).toMatchObject({ isUp: true, behind: reason === null ? null : expect.stringContaining(reason) });
});

it('reports a read-only database [OPS-204]', async () => {
  await run(db, sql`SET default_transaction_read_only = on`);
  expect(await createDatabaseHealthCheck(db, oldest)()).toMatchObject({
    isUp: true,
    readOnly: 'The database is read-only.',
  });
  await run(db, sql`SET default_transaction_read_only = off`);
});

it('reports a slow database as down, sends one query at a time, and recovers [OPS-204]', async () => {
  const look = createDatabaseHealthCheck(db, oldest, patience);
  await other.query('BEGIN');
  await other.query('LOCK TABLE schema_migrations');
  expect(await Promise.all([look(), look(), look()])).toEqual(
    Array(3).fill({ isUp: false, reason: 'The database has not answered for 0.05 s.' }),
  );
  const { rows } = await other.query(
    "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_is_in_recovery%' AND wait_event_type = 'Lock'",
  );
  expect(rows).toHaveLength(1);
  await other.query('ROLLBACK');
  await expect.poll(async () => (await look()).isUp).toBe(true);
});

it('distinguishes busy connections from a slow database [OPS-204]', async () => {
  const busy = [run(db, sql`SELECT pg_sleep(0.4)`), run(db, sql`SELECT pg_sleep(0.4)`)];
  expect(await createDatabaseHealthCheck(db, oldest, patience)()).toEqual({
    isUp: false,
    reason: 'All 2 connections of this process to the database are busy.',
  });
  await Promise.all(busy);
});
