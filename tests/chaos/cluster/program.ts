import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';

/** A process of another program, which logs into a separate file. */
export type Program = {
  name: string;
  pid: number;
  hasEnded: () => boolean;
  /** Resolves when it has ended, by whatever. */
  ended: Promise<void>;
  output: () => string;
  signal: (signal: NodeJS.Signals) => void;
  kill: (signal: NodeJS.Signals) => Promise<void>;
};

const alive = new Set<ChildProcess>();
// Whatever ends the run, nothing of it stays behind.
process.once('exit', () => {
  for (const child of alive) child.kill('SIGKILL');
});

export function startProgram(of: {
  name: string;
  command: string;
  words: readonly string[];
  env?: Record<string, string>;
  logFile: string;
  uid?: number;
  gid?: number;
}): Program {
  const { name, command, words, env = {}, logFile, uid, gid } = of;
  const log = openSync(logFile, 'a');
  const child = spawn(command, words, {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', ...env },
    stdio: ['ignore', log, log],
    cwd: '/',
    ...(uid !== undefined && gid !== undefined && { uid, gid }),
  });
  closeSync(log);
  alive.add(child);
  const ended = once(child, 'exit').then(() => void alive.delete(child));
  return {
    name,
    pid: child.pid ?? 0,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    ended,
    output: () => readFileSync(logFile, 'utf8'),
    signal: (signal) => void child.kill(signal),
    async kill(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
      await ended;
    },
  };
}

/** Nobody listens on these now; all are asked for before the first is given back. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}
