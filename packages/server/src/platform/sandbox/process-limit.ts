import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareEnvironment, type Identity } from './confine.ts';

/**
 * Bounds the processes and threads of all commands of a computer together, if no cgroup does. Its commands share a user
 * namespace, in which the kernel counts them. It compares the count with the limit of the process that created the
 * namespace of a command.
 */
export type ProcessLimits = {
  /** The words before `bwrap` that start a command of the computer inside; empty if the machine does not allow it. */
  enter: (computer: string, identity: Identity | null) => Promise<string[]>;
  release: (computer: string) => Promise<void>;
};

export function createProcessLimits({ processes, onFailure }: LimitOptions): ProcessLimits {
  const holders = new Map<string, Promise<ChildProcess | null>>();

  function open(computer: string, identity: Identity | null): Promise<ChildProcess | null> {
    const opened = startHolder(identity);
    holders.set(computer, opened);
    void opened.then((holder) => holder ?? onFailure());
    return opened;
  }

  return {
    async enter(computer, identity) {
      const found = await (holders.get(computer) ?? open(computer, identity));
      const hasEnded = found !== null && (found.exitCode !== null || found.signalCode !== null);
      const holder = hasEnded ? await open(computer, identity) : found;
      if (holder === null) return [];
      return [
        ...['/usr/bin/prlimit', `--nproc=${processes}`],
        ...['/usr/bin/nsenter', `--user=/proc/${holder.pid}/ns/user`, '--preserve-credentials'],
      ];
    },
    async release(computer) {
      const holder = await holders.get(computer);
      holders.delete(computer);
      holder?.kill('SIGKILL');
    },
  };
}

type LimitOptions = {
  processes: number;
  /** Only the server counts the processes of the computer then. */
  onFailure: () => void;
};

const startMs = 10_000;

/** Starts the process that keeps the namespace; null if the machine does not allow it. */
async function startHolder(identity: Identity | null): Promise<ChildProcess | null> {
  // It ends when its input does, and so with the server.
  const holder = spawn('/usr/bin/unshare', ['--user', '--map-current-user', '/bin/sh', '-c', 'echo in; exec cat'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: bareEnvironment,
    cwd: '/',
    ...identity,
  });
  holder.stdin.on('error', () => {});
  const isReady = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    once(holder, 'exit').then(() => false),
    sleep(startMs, false, { ref: false }),
  ]).catch(() => false);
  if (isReady) return holder;
  holder.kill('SIGKILL');
  return null;
}
