import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from './pool.ts';
import {
  insert,
  insertMany,
  insertStatement,
  maybeOne,
  one,
  pipelined,
  plannedPerExecution,
  rowsOf,
  rowsStatement,
  run,
  runStatement,
  update,
} from './query.ts';
import { sql, sqlState } from './sql.ts';
import {
  boolean,
  bytes,
  columnsOf,
  count,
  day,
  float,
  integer,
  integerArray,
  json,
  jsonb,
  micros,
  moment,
  type NewRowOf,
  type RowOf,
  table,
  text,
  textArray,
} from './table.ts';
import { transaction } from './transaction.ts';

const things = table('things', {
  id: text(),
  kind: text<'big' | 'small'>().withDefault(),
  seq: count(),
  size: integer().nullable(),
  price: micros().nullable(),
  share: float().nullable(),
  is_open: boolean().withDefault(),
  data: jsonb<unknown>().nullable(),
  raw: json<unknown>().nullable(),
  tags: textArray().nullable(),
  numbers: integerArray().nullable(),
  hash: bytes().nullable(),
  due: day().nullable(),
  made_at: moment().withDefault(),
});

type Thing = RowOf<typeof things>;

let database: TestDatabase;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString, max: 2 });
  await run(
    db,
    sql`CREATE TABLE things (
      id text PRIMARY KEY, kind text NOT NULL DEFAULT 'small', seq bigint NOT NULL, size integer, price bigint,
      share float8, is_open boolean NOT NULL DEFAULT true, data jsonb, raw json, tags text[], numbers integer[],
      hash bytea, due date, made_at timestamptz NOT NULL DEFAULT now())`,
  );
});
beforeEach(() => run(db, sql`TRUNCATE things`));
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

const all = () => rowsOf(db, things, sql`SELECT ${columnsOf(things)} FROM ${things} ORDER BY seq`);
const ids = async () => (await all()).map(({ id }) => id);

const anyThing = fc.record<Thing>({
  id: fc.uuid(),
  kind: fc.constantFrom('big', 'small'),
  seq: fc.nat(2 ** 50),
  size: fc.option(fc.integer()),
  price: fc.option(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
  share: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)),
  is_open: fc.boolean(),
  data: fc.option(storable()),
  raw: fc.option(storable()),
  tags: fc.option(fc.array(plainText())),
  numbers: fc.option(fc.array(fc.integer())),
  hash: fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes))),
  due: fc.constantFrom(null, '2026-11-15', '0900-01-01'),
  made_at: fc.date({ min: new Date('0100-01-01'), max: new Date('12000-01-01'), noInvalidDate: true }),
});

function plainText() {
  return fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
}

/** Values that jsonb can store: no NUL, no -0. Includes top-level arrays, which must not become PostgreSQL arrays. */
function storable() {
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.integer(),
      fc.boolean(),
      plainText(),
      fc.array(tie('value')),
      fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('value')),
    ),
  }));
  return value;
}

