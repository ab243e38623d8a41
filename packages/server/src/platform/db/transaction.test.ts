import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, type Executor, openDatabase } from './pool.ts';
import { rowsOf, run, runStatement, sendLater } from './query.ts';
import { sql, sqlState } from './sql.ts';
import { integer, text } from './table.ts';
import { transaction } from './transaction.ts';

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString, max: 4 });
  await run(db, sql`CREATE TABLE counters (name text PRIMARY KEY, value integer NOT NULL)`);
});

beforeEach(async () => {
  await run(db, sql`DELETE FROM counters`);
  await run(db, sql`INSERT INTO counters VALUES ('left', 0), ('right', 0)`);
});

afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

const raise = (executor: Executor, name: string) =>
  run(executor, sql`UPDATE counters SET value = value + 1 WHERE name = ${name}`);

async function values(): Promise<Record<string, number>> {
  const rows = await rowsOf(db, { name: text(), value: integer() }, sql`SELECT name, value FROM counters`);
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

describe('the end of a transaction', () => {
  test('is a commit when the work returns', async () => {
    const result = await transaction(db, async (tx) => {
      await raise(tx, 'left');
      await raise(tx, 'right');
      return 'done';
    });
    expect(result).toBe('done');
    expect(await values()).toEqual({ left: 1, right: 1 });
  });

  test('is a rollback when the work throws, and the error is rethrown', async () => {
    const failure = new Error('no');
    const work = transaction(db, async (tx) => {
      await raise(tx, 'left');
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await values()).toEqual({ left: 0, right: 0 });
  });

  test('is an error when a failed statement was swallowed, because nothing was written', async () => {
    const work = transaction(db, async (tx) => {
      await raise(tx, 'left');
      await run(tx, sql`SELECT 1 / 0`).catch(() => {});
    });
    await expect(work).rejects.toThrow('was rolled back');
    expect(await values()).toEqual({ left: 0, right: 0 });
  });

  test('releases the connection, also after many failures', async () => {
    for (let round = 0; round < 10; round++) {
      await transaction(db, (tx) => run(tx, sql`SELECT 1 / 0`)).catch(() => {});
    }
    expect(db.$client.totalCount - db.$client.idleCount).toBe(0);
    expect(db.$client.waitingCount).toBe(0);
  });

  test('is the error of the statement when the connection is lost', async () => {
    const work = transaction(db, async (tx) => {
      await raise(tx, 'left');
      await run(tx, sql`SELECT pg_terminate_backend(pg_backend_pid())`);
    });
    const error = await work.catch((failure: unknown) => failure);
    expect(sqlState(error)).toBe('57P01');
    expect(await values()).toEqual({ left: 0, right: 0 });
  });

  test('refuses a statement that comes after it', async () => {
    let late: Promise<unknown> | undefined;
    await transaction(db, async (tx) => {
      late = sleep(30).then(() => raise(tx, 'left'));
      late.catch(() => {});
    });
    const error = (await late?.catch((failure: unknown) => failure)) as Error;
    expect(error.message).toContain('The transaction has ended');
    expect(await values()).toEqual({ left: 0, right: 0 });
  });
});

describe('a collision', () => {
  test('of two transactions that lock in opposite order is repeated until both commit', async () => {
    const firstLocks = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    let attempts = 0;
    const cross = (mine: 0 | 1, first: string, second: string) =>
      transaction(db, async (tx) => {
        attempts++;
        await raise(tx, first);
        firstLocks[mine].resolve();
        await firstLocks[mine === 0 ? 1 : 0].promise;
        await raise(tx, second);
      });
    await Promise.all([cross(0, 'left', 'right'), cross(1, 'right', 'left')]);
    expect(attempts).toBeGreaterThan(2);
    expect(await values()).toEqual({ left: 2, right: 2 });
  });

  test('is given up after three repetitions', async () => {
    let attempts = 0;
    const work = transaction(db, async (tx) => {
      attempts++;
      await run(tx, sql`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`);
    });
    expect(sqlState(await work.catch((error: unknown) => error))).toBe('40001');
    expect(attempts).toBe(4);
  });

  test('is the only error that is repeated', async () => {
    let attempts = 0;
    const work = transaction(db, async (tx) => {
      attempts++;
      await run(tx, sql`SELECT 1 / 0`);
    });
    await expect(work).rejects.toThrow();
    expect(attempts).toBe(1);
  });
});

describe('beside an open transaction the pool is refused', () => {
  const refusal = 'The database was used beside an open transaction';

  test('for another transaction', async () => {
    const work = transaction(db, () => transaction(db, (tx) => raise(tx, 'left')));
    await expect(work).rejects.toThrow(refusal);
    expect(await values()).toEqual({ left: 0, right: 0 });
  });

  test('for a single query', async () => {
    const error = await transaction(db, () => raise(db, 'left')).catch((failure: unknown) => failure as Error);
    expect((error as Error).message).toContain(refusal);
  });

  test('but not for concurrent callers', async () => {
    const inside = Promise.withResolvers<void>();
    const outside = Promise.withResolvers<void>();
    const work = transaction(db, async (tx) => {
      inside.resolve();
      await outside.promise;
      await raise(tx, 'left');
    });
    await inside.promise;
    await raise(db, 'right');
    outside.resolve();
    await work;
    expect(await values()).toEqual({ left: 1, right: 1 });
  });

  test('but not for background work after its end', async () => {
    const ended = Promise.withResolvers<void>();
    let after: Promise<unknown> | undefined;
    await transaction(db, async () => {
      after = ended.promise.then(() => raise(db, 'left'));
    });
    ended.resolve();
    await after;
    expect(await values()).toEqual({ left: 1, right: 0 });
  });

  test('but not for the pool of another database', async () => {
    const other = await openDatabase({ connectionString: database.connectionString, max: 1 });
    await transaction(db, () => transaction(other, (tx) => raise(tx, 'right')));
    await closeDatabase(other);
    expect(await values()).toEqual({ left: 0, right: 1 });
  });
});

describe('statements that are left for later', () => {
  const raiseLater = (executor: Executor, name: string) =>
    sendLater(executor, [runStatement(sql`UPDATE counters SET value = value + 1 WHERE name = ${name}`)]);

  test('are seen by the next statement, and those behind it are committed', async () => {
    const seen = await transaction(db, async (tx) => {
      await raiseLater(tx, 'left');
      const [row] = await rowsOf(tx, { value: integer() }, sql`SELECT value FROM counters WHERE name = 'left'`);
      await raiseLater(tx, 'right');
      return row?.value;
    });
    expect(seen).toBe(1);
    expect(await values()).toEqual({ left: 1, right: 1 });
  });

  test('are committed if the work sends nothing else', async () => {
    await transaction(db, async (tx) => {
      await raiseLater(tx, 'left');
      await raiseLater(tx, 'right');
    });
    expect(await values()).toEqual({ left: 1, right: 1 });
  });

  test('cost no extra write: they go with the next statement, and with the COMMIT', async () => {
    const writes = vi.spyOn(pg.Connection.prototype, 'sync');
    await transaction(db, async (tx) => {
      await raiseLater(tx, 'left');
      await raise(tx, 'left');
      await raiseLater(tx, 'right');
      await raiseLater(tx, 'right');
    });
    const count = writes.mock.calls.length;
    writes.mockRestore();
    expect([count, await values()]).toEqual([2, { left: 2, right: 2 }]);
  });

  test('are not written if the work throws', async () => {
    const failure = new Error('no');
    const work = transaction(db, async (tx) => {
      await raiseLater(tx, 'left');
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await values()).toEqual({ left: 0, right: 0 });
  });

  test.each([true, false])(
    'fail the transaction and leave a usable connection (others before: %s)',
    async (isBegun) => {
      const small = await openDatabase({ connectionString: database.connectionString, max: 1 });
      const work = transaction(small, async (tx) => {
        if (isBegun) await raise(tx, 'left');
        await raiseLater(tx, 'right');
        await sendLater(tx, [runStatement(sql`SELECT 1 / 0`)]);
      });
      expect(sqlState(await work.catch((error: unknown) => error))).toBe('22012');
      await raise(small, 'left');
      await closeDatabase(small);
      expect(await values()).toEqual({ left: 1, right: 0 });
    },
  );

  test('are written again after a collision', async () => {
    let attempts = 0;
    await transaction(db, async (tx) => {
      await raiseLater(tx, 'left');
      if (++attempts === 1) await run(tx, sql`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`);
    });
    expect([attempts, await values()]).toEqual([2, { left: 1, right: 0 }]);
  });
});
