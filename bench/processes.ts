import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import pg from 'pg';

/** Of /proc/<pid>/stat, which counts in hundredths of a second on Linux, whatever the kernel's own tick is. */
const msPerTick = 10;

const started = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of started) child.kill('SIGTERM');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A measurement that fails must not leave its servers behind. */
export function endWithUs(child: ChildProcess): void {
  started.add(child);
  child.once('exit', () => started.delete(child));
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Processor time that the process has used in all its threads, in milliseconds. */
export function cpuMs(pid: number): number {
  const { own } = ticksOf(pid);
  return own * msPerTick;
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}

/** Without those that end while one looks. */
export function descendantsOf(pid: number): number[] {
  try {
    return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    return [];
  }
}

/** Processor time of a whole PostgreSQL, also of sessions that have ended, in milliseconds. */
export function postgresCpuMs(postmaster: number): number {
  const { own, reaped } = ticksOf(postmaster);
  const running = childrenOf(postmaster).map((child) => {
    try {
      return ticksOf(child).own;
    } catch {
      // It ended between the two looks; the postmaster has its time by then.
      return 0;
    }
  });
  return running.reduce((sum, ticks) => sum + ticks, own + reaped) * msPerTick;
}

/** The postmaster is the parent of whichever session one opens. */
export async function postmasterOf(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${rows[0]?.pid}/status`, 'utf8'))?.[1]);
  } finally {
    await client.end();
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function ticksOf(pid: number): { own: number; reaped: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name, in brackets, may hold spaces; the state is the first field after it.
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, reapedUser = 0, reapedSystem = 0] = fields.slice(11, 15);
  return { own: user + system, reaped: reapedUser + reapedSystem };
}
