import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../db/pool.ts';
import { pipelined, rowsOf, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { text } from '../db/table.ts';
import { readingBacklog } from './backlog.ts';

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

/** So many jobs of each of so many users, which became due so many seconds ago. */
const add = (name: string, { users, each, seconds }: { users: number; each: number; seconds: number }) =>
  run(
    db,
    sql`INSERT INTO jobs (id, name, share, payload, due_at)
      SELECT gen_random_uuid(), ${name}, 'org_a ' || lpad(u::text, 6, '0'), '{}', now() - ${seconds} * interval '1 second'
      FROM generate_series(1, ${users}) AS u, generate_series(1, ${each})`,
  );

it('what waits in a queue is counted, and how long the first of it has waited [OPS-210]', async () => {
  await add('few', { users: 1, each: 2, seconds: 5 });
  await add('few', { users: 3, each: 1, seconds: 60 });
  await add('few', { users: 2, each: 1, seconds: -60 });
  await add('later', { users: 1, each: 1, seconds: -5 });
  await run(db, sql`UPDATE jobs SET due_at = now() - interval '90 seconds' WHERE share = 'org_a 000003'`);
  const [found] = await pipelined(db, [readingBacklog(['few', 'later', 'none'])]);
  expect(found).toEqual([{ queue: 'few', waiting: 5, oldest_seconds: expect.any(Number) }]);
  expect(Math.round((found[0]?.oldest_seconds ?? 0) / 10)).toBe(9);
});

it('of a long queue no more is counted than tells that it is long, and no table is read through [OPS-210]', async () => {
  await add('long', { users: 3_000, each: 5, seconds: 10 });
  await run(db, sql`ANALYZE jobs`);
  const statement = readingBacklog(['long']);
  const [found] = await pipelined(db, [statement]);
  expect(found).toMatchObject([{ queue: 'long', waiting: 10_000 }]);
  const plan = await rowsOf(db, { 'QUERY PLAN': text() }, sql`EXPLAIN ${statement.sql}`);
  const lines = plan.map((row) => row['QUERY PLAN']);
  expect(lines.filter((line) => line.includes(' on jobs')).length).toBeGreaterThan(0);
  const ofOldest = lines.slice(lines.findIndex((line) => line.includes('Recursive Union')));
  expect(ofOldest.filter((line) => / on jobs/.test(line) && !/Index (Only )?Scan using jobs_due/.test(line))).toEqual(
    [],
  );
});
