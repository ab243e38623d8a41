import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@vestra/contract/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { insertOrg } from '../account/orgs/store.ts';
import { createLog } from '../main/log.ts';
import { type Line, openLine } from '../platform/db/listen.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { createProcessNews, type ProcessNews } from '../platform/db/process-news.ts';
import { run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { transaction } from '../platform/db/transaction.ts';
import { makePlace, removePlace } from './machine/computer-folder.ts';
import { type Awake, type Computers, createComputers, HeldElsewhere } from './running-computer.ts';
import { findComputer, forgetPrepared, keepAwake, listPrepared, type Owner, recordPrepared } from './store.ts';

const log = createLog('silent');
let database: TestDatabase;
let db: Database;
let dataDir: string;
let orgId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-awake-'));
  orgId = newId('org');
  await insertOrg(db, { id: orgId, name: 'Org', wrapped_data_key: Buffer.from('x') });
});
afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const running: { computers: Computers; processNews: ProcessNews; line: Line }[] = [];
afterEach(async () => {
  for (const { computers, processNews, line } of running.splice(0)) {
    await computers.stop();
    await processNews.stop();
    await line.close();
  }
});

/** The computers of one process among several. */
async function newProcess(
  settings: Parameters<typeof createComputers>[0]['settings'] = {},
  database_ = db,
  address: string | null = 'http://127.0.0.1:1',
  disk = dataDir,
): Promise<Computers> {
  const line = await openLine({ connectionString: database.connectionString, log });
  const processNews = await createProcessNews({ db, line, log });
  const computers = createComputers({
    db: database_,
    log,
    processNews,
    address: () => address,
    makePlace: (number) => makePlace(disk, number),
    removePlace: (number) => removePlace(disk, number),
    settings: { renewEveryMs: 50, handOverMs: 10_000, ...settings },
  });
  running.push({ computers, processNews, line });
  return computers;
}

let users = 0;
const newOwner = (): Owner => ({ orgId, mode: 'test', userId: `user-${++users}` });
const isAwake = async (owner: Owner) => (await findComputer(db, owner))?.isAwake ?? null;

