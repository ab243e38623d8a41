import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../db/pool.ts';
import { run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { createRateLimiter } from './rate-limit.ts';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

it('counts a request whose old window is deleted while it is renewed [RATE-708]', async () => {
  await run(db, sql`INSERT INTO rate_windows (bucket, started_at, used) VALUES ('ada', now() - interval '1 day', 20)`);
  // Deletes as the sweep does, between the two statements of a renewal.
  await run(
    db,
    sql`CREATE FUNCTION sweep() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN DELETE FROM rate_windows WHERE started_at < now() - interval '1 hour'; RETURN NULL; END $$`,
  );
  await run(db, sql`CREATE TRIGGER sweep AFTER INSERT ON rate_windows FOR EACH STATEMENT EXECUTE FUNCTION sweep()`);
  const limiter = createRateLimiter(db);
  expect(await limiter.take('ada', 20)).toMatchObject({ allowed: true, limit: 20, left: 19 });
});
