import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rowsOf } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { text } from '../db/table.ts';
import { type Installation, openInstallation } from './installation.fixture.ts';
import { hasJob, type Jobs } from './queue.ts';
import { takeExpiredRuns, takeRun } from './run-lease.ts';
import { type SweepSource, startSweeping, sweep } from './sweep.ts';
import { testCatalog } from './test-catalog.fixture.ts';

let installation: Installation;
let jobs: Jobs<typeof testCatalog>;

beforeEach(async () => {
  installation = await openInstallation();
  jobs = await installation.jobs(testCatalog);
  await installation.rows(sql`CREATE TABLE chores (text text PRIMARY KEY)`);
});
afterEach(() => installation.close());

/** Chores without a job. */
const chores: SweepSource<typeof testCatalog> = {
  name: 'chores',
  async find({ tx, jobs: sender, limit }) {
    const missing = await rowsOf(
      tx,
      { text: text() },
      sql`SELECT text FROM chores WHERE NOT ${hasJob<typeof testCatalog>('note', sql`text`)} ORDER BY text LIMIT ${limit}`,
    );
    await sender.sendMany(tx, 'note', missing);
    return missing.length;
  },
};

it('sends a job for each row that has none, once', async () => {
  await installation.rows(sql`INSERT INTO chores VALUES ('sweep'), ('wash')`);
  await jobs.send(installation.db, 'note', { text: 'wash' });
  await sweepNow([chores]);
  await sweepNow([chores]);
  expect(await sent()).toEqual(['sweep', 'wash']);
});

it('continues until everything is found', async () => {
  await installation.rows(sql`INSERT INTO chores SELECT 'chore ' || n FROM generate_series(1, 1201) n`);
  await sweepNow([chores]);
  expect(await sent()).toHaveLength(1201);
});

it('sends nothing twice when two processes sweep at once', async () => {
  await installation.rows(sql`INSERT INTO chores SELECT 'chore ' || n FROM generate_series(1, 50) n`);
  let looking = 0;
  let most = 0;
  const slow: SweepSource<typeof testCatalog> = {
    name: 'slow',
    async find(work) {
      most = Math.max(most, ++looking);
      await sleep(100);
      const found = await chores.find(work);
      await sleep(100);
      looking--;
      return found;
    },
  };
  await Promise.all([sweepNow([slow]), sweepNow([slow]), sweepNow([slow])]);
  expect(most).toBe(1);
  expect(await sent()).toHaveLength(50);
});

it('sends the job of a run whose owner is gone', async () => {
  await takeRun(installation.db, { runId: 'note_left', owner: 'dead', leaseMs: 0 });
  await takeRun(installation.db, { runId: 'note_held', owner: 'alive', leaseMs: 60_000 });
  const left: SweepSource<typeof testCatalog> = {
    name: 'left',
    async find({ tx, jobs: sender, limit }) {
      const runs = await takeExpiredRuns(tx, { prefix: 'note_', limit });
      await sender.sendMany(
        tx,
        'note',
        runs.map((text) => ({ text })),
      );
      return runs.length;
    },
  };
  await sweepNow([left]);
  await sweepNow([left]);
  expect(await sent()).toEqual(['note_left']);
});

it('continues after a source that fails, and writes nothing of that source', async () => {
  await installation.rows(sql`INSERT INTO chores VALUES ('sweep')`);
  const failing: SweepSource<typeof testCatalog> = {
    name: 'failing',
    async find({ tx, jobs: sender }) {
      await sender.send(tx, 'note', { text: 'half done' });
      throw new Error('no luck');
    },
  };
  await sweepNow([failing, chores]);
  expect(await sent()).toEqual(['sweep']);
  expect(installation.logged).toContainEqual(
    expect.objectContaining({ source: 'failing', msg: 'could not search for rows without a job' }),
  );
});

it('repeats until stopped', async () => {
  const sweeping = startSweeping({
    jobs,
    db: installation.db,
    sources: [chores],
    log: installation.log,
    everyMs: 20,
  });
  await installation.rows(sql`INSERT INTO chores VALUES ('later')`);
  await expect.poll(sent).toEqual(['later']);
  await sweeping.stop();
  await installation.rows(sql`INSERT INTO chores VALUES ('too late')`);
  await sleep(100);
  expect(await sent()).toEqual(['later']);
});

async function sweepNow(sources: SweepSource<typeof testCatalog>[]): Promise<void> {
  await sweep({ jobs, db: installation.db, sources, log: installation.log });
}

async function sent() {
  const rows = await installation.rows(sql`SELECT key FROM jobs ORDER BY 1`);
  return rows.map((row) => row.key);
}
