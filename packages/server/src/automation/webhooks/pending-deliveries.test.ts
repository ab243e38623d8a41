import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { rowsOf, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { claimDue, findDue, listDeliveries, recordFailures, recordSuccesses } from './deliveries.ts';

let database: TestDatabase;
let db: Database;
const orgId = newId('org');
const mode = 'test';

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

const add = (endpointId: string, id: string, status: 'pending' | 'succeeded' | 'failed') =>
  run(
    db,
    sql`INSERT INTO webhook_deliveries (org_id, mode, endpoint_id, id, event_id, event_type, attempt, step, status, next_attempt_at, due_at)
      VALUES (${orgId}, ${mode}, ${endpointId}, ${id}, ${`evt_${id}`}, 'task.completed', 1, 1, ${status}, now(),
        CASE WHEN ${status} = 'pending' THEN '-infinity'::timestamptz END)`,
  );

/** Two made and two pending attempts. */
async function addFour(): Promise<string> {
  const endpointId = newId('whk');
  await add(endpointId, 'whd_001', 'succeeded');
  await add(endpointId, 'whd_002', 'pending');
  await add(endpointId, 'whd_003', 'failed');
  await add(endpointId, 'whd_004', 'pending');
  return endpointId;
}

const idsIn = async (table: string) =>
  (await rowsOf(db, { id: text() }, sql`SELECT id FROM ${sql.identifier(table)} ORDER BY id`)).map(({ id }) => id);

it('made attempts leave the pending table, which holds the retry of a failed one [WHD-551]', async () => {
  await run(db, sql`DELETE FROM webhook_deliveries`);
  const endpointId = await addFour();
  const claimed = await claimDue(db, [{ endpointId, room: 10 }], new Date());
  expect(claimed.map(({ id }) => id).sort()).toEqual(['whd_002', 'whd_004']);
  const outcome = (id: string) => ({
    ...({ org_id: orgId, mode, endpoint_id: endpointId, id } as const),
    status_code: 200,
    duration_ms: 5,
  });
  const soon = new Date(Date.now() + 60_000).toISOString();
  await transaction(db, (tx) => recordSuccesses(tx, [outcome('whd_002')]));
  await transaction(db, (tx) => recordFailures(tx, [{ ...outcome('whd_004'), error: 'no', next_attempt_at: soon }]));
  expect(await idsIn('webhook_deliveries_made')).toEqual(['whd_001', 'whd_002', 'whd_003', 'whd_004']);
  const waiting = await idsIn('webhook_deliveries_pending');
  expect(waiting).toHaveLength(1);
  const [next, ...made] = await listDeliveries(db, { orgId, mode }, endpointId, { limit: 10, after: null });
  expect(next).toMatchObject({ id: waiting[0], event_id: 'evt_whd_004', attempt: 2, step: 2, status: 'pending' });
  expect(made.map(({ id, status }) => [id, status])).toEqual([
    ['whd_004', 'failed'],
    ['whd_003', 'failed'],
    ['whd_002', 'succeeded'],
    ['whd_001', 'succeeded'],
  ]);
  expect(await findDue(db, new Date())).toEqual({ endpointIds: [], nextAt: new Date(soon) });
  // Recorded twice, as after an expired lease: the first record stays.
  await transaction(db, (tx) => recordFailures(tx, [{ ...outcome('whd_002'), error: 'late', next_attempt_at: soon }]));
  expect(await idsIn('webhook_deliveries_made')).toEqual(['whd_001', 'whd_002', 'whd_003', 'whd_004']);
  expect(await idsIn('webhook_deliveries_pending')).toEqual(waiting);
});
