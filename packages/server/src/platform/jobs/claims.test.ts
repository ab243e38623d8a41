import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closeDatabase, openDatabase } from '../db/pool.ts';
import { rowsOf, run } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { numeric } from '../db/table.ts';
import { type Claim, createClaims } from './claims.ts';
import { type Installation, openInstallation } from './installation.fixture.ts';
import type { Jobs } from './queue.ts';
import { testCatalog } from './test-catalog.fixture.ts';

let installation: Installation;
let jobs: Jobs<typeof testCatalog>;

beforeAll(async () => {
  installation = await openInstallation();
  jobs = await installation.jobs(testCatalog);
});
afterAll(() => installation.close());

describe('a claim that was taken over', () => {
  const settlements: Record<string, (claim: Claim) => Promise<unknown>> = {
    finish: (claim) => jobs.claims.finish(claim),
    tryAgain: (claim) => jobs.claims.tryAgain(claim, 60),
    giveUp: (claim) => jobs.claims.giveUp(claim, 'The handler failed.'),
    handBack: (claim) => jobs.claims.handBack([claim]),
  };

  for (const [name, settle] of Object.entries(settlements)) {
    it(`changes nothing by ${name}`, async () => {
      const old = await sendAndTake(name);
      await jobs.claims.handBack([old]);
      const taken = await take();
      expect(taken.id).toBe(old.id);
      const before = await stored(old.id);

      await settle(old);
      expect(await stored(old.id)).toEqual(before);
      expect([...(await jobs.claims.beat([old]))]).toEqual([]);
      expect([...(await jobs.claims.beat([taken]))]).toEqual([taken.id]);
      await jobs.claims.finish(taken);
      expect(await stored(old.id)).toEqual([]);
    });
  }

  it('does not change a job that is pending again', async () => {
    const old = await sendAndTake('waits');
    await jobs.claims.handBack([old]);
    const before = await stored(old.id);
    await jobs.claims.tryAgain(old, 60);
    await jobs.claims.giveUp(old, 'The handler failed.');
    expect(await stored(old.id)).toEqual(before);
    await jobs.claims.finish(await take());
  });
});

it('concurrent ends are all recorded', async () => {
  await jobs.sendMany(
    installation.db,
    'note',
    Array.from({ length: 50 }, (_, index) => ({ text: `together ${index}` })),
  );
  const { claims } = await jobs.claims.take(
    'note',
    { ...testCatalog.note, concurrency: 50 },
    { count: 50, running: new Map() },
  );
  await Promise.all(claims.map((claim) => jobs.claims.finish(claim)));
  const rows = await installation.rows(sql`SELECT FROM jobs WHERE name = 'note'`);
  expect(rows).toEqual([]);
});

it('a claim reads no more rows than it could claim, however long the queue is', async () => {
  const of = (team: string, member: string, count: number) =>
    Array.from({ length: count }, (_, item) => ({ team, member, item }));
  await jobs.sendMany(installation.db, 'shared', [
    ...of('flood', 'ann', 2_000),
    ...Array.from({ length: 500 }, (_, at) => of('many', `user ${at}`, 1)).flat(),
    ...of('few', 'cora', 1),
  ]);
  await installation.rows(sql`ANALYZE jobs`);
  // A connection reports its row counts only after a flush.
  const db = await openDatabase({ connectionString: installation.connectionString, max: 1 });
  const read = async () => {
    await run(db, sql`SELECT pg_stat_force_next_flush()`);
    const rows = await rowsOf(
      db,
      { tuples: numeric() },
      sql`
      SELECT (SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'jobs')
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'jobs') AS tuples`,
    );
    return Number(rows[0]?.tuples);
  };
  try {
    const before = await read();
    const claims = createClaims({ db, leaseSeconds: 60 });
    const { claims: taken, isLeft } = await claims.take('shared', testCatalog.shared, { count: 5, running: new Map() });
    expect(isLeft).toBe(true);
    const teams = taken.map(({ payload }) => (payload as { team: string }).team);
    expect(teams.toSorted()).toEqual(['few', 'flood', 'flood', 'many', 'many']);
    expect((await read()) - before).toBeLessThan(1_500);
  } finally {
    await closeDatabase(db);
  }
});

async function sendAndTake(text: string): Promise<Claim> {
  await jobs.send(installation.db, 'note', { text });
  return take();
}

async function take(): Promise<Claim> {
  const {
    claims: [claim],
  } = await jobs.claims.take('note', testCatalog.note, { count: 1, running: new Map() });
  if (!claim) throw new Error('There was nothing to take.');
  return claim;
}

async function stored(id: string) {
  const rows = await installation.rows(
    sql`SELECT is_held, attempts, failures, due_at, given_up FROM jobs WHERE id = ${id}`,
  );
  return rows;
}
