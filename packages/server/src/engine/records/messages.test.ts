import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rowsRead } from '../../../../../tests/support/rows-read.ts';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { attachmentsOf } from './messages.ts';

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

it('finds the attachments of a long conversation without reading its other messages [CONV-551]', async () => {
  const conversationId = newId('conv');
  const file = { file_id: newId('file'), name: 'plan.pdf' };
  await run(
    db,
    sql`INSERT INTO messages (conversation_id, id, turn_id, turn_ordinal, role, text, attachments)
      SELECT ${conversationId}, 'msg_' || n, 'turn_' || n, n, 'user', 'Go on.',
        CASE WHEN n % 1000 = 0 THEN ${sql.json([file])}::jsonb ELSE '[]' END
      FROM generate_series(1, 3000) AS n`,
  );
  await run(db, sql`ANALYZE messages`);
  await transaction(db, async (tx) => {
    const read = await rowsRead(tx, 'messages', async () => {
      expect(await attachmentsOf(tx, conversationId)).toEqual([[file], [file], [file]]);
    });
    expect(read).toBeLessThanOrEqual(6);
  });
});
