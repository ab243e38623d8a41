import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../tests/support/test-database.ts';
import { insertOrg } from '../account/orgs/store.ts';
import { createLog } from '../main/log.ts';
import { closeDatabase, type Database, openDatabase } from '../platform/db/pool.ts';
import { rowsOf, run } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { text } from '../platform/db/table.ts';
import { createDiskStore, type FileStore } from '../platform/files/file-store.ts';
import { createHomes, type Homes, removeLeftFolders } from './homes.ts';
import { makeComputerFolders, numbersHere, removeComputerFolders } from './machine/computer-folder.ts';
import { createHomeArchive } from './machine/home-archive.ts';
import { type Computers, createComputers, type RunningComputer } from './running-computer.ts';
import { findSavedHome, listPrepared, type Owner, recordPrepared } from './store.ts';

const log = createLog('silent');
let database: TestDatabase;
let db: Database;
let folder: string;
let orgId: string;
let disk: FileStore;
let isAway = false;
let downloads = 0;
const running: Computers[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  folder = await mkdtemp(join(tmpdir(), 'vestra-homes-'));
  await chmod(folder, 0o711);
  disk = createDiskStore(join(folder, 'store'));
  orgId = newId('org');
  await insertOrg(db, { id: orgId, name: 'Org', wrapped_data_key: Buffer.from('x') });
});
afterAll(async () => {
  isAway = false;
  for (const computers of running) await computers.stop();
  await closeDatabase(db);
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

const store: FileStore = new Proxy({} as FileStore, {
  get: (_, name: keyof FileStore) => {
    if (isAway) return () => Promise.reject(fail('not_ready', { message: 'The file store is away.' }));
    if (name === 'open') downloads += 1;
    return disk[name];
  },
});

type Machine = { computers: Computers; homes: Homes; dataDir: string };

/** One process on its own machine: no other sees its folders. */
function machine(name: string, settings: { idleMs?: number; leaseMs?: number; everyMs?: number } = {}): Machine {
  const dataDir = join(folder, name);
  const { everyMs = 3_600_000, ...rest } = settings;
  const homes = createHomes({ db, files: store, archive: createHomeArchive(), log, everyMs });
  const computers = createComputers({
    db,
    log,
    homes,
    makeFolders: async (number) => {
      await mkdir(dataDir, { recursive: true, mode: 0o711 });
      return makeComputerFolders(dataDir, number);
    },
    removeFolders: (number) => removeComputerFolders(dataDir, number),
    settings: { renewEveryMs: 50, handOverMs: 10_000, ...rest },
  });
  running.push(computers);
  return { computers, homes, dataDir };
}

let users = 0;
const newOwner = (): Owner => ({ orgId, mode: 'test', userId: `user-${++users}` });
const write = (words: string) => async (awake: RunningComputer) => {
  await writeFile(join(awake.folders.home, 'note'), words);
  return awake;
};
const read = ({ folders }: RunningComputer) => readFile(join(folders.home, 'note'), 'utf8').catch(() => null);
const stored = async () => {
  const names: string[] = [];
  for await (const { name } of disk.list()) names.push(name);
  return names;
};
const unused = async () =>
  (await rowsOf(db, { name: text() }, sql`SELECT name FROM unused_contents ORDER BY name`)).map(({ name }) => name);
const savedName = async (owner: Owner) => {
  const saved = await findSavedHome(db, { owner });
  return saved === null || saved === 'lost' ? null : saved.name;
};

describe('a computer without a shared disk', () => {
  it('wakes on another machine with the same files, and is not downloaded if this machine has the newest [STORE-010]', async () => {
    const [a, b] = [machine('a1'), machine('b1')];
    const owner = newOwner();
    await a.computers.use(owner, write('one'));
    await a.computers.sleep(owner);
    const before = downloads;
    expect(await a.computers.use(owner, read)).toBe('one');
    await a.computers.sleep(owner);
    expect(downloads).toBe(before);
    expect(await b.computers.use(owner, read)).toBe('one');
    expect(downloads).toBe(before + 1);
    await b.computers.use(owner, write('two'));
    await b.computers.sleep(owner);
    expect(await a.computers.use(owner, read)).toBe('two');
    await a.computers.sleep(owner);
    // A computer that only slept elsewhere is unchanged here.
    await b.computers.use(owner, read);
    await b.computers.sleep(owner);
    const known = downloads;
    expect(await a.computers.use(owner, read)).toBe('two');
    expect(downloads).toBe(known);
    // The replaced home is left to the clean-up job.
    expect(await stored()).toEqual(expect.arrayContaining([await savedName(owner), ...(await unused())]));
    expect(await stored()).toHaveLength((await unused()).length + 1);
    await a.computers.erase(owner);
    expect((await stored()).toSorted()).toEqual((await unused()).toSorted());
    // The folders that an erased computer left on other machines are removed too.
    expect(await numbersHere(b.dataDir)).toHaveLength(1);
    await removeLeftFolders(db, {
      numbersHere: () => numbersHere(b.dataDir),
      removeFolders: (n) => removeComputerFolders(b.dataDir, n),
    });
    expect(await numbersHere(b.dataDir)).toEqual([]);
  });

  it('is saved with files written at the moment it woke [STORE-010]', async () => {
    const machines = [machine('a0'), machine('b0')] as const;
    const owner = newOwner();
    for (let round = 0; round < 12; round++) {
      const { computers } = machines[round % 2] as (typeof machines)[number];
      await computers.use(owner, write(`${round}`));
      await computers.sleep(owner);
    }
    expect(await machines[0].computers.use(owner, read)).toBe('11');
  });

  it('returns to its last save if its machine is lost, and the process that lost it saves nothing [STORE-013]', async () => {
    const [a, b] = [machine('a2', { leaseMs: 400 }), machine('b2')];
    const owner = newOwner();
    const item = (key: string) => ({ kind: 'file' as const, key, fingerprint: 'x' });
    const lost = await a.computers.use(owner, write('one'));
    await recordPrepared(db, lost, [item('kept')]);
    await a.homes.save(lost);
    await recordPrepared(db, lost, [item('gone')]);
    await a.computers.use(owner, write('two'));
    // The machine is cut off and renews its hold no longer.
    await run(db, sql`UPDATE computers SET held_by = 'cut off', held_until = now() WHERE number = ${lost.number}`);
    expect(await b.computers.use(owner, read)).toBe('one');
    expect((await listPrepared(db, owner)).map(({ key }) => key)).toEqual(['kept']);
    await b.computers.use(owner, write('three'));
    await b.computers.sleep(owner);
    const saved = await savedName(owner);
    // It returns and tries to save.
    await writeFile(join(lost.folders.home, 'note'), 'four');
    await a.homes.save(lost);
    expect(await savedName(owner)).toBe(saved);
    expect(await stored()).toContain(saved);
    expect(await unused()).not.toContain(saved);
    expect(await a.computers.use(owner, read)).toBe('three');
  });

  it('cannot be saved after a takeover, and the stored archive is removed [STORE-013]', async () => {
    const a = machine('a3');
    const owner = newOwner();
    const lost = await a.computers.use(owner, write('one'));
    const before = await savedName(owner);
    const [left, noted] = [await stored(), await unused()];
    const racing = createHomes({
      db,
      log,
      everyMs: 3_600_000,
      files: disk,
      archive: {
        ...createHomeArchive(),
        // Another process takes over while the home is packed.
        async *pack(folders) {
          await run(db, sql`UPDATE computers SET epoch = epoch + 1 WHERE number = ${lost.number}`);
          yield* createHomeArchive().pack(folders);
        },
      },
    });
    await racing.save(lost);
    expect(await savedName(owner)).toBe(before);
    expect(await stored()).toEqual(left);
    expect(await unused()).toEqual(noted);
  });

  it('is saved while awake, and stays awake while it cannot be saved [STORE-014]', async () => {
    const a = machine('a4', { idleMs: 100, everyMs: 100 });
    const owner = newOwner();
    await a.computers.use(owner, async (awake) => {
      const first = await savedName(owner);
      await write('one')(awake);
      await expect.poll(() => savedName(owner), { timeout: 10_000 }).not.toBe(first);
      isAway = true;
      await write('two')(awake);
    });
    const saved = await savedName(owner);
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(a.computers.ifAwake(owner)).not.toBeNull();
    expect(await savedName(owner)).toBe(saved);
    isAway = false;
  });
});
