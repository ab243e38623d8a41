import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { createGroupCommit, type GroupCommit, isStaleRowError, maxGroupSize } from './group-commit.ts';
import { closeDatabase, type Database, openDatabase } from './pool.ts';
import { rowsOf, rowsStatement, run, runStatement } from './query.ts';
import { sql } from './sql.ts';
import { integer, text } from './table.ts';
import { transaction } from './transaction.ts';

let database: TestDatabase;
let db: Database;
let write: GroupCommit;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  await run(db, sql`CREATE TABLE noted (key text PRIMARY KEY, count int NOT NULL)`);
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});
beforeEach(async () => {
  await run(db, sql`DELETE FROM noted`);
  write = createGroupCommit(db);
});

const noting = (key: string) =>
  rowsStatement(
    { key: text(), count: integer() },
    sql`INSERT INTO noted VALUES (${key}, 1) ON CONFLICT (key) DO UPDATE SET count = noted.count + 1 RETURNING key, count`,
  );
const failing = runStatement(sql`SELECT expect_that(false, 'anything')`);
const noted = () => rowsOf(db, { key: text(), count: integer() }, sql`SELECT key, count FROM noted ORDER BY key`);
/** Counts the pipelines that were sent. */
async function groupsOf(work: () => Promise<unknown>): Promise<number> {
  const taken = vi.spyOn(db.$client, 'connect');
  await work();
  const count = taken.mock.calls.length;
  taken.mockRestore();
  return count;
}

describe('concurrent writes', () => {
  it('share a transaction, and each gets its own results', async () => {
    const keys = Array.from({ length: 40 }, (_, at) => `key ${at}`);
    let answers: unknown[] = [];
    const groups = await groupsOf(async () => {
      answers = await Promise.all(keys.map((key) => write(key, [noting(key), runStatement(sql`SELECT 1`)])));
    });
    // The first alone, and the others in full groups.
    expect(groups).toBe(1 + Math.ceil(39 / maxGroupSize));
    expect(answers).toEqual(keys.map((key) => [[{ key, count: 1 }], 1]));
  });

  it('fail alone: the others are committed, and the failed one writes nothing', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e'];
    let ends: PromiseSettledResult<unknown>[] = [];
    const groups = await groupsOf(async () => {
      ends = await Promise.allSettled(
        keys.map((key) => write(key, key === 'c' ? [noting(key), failing] : [noting(key)])),
      );
    });
    // The first write, the group, the group without the failed write, and the failed write alone.
    expect(groups).toBe(4);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(isStaleRowError((ends[2] as PromiseRejectedResult).reason)).toBe(true);
    expect((await noted()).map(({ key, count }) => `${key}${count}`)).toEqual(['a1', 'b1', 'd1', 'e1']);
  });

  it('succeed however many others fail', async () => {
    const keys = Array.from({ length: 18 }, (_, at) => `key ${at}`);
    const isFailing = (at: number) => at % 3 === 1;
    const ends = await Promise.allSettled(
      keys.map((key, at) => write(key, isFailing(at) ? [noting(key), failing] : [noting(key)])),
    );
    expect(ends.map(({ status }) => status === 'rejected')).toEqual(keys.map((_, at) => isFailing(at)));
    expect((await noted()).map(({ count }) => count)).toEqual(Array(12).fill(1));
  });

  it('to one row run one after the other', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => write('same', [noting('same')])));
    expect(answers.map(([[row]]) => row?.count)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it('do not wait for one that is blocked by a row lock', async () => {
    await write('held', [noting('held')]);
    let waiting: Promise<unknown> = Promise.resolve();
    await transaction(db, async (tx) => {
      await run(tx, sql`SELECT FROM noted WHERE key = 'held' FOR UPDATE`);
      const other = createSharedWritesOutside(database.connectionString);
      waiting = other.run(['held', 'free']);
      await expect.poll(async () => (await rowsOf(tx, { key: text() }, sql`SELECT key FROM noted`)).length).toBe(2);
    });
    await waiting;
    expect((await noted()).map(({ key, count }) => `${key}${count}`)).toEqual(['free1', 'held2']);
  });

  it('fail if the connection is lost, because their result is unknown', async () => {
    const ending = runStatement(sql`SELECT pg_terminate_backend(pg_backend_pid())`);
    const ends = await Promise.allSettled([
      write('a', [noting('a')]),
      write('b', [noting('b'), ending]),
      write('c', [noting('c')]),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    await write('d', [noting('d')]);
    expect((await noted()).map(({ key }) => key)).toEqual(['a', 'd']);
  });
});

/** Writes like another process. */
function createSharedWritesOutside(connectionString: string) {
  return {
    async run(keys: readonly string[]) {
      const other = await openDatabase({ connectionString });
      const writes = createGroupCommit(other);
      await Promise.all(['first', ...keys].map((key) => writes(key, key === 'first' ? [] : [noting(key)])));
      await closeDatabase(other);
    },
  };
}