/** Something that goes on until it is told to end. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('a computer', () => {
  it('is its owner’s alone, and the same each time it wakes [CMP-001, CMP-007]', async () => {
    const computers = await newProcess();
    const owners: Owner[] = [newOwner(), newOwner(), { orgId, mode: 'test', userId: null }];
    const live: Owner = { ...(owners[0] as Owner), mode: 'live' };
    const homes = await Promise.all(
      [...owners, live].map((owner) => computers.use(owner, async ({ place }) => place.home)),
    );
    expect(new Set(homes).size).toBe(4);
    await computers.sleep(owners[0] as Owner);
    expect(await isAwake(owners[0] as Owner)).toBe(false);
    expect(await computers.use(owners[0] as Owner, async ({ place }) => place.home)).toBe(homes[0]);
  });

  it('is awake while it is used, and sleeps a while after [CMP-007]', async () => {
    const computers = await newProcess({ idleMs: 100 });
    const owner = newOwner();
    const ended: number[] = [];
    computers.beforeSleep(async ({ number }) => void ended.push(number));
    const work = gate();
    const used = computers.use(owner, async ({ signal, number }) => {
      await work.opened;
      return { wasCut: signal.aborted, number };
    });
    await expect.poll(() => computers.ifAwake(owner)).not.toBeNull();
    const awake = computers.ifAwake(owner);
    work.open();
    const { wasCut, number } = await used;
    expect(wasCut).toBe(false);
    await expect.poll(() => isAwake(owner), { timeout: 10_000 }).toBe(false);
    expect([ended, computers.ifAwake(owner), awake?.signal.aborted]).toEqual([[number], null, true]);
  });

  it('stays awake as long as somebody wants it to, in whichever process that was said [USR-026, USR-027]', async () => {
    const computers = await newProcess({ idleMs: 1 });
    const owner = newOwner();
    const other = newOwner();
    await computers.use(owner, () => transaction(db, (tx) => keepAwake(tx, owner, 60_000)));
    // By the time that the other is found asleep, the first has been looked at too.
    for (let time = 0; time < 3; time++) {
      await computers.use(other, async () => {});
      await expect.poll(() => isAwake(other), { timeout: 10_000 }).toBe(false);
    }
    expect(await isAwake(owner)).toBe(true);
    // A shorter time takes nothing away.
    await transaction(db, (tx) => keepAwake(tx, owner, 1));
    await computers.use(other, async () => {});
    await expect.poll(() => isAwake(other), { timeout: 10_000 }).toBe(false);
    expect(await isAwake(owner)).toBe(true);
  });

  it('that is awake in one process is held by no other: whoever wakes it there hears of it at once [MANY-001]', async () => {
    const [one, two] = [await newProcess(), await newProcess()];
    const owner = newOwner();
    await one.use(owner, async () => {});
    await expect(two.use(owner, async () => {})).rejects.toBeInstanceOf(HeldElsewhere);
    expect([one.ifAwake(owner), two.ifAwake(owner)]).toEqual([expect.anything(), null]);
    // Once it sleeps there, it wakes here.
    await one.sleep(owner);
    expect(await two.use(owner, async () => 'here')).toBe('here');
  });

  it('that a process holds which others have no way to is unavailable [CMP-008]', async () => {
    const [one, two] = [await newProcess({}, db, null), await newProcess({ handOverMs: 300 })];
    const owner = newOwner();
    await one.use(owner, async () => {});
    await expect(two.use(owner, async () => {})).rejects.toMatchObject({ code: 'computer_unavailable' });
  });

  it('of a process that is gone is taken over, and what it still does or writes comes to nothing [MANY-002]', async () => {
    const dead = await newProcess({ renewEveryMs: 600_000, leaseMs: 100 });
    const owner = newOwner();
    const item = { kind: 'setup' as const, key: 'k', fingerprint: 'f' };
    const begun = gate();
    const frozen = dead.use(owner, async (computer) => {
      begun.open();
      await once(computer.signal, 'abort');
      return computer;
    });
    // Awake for as long as its short lease: whoever looked now and then might never see it.
    await begun.opened;
    const alive = await newProcess();
    const taken = () => alive.use(owner, async ({ signal }) => signal.aborted).catch(() => 'held elsewhere');
    await expect.poll(taken).toBe(false);
    expect(dead.ifAwake(owner)).toBeNull();
    await dead.sleep(owner);
    const old = await frozen;
    await expect(recordPrepared(db, old, [item])).rejects.toMatchObject({ code: 'computer_unavailable' });
    expect([await listPrepared(db, owner), await isAwake(owner)]).toEqual([[], true]);
    await alive.use(owner, (computer) => recordPrepared(db, computer, [item]));
    await forgetPrepared(db, old, item);
    expect(await listPrepared(db, owner)).toEqual([item]);
  });

  it('ends here when the lease is over, also where the database gives no answer at all [MANY-003]', async () => {
    let isSilent = false;
    const silent = { connect: () => new Promise(() => {}) };
    const failing = new Proxy(db, {
      get: (target, name) => (isSilent && name === '$client' ? silent : Reflect.get(target, name, target)),
    });
    const computers = await newProcess({ leaseMs: 2_000 }, failing);
    const owner = newOwner();
    const cut = computers.use(owner, async ({ signal }) => once(signal, 'abort').then(() => 'cut'));
    await expect.poll(() => computers.ifAwake(owner)).not.toBeNull();
    isSilent = true;
    expect(await cut).toBe('cut');
    expect(computers.ifAwake(owner)).toBeNull();
    running.splice(
      running.findIndex((each) => each.computers === computers),
      1,
    );
    const another = await newProcess();
    await expect.poll(() => another.use(owner, async () => 'elsewhere').catch(() => null)).toBe('elsewhere');
  });

  it('that was lost to another process ends here by itself', async () => {
    const computers = await newProcess();
    const owner = newOwner();
    const cut = computers.use(
      owner,
      ({ signal }) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('cut'))),
    );
    await expect.poll(() => computers.ifAwake(owner)).not.toBeNull();
    const taken = sql`UPDATE computers SET held_by = 'another' WHERE user_key = ${owner.userId}`;
    expect(await run(db, taken)).toBe(1);
    expect(await cut).toBe('cut');
  });

  it('ends here when the database has been away for longer than the lease', async () => {
    let isAway = false;
    const away = { connect: () => Promise.reject(new Error('away')) };
    const failing = new Proxy(db, {
      get: (target, name) => (isAway && name === '$client' ? away : Reflect.get(target, name, target)),
    });
    const computers = await newProcess({ leaseMs: 2_000 }, failing);
    const owner = newOwner();
    const cut = computers.use(
      owner,
      ({ signal }) => new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('cut'))),
    );
    await expect.poll(() => computers.ifAwake(owner)).not.toBeNull();
    isAway = true;
    expect(await cut).toBe('cut');
    isAway = false;
    expect(await computers.use(owner, async () => 'awake again')).toBe('awake again');
  });

  it('sleeps with its process', async () => {
    const computers = await newProcess();
    const owner = newOwner();
    await computers.use(owner, async () => {});
    await computers.stop();
    expect(await isAwake(owner)).toBe(false);
    await expect(computers.use(owner, async () => {})).rejects.toMatchObject({ code: 'computer_unavailable' });
  });
});

describe('an erasure', () => {
  it('ends what runs, wherever it runs, and leaves neither folder nor row', async () => {
    const [one, two] = [await newProcess(), await newProcess()];
    const owner = newOwner();
    let home = '';
    const cut = two.use(owner, ({ place, signal }) => {
      home = place.home;
      return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('cut')));
    });
    await expect.poll(() => two.ifAwake(owner)).not.toBeNull();
    await recordPrepared(db, two.ifAwake(owner) as Awake, [{ kind: 'setup', key: 'k', fingerprint: 'f' }]);
    expect(existsSync(home)).toBe(true);
    await one.erase(owner);
    expect(await cut).toBe('cut');
    expect([existsSync(home), await findComputer(db, owner), await listPrepared(db, owner)]).toEqual([false, null, []]);
    // Once more, as after a crash, and of one that never was.
    await one.erase(owner);
    await one.erase(newOwner());
  });

  it('leaves no folder on any machine on which the computer was ever awake [CMP-282]', async () => {
    const disks = await Promise.all(['one', 'two', 'three'].map((name) => mkdtemp(join(dataDir, name))));
    const [one, two, three] = (await Promise.all(disks.map((disk) => newProcess({}, db, undefined, disk)))) as [
      Computers,
      Computers,
      Computers,
    ];
    const [owner, other] = [newOwner(), newOwner()];
    const homes: string[] = [];
    for (const computers of [one, two]) {
      homes.push(await computers.use(owner, async ({ place }) => place.home));
      await computers.sleep(owner);
    }
    const kept = await one.use(other, async ({ place }) => place.home);
    expect(homes.map((home) => existsSync(home))).toEqual([true, true]);
    await three.erase(owner);
    await expect.poll(() => homes.map((home) => existsSync(home)), { timeout: 10_000 }).toEqual([false, false]);
    expect(existsSync(kept)).toBe(true);
  });
});
