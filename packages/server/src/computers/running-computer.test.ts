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
import { type ClusterNotifications, createClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import { type NotifyListener, openNotifyListener } from '../platform/db/notify-listener.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { transaction } from '../platform/db/transaction.ts';
import { makeComputerFolders, removeComputerFolders } from './machine/computer-folder.ts';
import { type Computers, createComputers, HeldElsewhere, type RunningComputer } from './running-computer.ts';
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

const running: { computers: Computers; processNews: ClusterNotifications; line: NotifyListener }[] = [];
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
  const line = await openNotifyListener({ connectionString: database.connectionString, log });
  const processNews = await createClusterNotifications({ db, line, log });
  const computers = createComputers({
    db: database_,
    log,
    processNews,
    address: () => address,
    makeFolders: (number) => makeComputerFolders(disk, number),
    removeFolders: (number) => removeComputerFolders(disk, number),
    settings: { renewEveryMs: 50, handOverMs: 10_000, ...settings },
  });
  running.push({ computers, processNews, line });
  return computers;
}

let users = 0;
const newOwner = (): Owner => ({ orgId, mode: 'test', userId: `user-${++users}` });
const isAwake = async (owner: Owner) => (await findComputer(db, owner))?.isAwake ?? null;

/** Work that runs until the test ends it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe('a computer', () => {
  it('belongs to one owner and is the same each time it wakes [CMP-001, CMP-007]', async () => {
    const computers = await newProcess();
    const owners: Owner[] = [newOwner(), newOwner(), { orgId, mode: 'test', userId: null }];
    const live: Owner = { ...(owners[0] as Owner), mode: 'live' };
    const homes = await Promise.all(
      [...owners, live].map((owner) => computers.use(owner, async ({ folders }) => folders.home)),
    );
    expect(new Set(homes).size).toBe(4);
    await computers.sleep(owners[0] as Owner);
    expect(await isAwake(owners[0] as Owner)).toBe(false);
    expect(await computers.use(owners[0] as Owner, async ({ folders }) => folders.home)).toBe(homes[0]);
  });

  it('is awake while in use, and sleeps a while later [CMP-007]', async () => {
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

  it('stays awake as long as requested in any process [USR-026, USR-027]', async () => {
    const computers = await newProcess({ idleMs: 1 });
    const owner = newOwner();
    const other = newOwner();
    await computers.use(owner, () => transaction(db, (tx) => keepAwake(tx, owner, 60_000)));
    // When the other one is found asleep, the first has been checked too.
    for (let time = 0; time < 3; time++) {
      await computers.use(other, async () => {});
      await expect.poll(() => isAwake(other), { timeout: 10_000 }).toBe(false);
    }
    expect(await isAwake(owner)).toBe(true);
    // A shorter time does not reduce it.
    await transaction(db, (tx) => keepAwake(tx, owner, 1));
    await computers.use(other, async () => {});
    await expect.poll(() => isAwake(other), { timeout: 10_000 }).toBe(false);
    expect(await isAwake(owner)).toBe(true);
  });

  it('runs in one process only: waking it in another one fails at once [MANY-001]', async () => {
    const [one, two] = [await newProcess(), await newProcess()];
    const owner = newOwner();
    await one.use(owner, async () => {});
    await expect(two.use(owner, async () => {})).rejects.toBeInstanceOf(HeldElsewhere);
    expect([one.ifAwake(owner), two.ifAwake(owner)]).toEqual([expect.anything(), null]);
    // Once it sleeps there, it wakes here.
    await one.sleep(owner);
    expect(await two.use(owner, async () => 'here')).toBe('here');
  });

  it('is unavailable if its process has no address [CMP-008]', async () => {
    const [one, two] = [await newProcess({}, db, null), await newProcess({ handOverMs: 300 })];
    const owner = newOwner();
    await one.use(owner, async () => {});
    await expect(two.use(owner, async () => {})).rejects.toMatchObject({ code: 'computer_unavailable' });
  });

  it('is taken over from a dead process, whose later work and writes have no effect [MANY-002]', async () => {
    const dead = await newProcess({ renewEveryMs: 600_000, leaseMs: 100 });
    const owner = newOwner();
    const item = { kind: 'setup' as const, key: 'k', fingerprint: 'f' };
    const begun = gate();
    const frozen = dead.use(owner, async (computer) => {
      begun.open();
      await once(computer.signal, 'abort');
      return computer;
    });
    // Awake only for its short lease: polling might never see it.
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

  it('ends with its lease, also if the database does not respond [MANY-003]', async () => {
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

  it('ends here after another process took it over', async () => {
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

  it('ends here if the database was unreachable for longer than the lease', async () => {
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

  it('sleeps when its process stops', async () => {
    const computers = await newProcess();
    const owner = newOwner();
    await computers.use(owner, async () => {});
    await computers.stop();
    expect(await isAwake(owner)).toBe(false);
    await expect(computers.use(owner, async () => {})).rejects.toMatchObject({ code: 'computer_unavailable' });
  });
});

describe('an erasure', () => {
  it('ends the computer in any process, and removes its folder and row', async () => {
    const [one, two] = [await newProcess(), await newProcess()];
    const owner = newOwner();
    let home = '';
    const cut = two.use(owner, ({ folders, signal }) => {
      home = folders.home;
      return new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('cut')));
    });
    await expect.poll(() => two.ifAwake(owner)).not.toBeNull();
    await recordPrepared(db, two.ifAwake(owner) as RunningComputer, [{ kind: 'setup', key: 'k', fingerprint: 'f' }]);
    expect(existsSync(home)).toBe(true);
    await one.erase(owner);
    expect(await cut).toBe('cut');
    expect([existsSync(home), await findComputer(db, owner), await listPrepared(db, owner)]).toEqual([false, null, []]);
    // Again, as after a crash, and for a computer that never existed.
    await one.erase(owner);
    await one.erase(newOwner());
  });

  it('removes the folder on every machine where the computer was awake [CMP-282]', async () => {
    const disks = await Promise.all(['one', 'two', 'three'].map((name) => mkdtemp(join(dataDir, name))));
    const [one, two, three] = (await Promise.all(disks.map((disk) => newProcess({}, db, undefined, disk)))) as [
      Computers,
      Computers,
      Computers,
    ];
    const [owner, other] = [newOwner(), newOwner()];
    const homes: string[] = [];
    for (const computers of [one, two]) {
      homes.push(await computers.use(owner, async ({ folders }) => folders.home));
      await computers.sleep(owner);
    }
    const kept = await one.use(other, async ({ folders }) => folders.home);
    expect(homes.map((home) => existsSync(home))).toEqual([true, true]);
    await three.erase(owner);
    await expect.poll(() => homes.map((home) => existsSync(home)), { timeout: 10_000 }).toEqual([false, false]);
    expect(existsSync(kept)).toBe(true);
  });
});
