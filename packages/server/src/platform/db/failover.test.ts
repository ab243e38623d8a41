import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { createLog } from '../../main/log.ts';
import { type CuttableLink, linkTo } from './cuttable-link.fixture.ts';
import { dataFolder, query, start } from './embedded/embedded.fixture.ts';
import { closeDatabase, type Database, onNewPrimary, openDatabase } from './pool.ts';
import { rowsOf, run } from './query.ts';
import { sql } from './sql.ts';
import { integer } from './table.ts';
import { transaction } from './transaction.ts';
import { isDatabaseUnreachable } from './unreachable.ts';

const write = (db: Database, id: number) => run(db, sql`INSERT INTO written VALUES (${id})`);
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

async function openOver(link: CuttableLink, log = createLog('silent')): Promise<Database> {
  const db = await openDatabase({ connectionString: link.url, log });
  onTestFinished(() => link.close());
  return db;
}

/** A primary and a detached copy. After its promotion both accept writes. */
async function twoServers() {
  const settings = { wal_level: 'replica', hot_standby: 'on', fsync: 'off' };
  const [home, copy] = [await dataFolder(), await dataFolder()];
  const before = await start(home, [], { settings });
  await query(before, 'CREATE TABLE written (id integer PRIMARY KEY)');
  await before.stop();
  execFileSync('cp', ['-a', `${home}/.`, copy]);
  writeFileSync(join(copy, 'postgres', 'standby.signal'), '', { mode: 0o666 });
  const old = await start(home, [], { settings });
  const standby = await start(copy, [], { settings });
  onTestFinished(async () => {
    await old.stop();
    await standby.stop();
  });
  return { old, standby, promote: () => query(standby, 'SELECT pg_promote()') };
}

describe('after a failover', () => {
  it('a process that has seen the new primary writes nothing to the old one [FOV-001, FOV-002]', async () => {
    const { old, standby, promote } = await twoServers();
    const link = await linkTo(old.connectionString);
    const db = await openOver(link);
    const heard = vi.fn();
    onNewPrimary(db, heard);
    const hasNotHeard = await openOver(await linkTo(old.connectionString));
    const leadAllTo = async (server: { connectionString: string }) => {
      link.cut();
      while (db.$client.totalCount > 0) await sleep(5);
      link.leadTo(server.connectionString);
      link.restore();
    };
    await write(db, 1);

    // Callers treat a standby as an unreachable database.
    await leadAllTo(standby);
    expect(isDatabaseUnreachable(await failureOf(write(db, 2)))).toBe(true);

    // One connection is in a transaction and one is idle when a third sees the new primary.
    link.leadTo(old.connectionString);
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const open = failureOf(
      transaction(db, async (tx) => {
        await run(tx, sql`INSERT INTO written VALUES (3)`);
        begun.resolve();
        await goOn.promise;
      }),
    );
    await begun.promise;
    const idle = await db.$client.connect();
    await promote();
    expect(heard).not.toHaveBeenCalled();
    link.leadTo(standby.connectionString);
    const fresh = await db.$client.connect();
    expect(heard).toHaveBeenCalledOnce();
    idle.release();
    fresh.release();
    goOn.resolve();
    expect(isDatabaseUnreachable(await open)).toBe(true);
    await Promise.all([write(db, 4), write(db, 5), write(db, 6)]);

    // The old primary still accepts writes from clients that have not seen the new one.
    await leadAllTo(old);
    expect(isDatabaseUnreachable(await failureOf(write(db, 7)))).toBe(true);
    await write(hasNotHeard, 8);
    const idsIn = async (server: { connectionString: string }) =>
      (await query(server, 'SELECT id FROM written ORDER BY id')).map(({ id }) => id);
    expect([await idsIn(old), await idsIn(standby)]).toEqual([
      [1, 8],
      [4, 5, 6],
    ]);
  });
});

describe('a database outage', () => {
  afterEach(() => vi.useRealTimers());

  it('is logged once at its start and once at its end [FOV-003]', async () => {
    const { connectionString, drop } = await createTestDatabase();
    const link = await linkTo(connectionString);
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line).msg) });
    const db = await openOver(link, log);
    link.cut();
    for (let tries = 0; tries < 3; tries++) {
      const error = await failureOf(run(db, sql`SELECT 1`));
      log.error({ err: error }, 'something that asks again and again has failed');
    }
    link.restore();
    await run(db, sql`SELECT 1`);
    expect(lines).toEqual(['the database is unreachable; waiting for it', 'the database is reachable again']);
    await closeDatabase(db);
    await drop();
  });

  it('without a closed connection is detected by the probe and does not block the shutdown [FOV-004]', async () => {
    const { connectionString, drop } = await createTestDatabase();
    const link = await linkTo(connectionString);
    const db = await openOver(link);
    await run(db, sql`SELECT 1`);
    link.silence();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const asked = failureOf(run(db, sql`SELECT 1`));
    await vi.advanceTimersByTimeAsync(59_000);
    expect(await Promise.race([asked, 'still waits'])).toBe('still waits');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(isDatabaseUnreachable(await asked)).toBe(true);
    vi.useRealTimers();
    await run(db, sql`SELECT 1`);
    link.silence();
    await closeDatabase(db);
    await link.close();
    await drop();
  });

  it('is distinguished from a long statement, which may finish [FOV-280]', async () => {
    const { connectionString, drop } = await createTestDatabase();
    const link = await linkTo(connectionString);
    const db = await openDatabase({ connectionString: link.url, silenceMs: 40 });
    const slept = rowsOf(db, { id: integer() }, sql`SELECT 1 AS id FROM (SELECT pg_sleep(0.5)) AS long`);
    expect(await slept).toEqual([{ id: 1 }]);
    // A transaction that waits for a lock is not cut either.
    const held = await db.$client.connect();
    await held.query('SELECT pg_advisory_lock(280)');
    const waits = transaction(db, (tx) => run(tx, sql`SELECT pg_advisory_xact_lock(280)`));
    await sleep(300);
    await held.query('SELECT pg_advisory_unlock(280)');
    held.release();
    await waits;
    link.silence();
    expect(isDatabaseUnreachable(await failureOf(run(db, sql`SELECT 1`)))).toBe(true);
    await closeDatabase(db);
    await link.close();
    await drop();
  });
});
