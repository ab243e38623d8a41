import { execFile, spawn } from 'node:child_process';
import { copyFile, open, readdir, readFile, readlink, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartFailure } from '../start-failure.ts';
import { folderFailure, spawnFailure } from './failure.ts';
import { asRunner, type Runner } from './runner.ts';

/** The parent process of all PostgreSQL processes of a cluster. */
export type Postmaster = { pid: number; isGone(): Promise<boolean> };

/** The program and all parameters of a postmaster, which identify it. */
export type PostmasterCommand = { program: string; parameters: string[]; folder: string; socketFolder: string };

export function commandFor(options: {
  program: string;
  folder: string;
  socketFolder: string;
  settings: Record<string, string>;
}): PostmasterCommand {
  const { settings, ...command } = options;
  const pairs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return { ...command, parameters: ['-D', options.folder, ...pairs] };
}

/** Starts a detached postmaster, which survives Ctrl-C in the terminal and the death of this process. */
export async function spawnPostmaster(
  command: PostmasterCommand,
  runner: Runner,
  logFile: string,
): Promise<Postmaster> {
  await removeStaleLocks(command);
  const log = await open(logFile, 'a', 0o600).catch((error) => {
    throw folderFailure(error, logFile);
  });
  try {
    const child = spawn(command.program, command.parameters, {
      ...asRunner(runner),
      cwd: '/',
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      env: { LC_ALL: 'C', PATH: '/usr/bin:/bin' },
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(spawnFailure(error, command.program)));
    });
    child.unref();
    return {
      pid: child.pid as number,
      isGone: async () => child.exitCode !== null || child.signalCode !== null,
    };
  } finally {
    await log.close();
  }
}

/** Finds a postmaster on the folder that a killed server left behind. */
export async function findPostmaster(
  folder: string,
): Promise<{ postmaster: Postmaster; isLike: (command: PostmasterCommand) => boolean } | undefined> {
  const pid = await pidIn(join(folder, PID_FILE));
  if (!pid) return undefined;
  const running = await commandLine(pid);
  if (!serves(running, folder)) return undefined;
  return {
    postmaster: { pid, isGone: async () => !serves(await commandLine(pid), folder) },
    isLike: (command) => running === [command.program, ...command.parameters].join(' '),
  };
}

/** Reads the status from the pid file, which is cheaper than a connection attempt. */
export async function isReady({ pid }: Postmaster, folder: string): Promise<boolean> {
  const lines = (await readFile(join(folder, PID_FILE), 'utf8').catch(() => '')).split('\n');
  // The file of a killed postmaster stays until the next one writes its own.
  return lines[0] === String(pid) && lines[STATUS_LINE]?.trim() === 'ready';
}

/**
 * SIGINT ends the sessions, writes a checkpoint and exits. If a slow disk blocks that, SIGQUIT exits at once, and the next
 * start recovers from the WAL.
 */
export async function stopPostmaster(postmaster: Postmaster): Promise<void> {
  for (const [signal, patience] of [
    ['SIGINT', 60_000],
    ['SIGQUIT', 10_000],
    ['SIGKILL', 10_000],
  ] as const) {
    if (await postmaster.isGone()) return;
    try {
      process.kill(postmaster.pid, signal);
    } catch {
      // It ended between the check and the signal.
    }
    for (const end = Date.now() + patience; Date.now() < end; await sleep(10)) {
      if (await postmaster.isGone()) return;
    }
  }
  throw new Error(`PostgreSQL (process ${postmaster.pid}) could not be ended.`);
}

/**
 * PostgreSQL does not start while a process with the id in one of its lock files is alive. After a crash that id may belong
 * to another program, which is common in containers. Removes the locks only if no PostgreSQL process is left: each of
 * them, even one that briefly outlives its postmaster, has the cluster as its working directory.
 */
async function removeStaleLocks({ folder, socketFolder }: PostmasterCommand): Promise<void> {
  const locks = [join(folder, PID_FILE), join(socketFolder, SOCKET_LOCK)];
  for (const end = Date.now() + 10_000; ; await sleep(50)) {
    const pids = (await Promise.all(locks.map(pidIn))).filter((pid) => pid !== undefined);
    const named = pids.find(isAlive);
    if (named === undefined) return;
    const workers = await processesIn(folder);
    if (workers?.length === 0) break;
    if (workers === undefined || workers.includes(named) || Date.now() > end) {
      throw new StartFailure(
        `Process ${workers?.[0] ?? named} seems to run PostgreSQL on ${folder} already: stop it or, if it is another program, delete ${locks.join(' and ')}.`,
      );
    }
  }
  for (const lock of locks) await rm(lock, { force: true });
}

const PID_FILE = 'postmaster.pid';
const STATUS_LINE = 7;
const SOCKET_LOCK = '.s.PGSQL.5432.lock';

async function processesIn(folder: string): Promise<number[] | undefined> {
  if (process.platform !== 'linux') return undefined;
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => undefined);
    if (cwd === folder) found.push(Number(name));
  }
  return found;
}

async function pidIn(lock: string): Promise<number | undefined> {
  const pid = Number.parseInt(await readFile(lock, 'utf8').catch(() => ''), 10);
  return pid > 0 ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const serves = (command: string, folder: string): boolean => `${command} `.includes(` -D ${folder} `);

/** Empty for a process that has ended, including zombies. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return line.split('\0').filter(Boolean).join(' ');
  }
  const { stdout } = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => ({
    stdout: '',
  }));
  return stdout.trim();
}

const MAX_LOG_BYTES = 10_000_000;

/**
 * Rotates the log, so that it cannot fill the disk: copies it to `<path>.1` and truncates it. PostgreSQL appends, so it
 * continues at the new end.
 */
export async function trimLog(path: string): Promise<void> {
  const size = await sizeOf(path);
  if (size <= MAX_LOG_BYTES) return;
  // On a full disk the copy fails, and free space matters more than old lines.
  await copyFile(path, `${path}.1`).catch(() => {});
  await truncate(path);
}

/** Returns the log from `offset` on, at most the last 64 KB. */
export async function readLog(path: string, offset: number): Promise<string> {
  const size = await sizeOf(path);
  const start = Math.max(offset, size - 65_536);
  if (size <= start) return '';
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(size - start), position: start });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/**
 * Settings for a machine that also runs the server: little memory at rest, many short transactions, durable commits.
 */
export function settingsFor(socketFolder: string): Record<string, string> {
  return {
    listen_addresses: '',
    port: '5432',
    unix_socket_directories: `"${socketFolder}"`,
    unix_socket_permissions: '0700',
    max_connections: '100',

    shared_buffers: '64MB',
    work_mem: '8MB',
    maintenance_work_mem: '64MB',
    effective_cache_size: '512MB',
    random_page_cost: '1.1',
    huge_pages: 'off',
    jit: 'off',
    // I/O worker processes cost too much memory at this size.
    io_method: 'sync',

    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    // The embedded server has no replicas.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_replication_slots: '0',
    max_logical_replication_workers: '0',
    checkpoint_timeout: '10min',
    max_wal_size: '512MB',
    min_wal_size: '64MB',

    // Sessions of a killed server must stop their statements and release their locks.
    client_connection_check_interval: '2s',

    // The server reports failed statements itself, and their text would put user content into this log.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    log_timezone: 'UTC',
    timezone: 'UTC',
  };
}
