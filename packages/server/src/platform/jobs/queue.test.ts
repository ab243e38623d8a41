import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { transaction } from '../db/transaction.ts';
import type { Jobs } from './queue.ts';
import { type Installation, openInstallation } from './testing/installation.ts';
import { recurringCatalog, testCatalog } from './testing/test-catalog.ts';

let installation: Installation;
let jobs: Jobs<typeof testCatalog>;

beforeAll(async () => {
  installation = await openInstallation();
  jobs = await installation.jobs(testCatalog);
});
afterAll(() => installation.close());

describe('send', () => {
  it('makes the job when the row it is about is committed [JOB-004]', async () => {
    const id = await transaction(installation.db, async (tx) => {
      await run(tx, sql`INSERT INTO writes (run, owner) VALUES ('committed', '')`);
      return jobs.send(tx, 'note', { text: 'committed' });
    });
    expect(await written('committed')).toBe(true);
    expect(await stored('note', 'committed')).toEqual([
      { id, payload: { text: 'committed' }, is_held: false, attempts: 0, failures: 0 },
    ]);
  });

  it('makes neither when the transaction rolls back [JOB-004]', async () => {
    const sending = transaction(installation.db, async (tx) => {
      await run(tx, sql`INSERT INTO writes (run, owner) VALUES ('rolled back', '')`);
      await jobs.send(tx, 'note', { text: 'rolled back' });
      throw new Error('changed its mind');
    });
    await expect(sending).rejects.toThrow('changed its mind');
    expect(await written('rolled back')).toBe(false);
    expect(await stored('note', 'rolled back')).toEqual([]);
  });

  it('refuses a payload that the row does not describe', async () => {
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

  it('does not send a job that recurs by itself', async () => {
    const recurring = await installation.jobs(recurringCatalog);
    await expect(recurring.send(installation.db, 'tick', {})).rejects.toThrow('recurs by itself');
  });
});

describe('keysWithJob', () => {
  it('names the keys that a job waits for', async () => {
    await jobs.send(installation.db, 'note', { text: 'present' });
    const keys = await jobs.keysWithJob(installation.db, 'note', ['present', 'absent']);
    expect([...keys]).toEqual(['present']);
    expect((await jobs.keysWithJob(installation.db, 'shared', ['present'])).size).toBe(0);
  });
});

describe('start', () => {
  it('keeps one job for each row that recurs, however many processes start', async () => {
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
