import { readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  dataFolder,
  failureOf,
  isRunning,
  postmasterOf,
  query,
  start,
  until,
  usedFolder,
} from './embedded/embedded.fixture.ts';
import { trimLog } from './embedded/postmaster.ts';
import { rowsThenKill, startInChild } from './embedded/server-process.fixture.ts';

describe('an embedded PostgreSQL', () => {
  test('is created at the first start, stops with its server and keeps its rows', async () => {
    const dataDir = await dataFolder();
    const first = await start(dataDir);
    await query(first, 'CREATE TABLE notes (text text)');
    await query(first, `INSERT INTO notes VALUES ('kept')`);
    const pid = await postmasterOf(dataDir);
    await first.stop();
    await expect.poll(() => isRunning(pid)).toBe(false);

    const second = await start(dataDir);
    expect(await query(second, 'SELECT text FROM notes')).toEqual([{ text: 'kept' }]);
    await second.stop();
    await second.stop();
    expect(await readdir(dataDir)).toEqual(['postgres', 'postgres.lock', 'postgres.log']);
  });

  test('accepts connections only on its socket and with the password', async () => {
    const dataDir = await dataFolder();
    const server = await start(dataDir);
    expect(await query(server, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    const password = await stat(join(dataDir, 'postgres', 'vestra.password'));
    expect(password.mode & 0o777).toBe(0o600);
    const guess = new URL(server.connectionString);
    guess.password = 'guess';
    await expect(query({ connectionString: guess.href }, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await server.stop();
  });

  test('is unpacked from a ready-made cluster with its own password, or created if that is unusable [START-103]', async () => {
    const folders = [await dataFolder(), await dataFolder(), await dataFolder()] as const;
    const broken = join(folders[2], 'broken.zst');
    await writeFile(broken, 'no cluster');
    const lines: string[] = [];
    const [one, other, anew] = await Promise.all([
      start(folders[0], lines),
      start(folders[1], lines),
      start(folders[2], lines, { readyMade: broken }),
    ]);
    const migrations = `SELECT to_regclass('schema_migrations') IS NOT NULL AS made`;
    expect(await query(one, migrations)).toEqual([{ made: true }]);
    expect(await query(anew, migrations)).toEqual([{ made: false }]);
    expect(lines.filter((line) => line.includes('cannot be used'))).toEqual([expect.stringContaining(broken)]);

    const swapped = new URL(one.connectionString);
    swapped.password = new URL(other.connectionString).password;
    await expect(query({ connectionString: swapped.href }, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    const settings = `SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) AS settings FROM pg_settings
      WHERE name IN ('data_checksums', 'lc_collate', 'scram_iterations', 'server_encoding', 'wal_segment_size')`;
    const locale = `SELECT datlocprovider, datlocale, datcollate, pg_encoding_to_char(encoding) AS encoding
      FROM pg_database ORDER BY datname`;
    for (const same of [settings, locale]) expect(await query(one, same)).toEqual(await query(anew, same));
    await Promise.all([one, other, anew].map((server) => server.stop()));
  });

  test('syncs every commit to disk before it answers', async () => {
    const server = await start(await usedFolder());
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      expect(await query(server, `SHOW ${setting}`)).toEqual([{ [setting]: 'on' }]);
    }
    await server.stop();
  });

  test('has the same Unicode collation on every machine', async () => {
    const server = await start(await usedFolder());
    expect(await query(server, `SELECT upper('ñandú жук') AS upper`)).toEqual([{ upper: 'ÑANDÚ ЖУК' }]);
    await server.stop();
  });

  test('works in a folder whose path is too long for a socket', async () => {
    const dataDir = join(await dataFolder(), 'long'.repeat(20), 'longer'.repeat(10), 'with "quotes", and commas');
    const server = await start(dataDir);
    const socketFolder = new URL(server.connectionString).searchParams.get('host') ?? '';
    expect(socketFolder.startsWith(tmpdir())).toBe(true);
    expect((await stat(socketFolder)).mode & 0o777).toBe(0o700);
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    await expect(stat(socketFolder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('restarts after its postmaster is killed', async () => {
    const dataDir = await usedFolder();
    const lines: string[] = [];
    const server = await start(dataDir, lines);
    await query(server, 'CREATE TABLE notes (text text)');
    const pid = await postmasterOf(dataDir);
    process.kill(pid, 'SIGKILL');
    await until(async () => (await postmasterOf(dataDir).catch(() => pid)) !== pid);
    await until(() =>
      query(server, 'SELECT text FROM notes').then(
        () => true,
        () => false,
      ),
    );
    expect(lines).toContain('PostgreSQL ended unexpectedly; restarting it.');
    const next = await postmasterOf(dataDir);
    await server.stop();
    await expect.poll(() => isRunning(next)).toBe(false);
  });

  test('survives a Ctrl-C that its server handles', async () => {
    const dataDir = await usedFolder();
    const server = await startInChild(dataDir, { ownGroup: true });
    process.kill(-(server.process.pid as number), 'SIGINT');
    expect(await server.lineWith('interrupted')).toBe('interrupted, rows: 0');
    const pid = await postmasterOf(dataDir);
    server.process.stdin?.write('stop\n');
    expect(await server.exit).toBe(0);
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test('rotates its log', async () => {
    const path = join(await dataFolder(), 'postgres.log');
    await writeFile(path, 'x'.repeat(1000));
    await trimLog(path);
    expect((await stat(path)).size).toBe(1000);
    await writeFile(path, 'x'.repeat(10_000_001));
    await trimLog(path);
    expect((await stat(path)).size).toBe(0);
    expect((await stat(`${path}.1`)).size).toBe(10_000_001);
  });
});

describe('a second server on the same data folder', () => {
  test('gets the id of the process that uses it, and may start after that has ended', async () => {
    const dataDir = await usedFolder();
    const owner = await startInChild(dataDir);
    const message = await failureOf(start(dataDir));
    expect(message).toContain(`is in use by another Vestra server (process ${owner.process.pid})`);

    expect((await rowsThenKill(owner, 3)).length).toBeGreaterThanOrEqual(3);
    const server = await start(dataDir);
    await server.stop();
  });

  test('is refused in the same process too', async () => {
    const dataDir = await usedFolder();
    const server = await start(dataDir);
    expect(await failureOf(start(dataDir))).toContain(`(process ${process.pid})`);
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  test('cannot start at the same moment', async () => {
    const dataDir = await dataFolder();
    const results = await Promise.allSettled([start(dataDir), start(dataDir), start(dataDir)]);
    const started = results.filter((result) => result.status === 'fulfilled');
    expect(started).toHaveLength(1);
    for (const { value } of started) await value.stop();
  });
});
