import { execFile, spawn } from 'node:child_process';
import { open, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartFailure } from '../start-failure.ts';
import { folderFailure, spawnFailure } from './failure.ts';
import { asRunner, type Runner } from './runner.ts';

/** The PostgreSQL process that all others of a cluster descend from. */
export type Postmaster = { pid: number; isGone(): Promise<boolean> };

/** What identifies a postmaster: the program with every parameter it was started with. */
export type Command = { program: string; parameters: string[]; folder: string; socketFolder: string };

export function commandFor(options: {
  program: string;
  folder: string;
  socketFolder: string;
  settings: Record<string, string>;
}): Command {
  const { settings, ...command } = options;
  const pairs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return { ...command, parameters: ['-D', options.folder, ...pairs] };
}

/** Starts a postmaster that outlives a signal to this process's terminal and even the death of this process. */
export async function spawnPostmaster(command: Command, runner: Runner, logFile: string): Promise<Postmaster> {
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

/** The postmaster that runs on the folder already, left by a server that was killed. */
export async function findPostmaster(
  folder: string,
): Promise<{ postmaster: Postmaster; isLike: (command: Command) => boolean } | undefined> {
  const pid = await pidIn(join(folder, PID_FILE));
  if (!pid) return undefined;
  const running = await commandLine(pid);
  if (!serves(running, folder)) return undefined;
  return {
    postmaster: { pid, isGone: async () => !serves(await commandLine(pid), folder) },
    isLike: (command) => running === [command.program, ...command.parameters].join(' '),
  };
}

/** Whether it takes sessions, by its own word, which costs it and us nothing. */
export async function isReady({ pid }: Postmaster, folder: string): Promise<boolean> {
  const lines = (await readFile(join(folder, PID_FILE), 'utf8').catch(() => '')).split('\n');
  // The file of one that was killed lies there until the next has its own.
  return lines[0] === String(pid) && lines[STATUS_LINE]?.trim() === 'ready';
}

/**
 * SIGINT ends the sessions, writes a checkpoint and exits. A disk that hangs may hold that up for long; SIGQUIT exits
 * at once, and the next start recovers from the log.
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
      // It ended between the question and the signal.
    }
    for (const end = Date.now() + patience; Date.now() < end; await sleep(10)) {
      if (await postmaster.isGone()) return;
    }
  }
  throw new Error(`PostgreSQL (process ${postmaster.pid}) could not be ended.`);
}

/**
 * PostgreSQL does not start while a process named in one of its lock files lives, and after a crash that number may
 * belong to another program (in a container, nearly always) or to its own remains. Only PostgreSQL's own processes
 * must not be overlooked, also those that outlive their postmaster for a moment: each works in the cluster's folder.
 */
async function removeStaleLocks({ folder, socketFolder }: Command): Promise<void> {
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

/** Empty for a process that is gone, and for one that has ended and only waits to be collected. */
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
