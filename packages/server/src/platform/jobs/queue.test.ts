import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../db/pool.ts';
import { pipelined, rowsOf, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { text } from '../db/table.ts';
import { transaction } from '../db/transaction.ts';
import { type Installation, openInstallation } from './installation.fixture.ts';
import { backlogStatement, hasJob, type Jobs, newJobId } from './queue.ts';
import { recurringCatalog, testCatalog } from './test-catalog.fixture.ts';

let installation: Installation;
let jobs: Jobs<typeof testCatalog>;

beforeAll(async () => {
  installation = await openInstallation();
  jobs = await installation.jobs(testCatalog);
});
afterAll(() => installation.close());

describe('send', () => {
  it('creates the job when its row is committed [JOB-004]', async () => {
    const id = await transaction(installation.db, async (tx) => {
      await run(tx, sql`INSERT INTO writes (run, owner) VALUES ('committed', '')`);
      return jobs.send(tx, 'note', { text: 'committed' });
    });
    expect(await written('committed')).toBe(true);
    expect(await stored('note', 'committed')).toEqual([
      { id, payload: { text: 'committed' }, is_held: false, attempts: 0, failures: 0 },
    ]);
  });

  it('creates neither when the transaction rolls back [JOB-004]', async () => {
    const sending = transaction(installation.db, async (tx) => {
      await run(tx, sql`INSERT INTO writes (run, owner) VALUES ('rolled back', '')`);
      await jobs.send(tx, 'note', { text: 'rolled back' });
      throw new Error('changed its mind');
    });
    await expect(sending).rejects.toThrow('changed its mind');
    expect(await written('rolled back')).toBe(false);
    expect(await stored('note', 'rolled back')).toEqual([]);
  });

  it('rejects a payload that does not match the catalog', async () => {
    const payload = { text: 7 } as unknown as { text: string };
    await expect(jobs.send(installation.db, 'note', payload)).rejects.toThrow(z.ZodError);
    await expect(jobs.sendMany(installation.db, 'note', [{ text: 'fine' }, payload])).rejects.toThrow(z.ZodError);
    expect(await stored('note', 'fine')).toEqual([]);
  });

  it('derives the key and the share from the payload', async () => {
    await jobs.send(installation.db, 'note', { text: 'a key' });
    await jobs.send(installation.db, 'shared', { team: 'a-team', member: 'ann', item: 1 });
    await jobs.send(installation.db, 'shared', { team: 'a-team', member: 'ann', item: 2 });
    await jobs.send(installation.db, 'shared', { team: 'a-team', member: 'bob', item: 3 });
    expect(await stored('note', 'a key')).toHaveLength(1);
    const rows = await installation.rows(sql`SELECT key, share FROM jobs WHERE name = 'shared' ORDER BY id`);
    const [ann, again, bob] = rows.map(({ share }) => share as string);
    expect(rows.map(({ key }) => key)).toEqual([null, null, null]);
    expect([ann, bob]).toEqual(Array(2).fill(expect.stringMatching(/^a-team [0-9a-f]{16}$/)));
    expect([ann === again, ann === bob]).toEqual([true, false]);
  });

  it('sends many in one statement and in order', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `many ${index}`);
    const ids = await jobs.sendMany(
      installation.db,
      'note',
      texts.map((text) => ({ text })),
    );
    const rows = await installation.rows(sql`SELECT id, due_at FROM jobs WHERE key LIKE 'many %' ORDER BY due_at, id`);
    expect(rows.map((row) => row.id)).toEqual(ids);
    expect(new Set(rows.map((row) => String(row.due_at))).size).toBe(1);
    expect(await jobs.sendMany(installation.db, 'note', [])).toEqual([]);
  });

  it('refuses to send a recurring job', async () => {
    const recurring = await installation.jobs(recurringCatalog);
    await expect(recurring.send(installation.db, 'tick', {})).rejects.toThrow('is recurring');
  });
});

describe('hasJob', () => {
  it('is true for a key with a pending or running job of this name', async () => {
    await jobs.send(installation.db, 'note', { text: 'present' });
    const asked = sql`SELECT key FROM (VALUES ('present'), ('absent')) AS asked (key)`;
    const found = (name: 'note' | 'shared') =>
      installation.rows(sql`${asked} WHERE ${hasJob<typeof testCatalog>(name, sql`asked.key`)}`);
    expect(await found('note')).toEqual([{ key: 'present' }]);
    expect(await found('shared')).toEqual([]);
    await installation.rows(sql`UPDATE jobs SET given_up_at = now()`);
    expect(await found('note')).toEqual([]);
  });
});

describe('start', () => {
  it('creates one job per recurring entry, however many processes start', async () => {
    await Promise.all([installation.jobs(recurringCatalog), installation.jobs(recurringCatalog)]);
    const rows = await installation.rows(sql`SELECT is_held FROM jobs WHERE name = 'tick'`);
    expect(rows).toEqual([{ is_held: false }]);
  });
});

async function stored(name: string, key: string) {
  const rows = await installation.rows(
    sql`SELECT id, payload, is_held, attempts, failures FROM jobs WHERE name = ${name} AND key = ${key}`,
  );
  return rows;
}

async function written(run: string): Promise<boolean> {
  const rows = await installation.rows(sql`SELECT FROM writes WHERE run = ${run}`);
  return rows.length > 0;
}

it('job ids are UUIDs that sort in the order of creation, also within and beyond a millisecond', () => {
  const now = Date.now() + 1000;
  const ids = Array.from({ length: 10_000 }, () => newJobId(now));
  for (const id of [ids[0], ids[4096], ids[9999]]) expect(z.uuidv7().safeParse(id).success).toBe(true);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

it('a clock that goes back does not change the order of job ids', () => {
  const now = Date.now() + 5000;
  const before = newJobId(now);
  expect(newJobId(now - 3000) > before).toBe(true);
});

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

/** Inserts due jobs for a number of users. */
const add = (name: string, { users, each, seconds }: { users: number; each: number; seconds: number }) =>
  run(
    db,
    sql`INSERT INTO jobs (id, name, share, payload, due_at)
      SELECT gen_random_uuid(), ${name}, 'org_a ' || lpad(u::text, 6, '0'), '{}', now() - ${seconds} * interval '1 second'
      FROM generate_series(1, ${users}) AS u, generate_series(1, ${each})`,
  );

it('the backlog has the number of due jobs and the age of the oldest [OPS-210]', async () => {
  await add('few', { users: 1, each: 2, seconds: 5 });
  await add('few', { users: 3, each: 1, seconds: 60 });
  await add('few', { users: 2, each: 1, seconds: -60 });
  await add('later', { users: 1, each: 1, seconds: -5 });
  await run(db, sql`UPDATE jobs SET due_at = now() - interval '90 seconds' WHERE share = 'org_a 000003'`);
  const [found] = await pipelined(db, [backlogStatement(['few', 'later', 'none'])]);
  expect(found).toEqual([{ queue: 'few', waiting: 5, oldest_seconds: expect.any(Number) }]);
  expect(Math.round((found[0]?.oldest_seconds ?? 0) / 10)).toBe(9);
});

it('the backlog of a long queue is counted up to a limit and without a full scan [OPS-210]', async () => {
  await add('long', { users: 3_000, each: 5, seconds: 10 });
  await run(db, sql`ANALYZE jobs`);
  const statement = backlogStatement(['long']);
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
