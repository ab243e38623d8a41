import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeDatabase, type Database, openDatabase } from '../db/pool.ts';
import { run as execute } from '../db/query.ts';
import { sql } from '../db/sql.ts';
import { transaction } from '../db/transaction.ts';
import { type Installation, openInstallation } from './installation.fixture.ts';
import {
  holdRun,
  type RunLease,
  RunTakenOver,
  releaseRun,
  renewLeases,
  takeExpiredRuns,
  takeRun,
} from './run-lease.ts';

let installation: Installation;
/** A second pool, like that of another process. */
let elsewhere: Database;

beforeAll(async () => {
  installation = await openInstallation();
  elsewhere = await openDatabase({ connectionString: installation.connectionString, max: 2 });
});
afterAll(async () => {
  await closeDatabase(elsewhere);
  await installation.close();
});

it('a takeover raises the epoch, and the previous owner writes nothing more', async () => {
  const first = await take('turn_takeover', 'first');
  await write(first);
  const second = await take('turn_takeover', 'second');
  expect(second.epoch).toBeGreaterThan(first.epoch);

  await expect(write(first)).rejects.toThrow(RunTakenOver);
  await write(second);
  expect(await writes('turn_takeover')).toEqual([first.epoch, second.epoch].map(String));
});

it('a takeover waits for the step that is being written', async () => {
  const run = await take('turn_waits', 'first');
  const order: string[] = [];
  let takeover: Promise<unknown> = Promise.resolve();
  await transaction(installation.db, async (tx) => {
    await holdRun(tx, run);
    takeover = takeRun(elsewhere, { runId: 'turn_waits', owner: 'second', leaseMs: 1000 }).then(() =>
      order.push('taken'),
    );
    await sleep(200);
    order.push('written');
  });
  await takeover;
  expect(order).toEqual(['written', 'taken']);
});

it('steps of two runs do not wait for each other', async () => {
  const [a, b] = [await take('turn_a', 'x'), await take('turn_b', 'x')];
  await transaction(installation.db, async (tx) => {
    await holdRun(tx, a);
    await transaction(elsewhere, (other) => holdRun(other, b));
  });
});

it('the renewal of leases does not block the steps of other runs', async () => {
  const ids = ['turn_renewed_a', 'turn_renewed_b', 'turn_renewed_c'];
  const runs = [
    await take('turn_renewed_a', 'x'),
    await take('turn_renewed_b', 'x'),
    await take('turn_renewed_c', 'x'),
  ];
  const [, busy] = runs as [RunLease, RunLease, RunLease];
  let renewal: ReturnType<typeof renewLeases> | undefined;
  await transaction(installation.db, async (tx) => {
    await holdRun(tx, busy);
    renewal = renewLeases(elsewhere, { runIds: [...ids, 'turn_of_nobody'], owner: 'x', leaseMs: 60_000 });
    await expect.poll(waiting).toBe(1);
    for (const run of runs) if (run !== busy) await transaction(elsewhere, (other) => holdRun(other, run));
  });
  const owned = (await renewal) ?? [];
  expect(owned.sort((one, other) => one.id.localeCompare(other.id))).toEqual(
    runs.map(({ runId, epoch }) => ({ id: runId, epoch })),
  );
});

it('a run that ended and is taken again never gets an epoch that was used', async () => {
  const first = await take('turn_again', 'first');
  await releaseRun(installation.db, first);
  await expect(write(first)).rejects.toThrow(RunTakenOver);
  const second = await take('turn_again', 'second');
  expect(second.epoch).toBeGreaterThan(first.epoch);
  await expect(write(first)).rejects.toThrow(RunTakenOver);
  await expect(releaseRun(installation.db, first)).rejects.toThrow(RunTakenOver);
  await write(second);
});

it('an expired run is found once, and its owner is fenced off', async () => {
  const expired = await take('sweep_expired', 'dead', 0);
  await take('sweep_alive', 'alive', 60_000);
  await take('other_expired', 'dead', 0);
  expect(await expiredOf('sweep_')).toEqual(['sweep_expired']);
  expect(await expiredOf('sweep_')).toEqual([]);
  await expect(write(expired)).rejects.toThrow(RunTakenOver);
  expect(await expiredOf('other_')).toEqual(['other_expired']);
});

it('an expired run keeps its owner when the transaction that found it rolls back', async () => {
  const run = await take('back_expired', 'slow', 0);
  await transaction(installation.db, async (tx) => {
    await takeExpiredRuns(tx, { prefix: 'back_', limit: 10 });
    throw new Error('changed its mind');
  }).catch(() => {});
  await write(run);
});

it('an expired run whose owner is writing is skipped', async () => {
  const run = await take('busy_expired', 'slow', 0);
  await transaction(installation.db, async (tx) => {
    await holdRun(tx, run);
    expect(await expiredOf('busy_', elsewhere)).toEqual([]);
  });
});

function take(runId: string, owner: string, leaseMs = 60_000): Promise<RunLease> {
  return takeRun(installation.db, { runId, owner, leaseMs });
}

/** A step that writes its epoch. */
async function write(run: RunLease): Promise<void> {
  await transaction(installation.db, async (tx) => {
    await holdRun(tx, run);
    await execute(tx, sql`INSERT INTO writes (run, owner) VALUES (${run.runId}, ${run.epoch})`);
  });
}

async function writes(run: string) {
  const rows = await installation.rows(sql`SELECT owner FROM writes WHERE run = ${run} ORDER BY owner::bigint`);
  return rows.map((row) => row.owner);
}

/** The number of statements that wait for a lock. */
const waiting = () =>
  execute(elsewhere, sql`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);

function expiredOf(prefix: string, db = installation.db): Promise<string[]> {
  return transaction(db, (tx) => takeExpiredRuns(tx, { prefix, limit: 10 }));
}
