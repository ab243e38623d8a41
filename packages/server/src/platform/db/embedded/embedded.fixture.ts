import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, cp, lstat, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, expect, onTestFinished } from 'vitest';
import { startEmbeddedPostgres } from '../embedded.ts';
import { StartFailure } from '../start-failure.ts';
import { findPackage } from './binaries.ts';

export const isRoot = process.getuid?.() === 0;
export const NOBODY = 65534;

type Extra = Partial<Omit<Parameters<typeof startEmbeddedPostgres>[0], 'dataDir' | 'log'>>;

export function start(dataDir: string, lines: string[] = [], extra: Extra = {}) {
  return startEmbeddedPostgres({ dataDir, log: (line) => lines.push(line), ...extra });
}

export async function query(
  server: { connectionString: string },
  statement: string,
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.connectionString });
  client.on('error', () => {});
  await client.connect();
  const { rows } = await client.query(statement).finally(() => client.end());
  return rows;
}

export async function failureOf(work: Promise<unknown>): Promise<string> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(StartFailure);
  const { message } = failure as StartFailure;
  expect(message).not.toContain('\n');
  return message;
}

/** A copy of a data folder whose server has started once and stopped. */
export async function usedFolder(): Promise<string> {
  original ??= makeOriginal();
  const folder = await dataFolder();
  execFileSync('cp', ['-a', `${await original}/.`, folder]);
  return folder;
}

let original: Promise<string> | undefined;

async function makeOriginal(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-embedded-'));
  await chmod(folder, 0o711);
  await (await start(folder)).stop();
  return folder;
}

afterAll(async () => {
  if (original) await rm(await original, { recursive: true });
});

/** An empty folder that anybody may enter. The end of the test stops every PostgreSQL in it. */
export async function dataFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-embedded-'));
  await chmod(folder, 0o711);
  onTestFinished(async () => {
    for (const name of await readdir(folder, { recursive: true })) {
      if (!name.endsWith('postmaster.pid')) continue;
      const pid = Number.parseInt(await readFile(join(folder, name), 'utf8').catch(() => ''), 10);
      if (isRunning(pid) && isPostmasterBelow(pid, folder)) process.kill(pid, 'SIGQUIT');
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  return folder;
}

/** The programs as npm unpacks them with --ignore-scripts, without symbolic links. */
export async function copiedPrograms(folder: string): Promise<ReturnType<typeof findPackage>> {
  const original = findPackage();
  const native = join(folder, 'native');
  await cp(original.native, native, {
    recursive: true,
    filter: async (source) => !(await lstat(source)).isSymbolicLink(),
  });
  return { ...original, native };
}

export async function postmasterOf(dataDir: string): Promise<number> {
  const pointer = await readFile(join(dataDir, 'postgres-location.json'), 'utf8').catch(() => undefined);
  const home = pointer ? (JSON.parse(pointer) as { home: string }).home : dataDir;
  return Number.parseInt(await readFile(join(home, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** False for a zombie. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== 'linux' || !/^\d+ \(.*\) Z/.test(statusOf(pid));
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return `${pid} () Z`;
  }
}

/** The process id in the file of a killed PostgreSQL may belong to another process. */
function isPostmasterBelow(pid: number, folder: string): boolean {
  return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-D\0${folder}`);
}

export async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition().catch(() => false))) await sleep(10);
}
