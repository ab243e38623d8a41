import { chmod, chown, cp, lstat, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  copiedPrograms,
  dataFolder,
  failureOf,
  isRoot,
  NOBODY,
  postmasterOf,
  query,
  start,
} from './embedded/embedded.fixture.ts';
import { missingRows, rowsThenKill, startInChild } from './embedded/server-process.fixture.ts';

describe.skipIf(!isRoot)('as root', () => {
  test('PostgreSQL runs as another user', async () => {
    const dataDir = await dataFolder();
    const server = await start(dataDir);
    const { uid } = await stat(`/proc/${await postmasterOf(dataDir)}`);
    expect(uid).toBeGreaterThan(0);
    expect((await stat(join(dataDir, 'postgres'))).uid).toBe(uid);
    await server.stop();
  });

  test('a data folder closed by its own mode is made passable and keeps its database [START-021]', async () => {
    const dataDir = await dataFolder();
    await chmod(dataDir, 0o700);
    const reachable = await dataFolder();
    const lines: string[] = [];
    const server = await start(dataDir, lines, { reachableFolders: [reachable] });
    expect(lines[0]).toContain(`Others may pass through ${dataDir}`);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o711);
    expect(await readdir(reachable)).toEqual([]);
    expect((await stat(join(dataDir, 'postgres'))).mode & 0o077).toBe(0);
    await server.stop();
  });

  test('a data folder that this user cannot enter gets its database elsewhere and finds it again', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const dataDir = join(closed, 'data');
    const lines: string[] = [];
    const first = await start(dataDir, lines, { reachableFolders: [reachable] });
    await query(first, 'CREATE TABLE notes (text text)');
    expect(lines[0]).toContain(`because the user that runs PostgreSQL cannot enter ${closed}`);
    const { home } = JSON.parse(await readFile(join(dataDir, 'postgres-location.json'), 'utf8')) as { home: string };
    expect(home.startsWith(reachable)).toBe(true);
    await first.stop();

    lines.length = 0;
    const second = await start(dataDir, lines, { reachableFolders: [] });
    expect(await query(second, 'SELECT text FROM notes')).toEqual([]);
    expect(lines).toEqual([]);

    const copied = join(closed, 'copied');
    await cp(dataDir, copied, { recursive: true });
    expect(await failureOf(start(copied))).toContain(`${home} is in use by another Vestra server`);
    await second.stop();

    await rm(join(home, 'postgres'), { recursive: true });
    expect(await failureOf(start(dataDir))).toContain(`was stored in ${home} and is gone`);
  });

  test('a data folder that was deleted and created again has an empty database', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const first = await start(join(closed, 'data'), [], { reachableFolders: [reachable] });
    await query(first, 'CREATE TABLE notes (text text)');
    await first.stop();
    await rm(join(closed, 'data'), { recursive: true });
    const lines: string[] = [];
    const second = await start(join(closed, 'data'), lines, { reachableFolders: [reachable] });
    expect(
      lines.filter((line) => line.includes(`the database of ${join(closed, 'data')}, which no longer uses it`)),
    ).toHaveLength(1);
    await expect(query(second, 'SELECT text FROM notes')).rejects.toMatchObject({ code: '42P01' });
    await second.stop();
  });

  test('the next server adopts a database elsewhere after a kill', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const dataDir = join(closed, 'data');
    const dead = await startInChild(dataDir, { reachableFolders: [reachable] });
    const acknowledged = await rowsThenKill(dead, 5);
    const lines: string[] = [];
    const server = await start(dataDir, lines, { reachableFolders: [reachable] });
    expect(lines[0]).toContain('PostgreSQL was still running');
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
  });

  test('a strict umask does not shut out the user that runs PostgreSQL', async () => {
    const dataDir = join(await dataFolder(), 'deep', 'data');
    const closed = join(await dataFolder(), 'closed');
    const reachable = join(await dataFolder(), 'not', 'made', 'yet');
    const lines: string[] = [];
    const before = process.umask(0o077);
    onTestFinished(() => void process.umask(before));
    // The default of VESTRA_DATA_DIR is a path relative to the folder of the process.
    await (await start(relative(process.cwd(), dataDir), lines, { reachableFolders: [] })).stop();
    expect(await readdir(dataDir)).toContain('postgres');
    await mkdir(closed);
    await (await start(join(closed, 'data'), lines, { reachableFolders: [reachable] })).stop();
    expect(await readdir(reachable)).toHaveLength(1);
  });

  test('the start fails with one sentence if no folder is reachable', async () => {
    const closed = join(await dataFolder(), 'closed');
    await mkdir(closed, { mode: 0o700 });
    expect(await failureOf(start(join(closed, 'data'), [], { reachableFolders: [join(closed, 'too')] }))).toContain(
      'can reach neither the data folder nor',
    );
  });

  test('a reachable folder of another user is not used', async () => {
    const closed = join(await dataFolder(), 'closed');
    const foreign = join(await dataFolder(), 'foreign');
    await mkdir(closed, { mode: 0o700 });
    await mkdir(foreign);
    await chown(foreign, NOBODY, NOBODY);
    expect(await failureOf(start(join(closed, 'data'), [], { reachableFolders: [foreign] }))).toContain(
      'can reach neither',
    );
  });

  test('programs that this user cannot enter are copied once', async () => {
    const closed = join(await dataFolder(), 'closed');
    const reachable = await dataFolder();
    await mkdir(closed, { mode: 0o700 });
    const programs = await copiedPrograms(closed);
    const dataDir = await dataFolder();
    const lines: string[] = [];
    await (await start(dataDir, lines, { programs, reachableFolders: [reachable] })).stop();
    expect(lines[0]).toContain(`programs to ${reachable}`);
    lines.length = 0;
    await (await start(dataDir, lines, { programs, reachableFolders: [reachable] })).stop();
    expect(lines).toEqual([]);
    expect(await readdir(reachable)).toHaveLength(1);
  });

  test('an ordinary user needs no root', async () => {
    const dataDir = join(await dataFolder(), 'data');
    await mkdir(dataDir);
    await chown(dataDir, NOBODY, NOBODY);
    const server = await startInChild(dataDir, { uid: NOBODY });
    expect((await stat(`/proc/${await postmasterOf(dataDir)}`)).uid).toBe(NOBODY);
    const acknowledged = await rowsThenKill(server, 3);

    // The files decide who runs PostgreSQL when root takes over.
    const next = await start(dataDir);
    expect(await missingRows(next, acknowledged)).toEqual([]);
    await next.stop();
  });
});

test('the start restores symbolic links that npm did not create', async () => {
  const programs = await copiedPrograms(await dataFolder());
  await (await start(await dataFolder(), [], { programs })).stop();
  expect((await lstat(join(programs.native, 'lib', 'libpq.so.5'))).isSymbolicLink()).toBe(true);
});
