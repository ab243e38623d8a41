import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsRead } from '../../../../../tests/support/rows-read.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { one, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { itemEraser, markStarted } from './store.ts';
import type { BatchRow } from './tables.ts';

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

it('marking started items reads only those items, however large the batch is [BAT-551]', async () => {
  const batch = { org_id: newId('org'), mode: 'test', id: newId('bat') } as BatchRow;
  await run(
    db,
    sql`INSERT INTO batch_items (batch_id, item_index, org_id, mode, user_id, message, metadata)
      SELECT batch, n, ${batch.org_id}, ${batch.mode}, 'user_' || n, 'Go on.', '{}'
      FROM unnest(ARRAY[${batch.id}, 'batch_before', 'batch_after']) AS batch, generate_series(0, 299) AS n`,
  );
  await run(db, sql`ANALYZE batch_items`);
  const started = [3, 4, 150, 299].map((index) => ({
    item_index: index,
    conversation_id: newId('conv'),
    turn_id: newId('turn'),
    task_id: null,
  }));
  await transaction(db, async (tx) => {
    const read = await rowsRead(tx, 'batch_items', () => markStarted(tx, batch, started));
    expect(read).toBeLessThanOrEqual(8);
    const { running } = await one(
      tx,
      { running: count() },
      sql`SELECT count(*) AS running FROM batch_items WHERE status = 'running' AND batch_id = ${batch.id}`,
    );
    expect(running).toBe(4);
  });
});

it('erases the item of a user while it ends, and keeps its end', async () => {
  const tenant = { orgId: newId('org'), mode: 'test' as const };
  const batchId = newId('bat');
  const item = sql`batch_id = ${batchId}`;
  await run(
    db,
    sql`INSERT INTO batch_items (batch_id, item_index, org_id, mode, user_id, message, metadata, status, slot)
      VALUES (${batchId}, 0, ${tenant.orgId}, 'test', 'ada', 'Go on.', '{}', 'running', 'held')`,
  );
  const ending = await db.$client.connect();
  await ending.query('BEGIN');
  await ending.query(
    `UPDATE batch_items SET status = 'succeeded', slot = NULL, finished_at = now() WHERE batch_id = $1`,
    [batchId],
  );
  const jobs = { sendMany: async () => [] } as unknown as JobSender;
  const erased = transaction(db, (tx) => itemEraser(jobs)(tx, tenant, 'ada', () => {}));
  const waiting = sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(() => run(db, waiting)).toBe(1);
  await ending.query('COMMIT');
  ending.release();
  await erased;
  const shape = { status: text(), user_id: text().nullable(), message: text().nullable() };
  const left = await one(db, shape, sql`SELECT status, user_id, message FROM batch_items WHERE ${item}`);
  expect(left).toEqual({ status: 'succeeded', user_id: null, message: null });
});