describe('rows', () => {
  test('round-trip in single and multi-row inserts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(anyThing, { selector: ({ id }) => id, minLength: 1, maxLength: 5 }),
        async (rows) => {
          await run(db, sql`TRUNCATE things`);
          expect(await insertMany(db, things, rows)).toEqual(rows);
          await run(db, sql`TRUNCATE things`);
          for (const row of rows) expect(await insert(db, things, row)).toEqual(row);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('are typed by their table, and an insert may omit defaults', async () => {
    expectTypeOf<Thing['price']>().toEqualTypeOf<bigint | null>();
    expectTypeOf<Thing['kind']>().toEqualTypeOf<'big' | 'small'>();
    expectTypeOf<{ id: string; seq: number }>().toExtend<NewRowOf<typeof things>>();
    expectTypeOf<{ id: string }>().not.toExtend<NewRowOf<typeof things>>();
    const { made_at, ...row } = await insert(db, things, { id: 'a', seq: 1, size: undefined });
    expect(made_at).toBeInstanceOf(Date);
    expect(row).toMatchObject({ kind: 'small', is_open: true, price: null, data: null });
  });

  test('of another shape have the declared columns', async () => {
    await insertMany(db, things, [
      { id: 'a', seq: 1, price: 2n ** 60n },
      { id: 'b', seq: 2, price: 1n },
    ]);
    const shape = { total: micros(), many: count(), last: text().nullable() };
    const found = await one(
      db,
      shape,
      sql`SELECT sum(price)::int8 AS total, count(*) AS many, NULL AS last, 1 AS more FROM things`,
    );
    expect(found).toEqual({ total: 2n ** 60n + 1n, many: 2, last: null });
    await expect(one(db, shape, sql`SELECT 1 AS total, 2 AS many`)).rejects.toThrow('the column last');
    await expect(one(db, { id: text() }, sql`SELECT NULL AS id`)).rejects.toThrow('declared as not nullable');
    await expect(one(db, { id: text() }, sql`SELECT id FROM things WHERE false`)).rejects.toThrow('no row');
    expect(await maybeOne(db, { id: text() }, sql`SELECT id FROM things WHERE false`)).toBeUndefined();
    expect(await one(db, { id: text() }, sql`SELECT 'fine after these' AS id`)).toEqual({ id: 'fine after these' });
  });

  test('that exist are skipped or replaced on conflict', async () => {
    await insert(db, things, { id: 'a', seq: 1 });
    const rows = [
      { id: 'a', seq: 2 },
      { id: 'b', seq: 3, size: 4 },
    ];
    const fresh = await insertMany(db, things, rows, { onConflict: sql`DO NOTHING` });
    expect(fresh.map(({ id, size }) => [id, size])).toEqual([['b', 4]]);
    await insertMany(db, things, rows, { onConflict: sql`(id) DO UPDATE SET seq = excluded.seq + ${10}` });
    expect((await all()).map(({ id, seq }) => [id, seq])).toEqual([
      ['a', 12],
      ['b', 13],
    ]);
  });

  test('inserted together must have the same columns', async () => {
    const rows = [
      { id: 'a', seq: 1, is_open: false },
      { id: 'b', seq: 2 },
    ];
    await expect(insertMany(db, things, rows)).rejects.toThrow('must all have is_open');
    expect(await insertMany(db, things, [])).toEqual([]);
  });

  test('are updated by values and by SQL expressions', async () => {
    await insertMany(db, things, [
      { id: 'a', seq: 1 },
      { id: 'b', seq: 2 },
    ]);
    const changes = { seq: sql`seq + ${5}`, data: ['x'], size: undefined, kind: 'big' as const };
    const [changed, ...others] = await update(db, things, changes, sql`id = ${'a'}`);
    expect(changed).toMatchObject({ id: 'a', seq: 6, data: ['x'], kind: 'big', size: null });
    expect(others).toEqual([]);
    await expect(async () => update(db, things, { size: undefined }, sql`true`)).rejects.toThrow('changes no column');
    expect(await run(db, sql`UPDATE things SET size = 1 WHERE id = ANY(${['a', 'b', `c"\\{},'`]})`)).toBe(2);
  });

  test('accept JSON in declared columns and reject other objects', async () => {
    const shape = { data: jsonb<unknown>() };
    expect(await one(db, shape, sql`SELECT ${sql.json([1, { a: null }])}::jsonb AS data`)).toEqual({
      data: [1, { a: null }],
    });
    await expect(async () => one(db, shape, sql`SELECT ${{ a: 1 } as never}::jsonb AS data`)).rejects.toThrow(
      'sql.json',
    );
  });
});

describe('a pipeline', () => {
  const add = (id: string, seq = 1) => insertStatement(things, { id, seq });

  test('returns results in order, also for a repeated statement', async () => {
    const [first, touched, found, second] = await pipelined(db, [
      add('a', 1),
      runStatement(sql`UPDATE things SET size = 7`),
      rowsStatement({ id: text(), size: integer().nullable() }, sql`SELECT id, size FROM things`),
      add('b', 2),
    ]);
    expectTypeOf(first).toEqualTypeOf<Thing[]>();
    expectTypeOf(touched).toEqualTypeOf<number>();
    expect([first[0]?.id, touched, found, second[0]?.id]).toEqual(['a', 1, [{ id: 'a', size: 7 }], 'b']);
  });

  test('is one transaction: a failure rolls back the rest, and the connection stays usable', async () => {
    for (let round = 0; round < 3; round++) {
      const error = await pipelined(db, [
        add('a'),
        runStatement(sql`SELECT 1 / 0`),
        rowsStatement({ n: integer() }, sql`SELECT ${round}::int4 AS n, 'first seen in a group that fails' AS note`),
        add('b'),
      ]).catch((failure: unknown) => failure);
      expect(sqlState(error)).toBe('22012');
      expect(await ids()).toEqual([]);
    }
    expect(db.$client.totalCount).toBe(1);
    // All of these were in failed pipelines, so the server knows only some of them.
    await pipelined(db, [add('a'), runStatement(sql`SELECT 1 / 1`), add('b')]);
    expect(
      await rowsOf(db, { n: integer() }, sql`SELECT ${9}::int4 AS n, 'first seen in a group that fails' AS note`),
    ).toEqual([{ n: 9 }]);
    expect(await ids()).toEqual(['a', 'b']);
  });

  test('has the caller in the stack of its error', async () => {
    const whoAsked = async () => run(db, sql`SELECT 1 / 0`);
    const error = (await whoAsked().catch((failure: unknown) => failure)) as Error;
    expect(error.stack).toContain('query.test.ts');
  });

  test('is rolled back by a failure at the commit', async () => {
    await run(db, sql`CREATE TABLE IF NOT EXISTS parts (thing text REFERENCES things DEFERRABLE INITIALLY DEFERRED)`);
    const late = pipelined(db, [add('a'), runStatement(sql`INSERT INTO parts VALUES ('nowhere')`)]);
    expect(sqlState(await late.catch((failure: unknown) => failure))).toBe('23503');
    expect(await ids()).toEqual([]);
    await run(db, sql`DROP TABLE parts`);
  });

  test('is part of the open transaction', async () => {
    const failure = transaction(db, async (tx) => {
      await pipelined(tx, [add('a'), add('b')]);
      throw new Error('no');
    });
    await expect(failure).rejects.toThrow('no');
    expect(await ids()).toEqual([]);
    await transaction(db, (tx) => pipelined(tx, [add('a'), add('b', 2)]));
    expect(await ids()).toEqual(['a', 'b']);
  });

  test('is rolled back if the connection is lost, and the pool replaces it', async () => {
    const lost = pipelined(db, [add('a'), runStatement(sql`SELECT pg_terminate_backend(pg_backend_pid())`), add('b')]);
    expect(sqlState(await lost.catch((failure: unknown) => failure))).toBe('57P01');
    expect(await ids()).toEqual([]);
  });

  test('is rolled back if the socket is cut', async () => {
    const held = pipelined(db, [add('a'), runStatement(sql`SELECT pg_sleep(60)`), add('b')]);
    const outcome = held.catch((failure: unknown) => failure);
    const asleep = { pid: integer() };
    const sleeping = sql`SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`;
    while ((await rowsOf(db, asleep, sleeping)).length === 0);
    const clients = (db.$client as unknown as { _clients: { connection: { stream: { destroy(): void } } }[] })._clients;
    for (const { connection } of clients) connection.stream.destroy();
    expect(((await outcome) as Error).message).toContain('Connection terminated');
    await run(db, sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`);
    expect(await ids()).toEqual([]);
  });

  test('is repeated after a deadlock', async () => {
    await run(db, sql`CREATE SEQUENCE tries`);
    const collideOnce = sql`DO $$ BEGIN IF nextval('tries') = 1 THEN RAISE 'again' USING ERRCODE = '40P01'; END IF; END $$`;
    await pipelined(db, [add('a'), runStatement(collideOnce), add('b', 2)]);
    expect(await ids()).toEqual(['a', 'b']);
    expect(await one(db, { last_value: count() }, sql`SELECT last_value FROM tries`)).toEqual({ last_value: 2 });
  });

  test('is sent in one write', async () => {
    const client = await db.$client.connect();
    const { stream } = (client as unknown as { connection: { stream: NodeJS.WritableStream } }).connection;
    const socket = stream as unknown as { _writev(): void; _write(): void };
    const [together, single] = [vi.spyOn(socket, '_writev'), vi.spyOn(socket, '_write')];
    client.release();
    await pipelined(db, [add('a'), add('b'), runStatement(sql`UPDATE things SET size = 1`)]);
    expect([together.mock.calls.length, single.mock.calls.length]).toEqual([1, 0]);
    vi.restoreAllMocks();
  });
});

describe('statements', () => {
  test('are parsed once per connection, and the least recently used are closed', async () => {
    const single = await openDatabase({ connectionString: database.connectionString, max: 1 });
    const shape = { n: integer() };
    const often = () => one(single, shape, sql`SELECT 1 AS n, 'used often' AS note`);
    for (let n = 0; n < 300; n++) {
      await rowsOf(single, shape, sql`SELECT ${n}::int4 AS n, ${sql.raw(`'text ${n}'`)} AS note`);
      await often();
    }
    const { many, kept } = await one(
      single,
      { many: count(), kept: count() },
      sql`SELECT count(*) AS many, count(*) FILTER (WHERE statement LIKE '%used often%' AND generic_plans + custom_plans = 300) AS kept
          FROM pg_prepared_statements`,
    );
    expect(many).toBeLessThan(260);
    expect(kept).toBe(1);
    expect(await one(single, shape, sql`SELECT ${0}::int4 AS n, ${sql.raw(`'text 0'`)} AS note`)).toEqual({ n: 0 });
    await closeDatabase(single);
  });

  test('planned for their values are not prepared, also several in one pipeline', async () => {
    const single = await openDatabase({ connectionString: database.connectionString, max: 1 });
    const sum = (n: number) =>
      plannedPerExecution(rowsStatement({ sum: integer() }, sql`SELECT ${n}::int4 + 1 AS sum /* anew */`));
    const word = plannedPerExecution(rowsStatement({ word: text() }, sql`SELECT ${'a'} || 'b' AS word /* anew */`));
    for (let time = 0; time < 2; time++) {
      expect(await pipelined(single, [sum(1), word, sum(2)])).toEqual([[{ sum: 2 }], [{ word: 'ab' }], [{ sum: 3 }]]);
    }
    const { prepared } = await one(
      single,
      { prepared: count() },
      sql`SELECT count(*) AS prepared FROM pg_prepared_statements WHERE statement LIKE '%anew */'`,
    );
    expect(prepared).toBe(0);
    await closeDatabase(single);
  });

  test('keep working while a newer version adds a column', async () => {
    await insert(db, things, { id: 'a', seq: 1 });
    await all();
    const newer = new pg.Client({ connectionString: database.connectionString });
    await newer.connect();
    await newer.query('ALTER TABLE things ADD COLUMN later text');
    expect(await ids()).toEqual(['a']);
    await update(db, things, { seq: 2 }, sql`id = 'a'`);
    await newer.query('ALTER TABLE things DROP COLUMN later');
    await newer.end();
  });

  test('are rejected after the end of their transaction', async () => {
    const ended = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    await transaction(db, async (tx) => {
      late = ended.promise.then(() => run(tx, sql`SELECT 1`));
    });
    ended.resolve();
    await expect(late).rejects.toThrow('The transaction has ended');
  });
});
