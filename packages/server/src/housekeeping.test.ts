import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from './db/pool.ts';
import { rowsOf, run } from './db/query.ts';
import { sql } from './db/sql.ts';
import { text } from './db/table.ts';
import { housekeeping } from './housekeeping.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

it('removes sessions 30 days after their end, and none before', async () => {
  await run(db, sql`INSERT INTO orgs (id, name, wrapped_data_key) VALUES ('org_1', 'One', '')`);
  const add = (id: string, days: number) =>
    run(
      db,
      sql`
      INSERT INTO sessions (id, org_id, mode, token_hash, chat, screen, memory, driver, expires_at)
      VALUES (${id}, 'org_1', 'test', convert_to(${id}, 'UTF8'), true, 'false', false, 'bash',
        now() - ${days} * interval '1 day')`,
    );
  await add('ses_old', 30.1);
  await add('ses_young', 29.9);
  await add('ses_live', -0.01);
  await housekeeping(db);
  const rows = await rowsOf(db, { id: text() }, sql`SELECT id FROM sessions ORDER BY id`);
  expect(rows).toEqual([{ id: 'ses_live' }, { id: 'ses_young' }]);
});
