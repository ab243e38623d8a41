import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { StartFailure } from '../db/start-failure.ts';
import { transaction } from '../db/transaction.ts';
import { job } from './catalog.ts';
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
      await tx.execute(sql`INSERT INTO writes (run, owner) VALUES ('committed', '')`);
      return jobs.send(tx, 'note', { text: 'committed' });
    });
    expect(await written('committed')).toBe(true);
    expect(await stored('note', 'committed')).toEqual([
      { id, data: { payload: { text: 'committed' }, failures: 0 }, state: 'created' },
    ]);
  });

  it('makes neither when the transaction rolls back [JOB-004]', async () => {
    const sending = transaction(installation.db, async (tx) => {
      await tx.execute(sql`INSERT INTO writes (run, owner) VALUES ('rolled back', '')`);
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
    await jobs.send(installation.db, 'ordered', { list: 'a list', item: 1 });
    await jobs.send(installation.db, 'shared', { team: 'a-team', member: 'ann', item: 1 });
    const { rows } = await installation.db.execute(
      sql`SELECT singleton_key, group_id FROM jobs.job WHERE name IN ('ordered', 'shared') ORDER BY name DESC`,
    );
    expect(rows).toEqual([
      { singleton_key: null, group_id: 'a-team  ann' },
      { singleton_key: 'a list', group_id: null },
    ]);
  });

  it('sends many in one statement and in order', async () => {
    const texts = Array.from({ length: 300 }, (_, index) => `many ${index}`);
    const ids = await jobs.sendMany(
      installation.db,
      'note',
      texts.map((text) => ({ text })),
    );
    const { rows } = await installation.db.execute(
      sql`SELECT id, created_on FROM jobs.job WHERE singleton_key LIKE 'many %' ORDER BY created_on, id`,
    );
    expect(rows.map((row) => row.id)).toEqual(ids);
    expect(new Set(rows.map((row) => String(row.created_on))).size).toBe(1);
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
    expect((await jobs.keysWithJob(installation.db, 'ordered', ['present'])).size).toBe(0);
  });
});

describe('start', () => {
  it('gives every queue what pg-boss would otherwise leave out', async () => {
    const { rows } = await installation.db.execute(sql`
      SELECT policy, notify, expire_seconds, heartbeat_seconds, retry_limit, retry_delay, retry_backoff
      FROM jobs.queue WHERE name = 'fenced'`);
    expect(rows).toEqual([
      {
        policy: 'standard',
        notify: true,
        expire_seconds: 600,
        heartbeat_seconds: 10,
        retry_limit: 1_000_000_000,
        retry_delay: 0,
        retry_backoff: false,
      },
    ]);
  });

  it('applies what has changed in a row since', async () => {
    await installation.jobs({ note: { ...testCatalog.note, expireInSeconds: 1234 } });
    const { rows } = await installation.db.execute(sql`SELECT expire_seconds FROM jobs.queue WHERE name = 'note'`);
    expect(rows).toEqual([{ expire_seconds: 1234 }]);
  });

  it('says so when the policy of a queue would have to change', async () => {
    const row = testCatalog.note;
    const changed = { note: job({ ...row, policy: 'recurring', everySeconds: 5 }) };
    await expect(installation.jobs(changed)).rejects.toThrow(StartFailure);
  });

  it('keeps one job for each row that recurs, however many processes start', async () => {
    await Promise.all([installation.jobs(recurringCatalog), installation.jobs(recurringCatalog)]);
    const { rows } = await installation.db.execute(sql`SELECT state FROM jobs.job WHERE name = 'tick'`);
    expect(rows).toEqual([{ state: 'created' }]);
  });
});

async function stored(name: string, key: string) {
  const { rows } = await installation.db.execute(
    sql`SELECT id, data, state FROM jobs.job WHERE name = ${name} AND singleton_key = ${key}`,
  );
  return rows;
}

async function written(run: string): Promise<boolean> {
  const { rows } = await installation.db.execute(sql`SELECT FROM writes WHERE run = ${run}`);
  return rows.length > 0;
}
