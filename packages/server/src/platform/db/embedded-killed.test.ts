import { spawn } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dataFolder, isRunning, postmasterOf, query, start, until, usedFolder } from './embedded/embedded.fixture.ts';
import { missingRows, rowsThenKill, spawnServer, startInChild } from './embedded/server-process.fixture.ts';

describe('after a server was killed,', () => {
  test('its PostgreSQL is adopted with all acknowledged rows', async () => {
    const dataDir = await usedFolder();
    const dead = await startInChild(dataDir);
    const acknowledged = await rowsThenKill(dead, 50);
    const pid = await postmasterOf(dataDir);
    expect(isRunning(pid)).toBe(true);

    const lines: string[] = [];
    const server = await start(dataDir, lines);
    expect(lines).toEqual([`PostgreSQL was still running (process ${pid}) and was adopted.`]);
    expect(await postmasterOf(dataDir)).toBe(pid);
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
    // It is no child of this process, so its entry may stay until another process has collected it.
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test('together with its PostgreSQL, no acknowledged row is lost', async () => {
    const dataDir = await usedFolder();
    const dead = await startInChild(dataDir);
    const acknowledged = await rowsThenKill(dead, 50, [await postmasterOf(dataDir)]);

    const server = await start(dataDir);
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
  });

  test('its PostgreSQL is restarted if the settings differ', async () => {
    const dataDir = await usedFolder();
    const dead = await startInChild(dataDir);
    const acknowledged = await rowsThenKill(dead, 5);
    const pid = await postmasterOf(dataDir);

    const server = await start(dataDir, [], { settings: { work_mem: '5MB' } });
    expect(await postmasterOf(dataDir)).not.toBe(pid);
    await expect.poll(() => isRunning(pid)).toBe(false);
    expect(await query(server, 'SHOW work_mem')).toEqual([{ work_mem: '5MB' }]);
    expect(await missingRows(server, acknowledged)).toEqual([]);
    await server.stop();
  });

  test('during initdb, a complete cluster is created', async () => {
    const dataDir = await dataFolder();
    const dead = spawnServer(dataDir);
    await until(async () => {
      const [unfinished] = (await readdir(dataDir)).filter((name) => name.startsWith('postgres.new-'));
      return unfinished !== undefined && (await readdir(join(dataDir, unfinished, 'postgres'))).includes('PG_VERSION');
    });
    dead.process.kill('SIGKILL');
    await dead.exit;
    expect(await readdir(dataDir)).not.toContain('postgres');

    const server = await start(dataDir);
    expect(await query(server, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    await until(async () => !(await readdir(dataDir)).some((name) => name.startsWith('postgres.new-')));
  });

  test.skipIf(process.platform !== 'linux')(
    'the process id of its PostgreSQL may belong to another program',
    async () => {
      const dataDir = await usedFolder();
      const dead = await startInChild(dataDir);
      const acknowledged = await rowsThenKill(dead, 5, [await postmasterOf(dataDir)]);
      const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
      const bystander = spawn('sleep', ['600'], { stdio: 'ignore' });
      onTestFinished(() => void bystander.kill());
      const content = await readFile(pidFile, 'utf8');
      await writeFile(pidFile, content.replace(/^\d+/, String(bystander.pid)));

      const server = await start(dataDir);
      expect(await missingRows(server, acknowledged)).toEqual([]);
      expect(bystander.exitCode).toBeNull();
      await server.stop();
    },
  );
});
