import { newId } from '@vestra/contract/ids';
import { asc, eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../../db/pool.ts';
import { transaction } from '../../db/transaction.ts';
import { appendLog } from './append-log.ts';
import { conversationEvents } from './tables.ts';

let database: TestDatabase;
let db: Database;
const orgId = newId('org');

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  await db.execute(sql`INSERT INTO orgs (id, name, wrapped_data_key) VALUES (${orgId}, 'A', '\\x00')`);
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

async function makeConversation(): Promise<string> {
  const id = newId('conv');
  await db.execute(sql`INSERT INTO conversations (id, org_id, mode) VALUES (${id}, ${orgId}, 'test')`);
  return id;
}

const logOf = (conversationId: string) =>
  db
    .select()
    .from(conversationEvents)
    .where(eq(conversationEvents.conversation_id, conversationId))
    .orderBy(asc(conversationEvents.seq));

const delta = (text: string) => ({ type: 'reply.delta' as const, data: { text } });

describe('the log of a conversation', () => {
  it('counts from 1 in the order given, and says where it is', async () => {
    const id = await makeConversation();
    expect(await transaction(db, (tx) => appendLog(tx, id, [delta('a'), delta('b')]))).toBe(2);
    expect(await transaction(db, (tx) => appendLog(tx, id, [delta('c')]))).toBe(3);
    const log = await logOf(id);
    expect(log.map(({ seq, data }) => [seq, data.text])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
  });

  it('has no gap and no number twice when many write at once and some fail', async () => {
    const id = await makeConversation();
    const writes = Array.from({ length: 40 }, (_, at) =>
      transaction(db, async (tx) => {
        await appendLog(tx, id, [delta(`${at}`), delta(`${at}`)]);
        if (at % 5 === 0) throw new Error('rolled back on purpose');
      }).catch(() => {}),
    );
    await Promise.all(writes);
    const log = await logOf(id);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 64 }, (_, at) => at + 1));
  });

  it('is never seen growing behind a reader: what is seen after seq n comes after n', async () => {
    const id = await makeConversation();
    let isOver = false;
    const reading = (async () => {
      let seen = 0;
      while (!isOver) {
        const log = await logOf(id);
        expect(log.length).toBe(log.at(-1)?.seq ?? 0);
        expect(log.length).toBeGreaterThanOrEqual(seen);
        seen = log.length;
      }
    })();
    await Promise.all(
      Array.from({ length: 60 }, (_, at) => transaction(db, (tx) => appendLog(tx, id, [delta(`${at}`)]))),
    );
    isOver = true;
    await reading;
  });

  it('of nobody is refused', async () => {
    await expect(transaction(db, (tx) => appendLog(tx, newId('conv'), [delta('a')]))).rejects.toThrow('has no row');
  });
});
