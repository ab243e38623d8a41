import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { descendantsOf, endWithUs, residentMb } from './processes.ts';

export type RunningServer = {
  url: string;
  testKey: string;
  orgId: string;
  owner: { email: string; password: string };
  /** From the start of the process to the first 200 of GET /v1/health. */
  startMs: number;
  process: ChildProcess;
  stop: () => Promise<void>;
};

const root = join(import.meta.dirname, '..');

/** The two forms in which people have it: a clone, and the package that `npm run build` makes. */
export const programs = {
  source: join(root, 'packages/server/src/main/main.ts'),
  bundle: join(root, 'dist/package/code/server.js'),
};

/** Starts the server as users do: in a separate process, reached over loopback. */
export async function startServerProcess(
  dataDir: string,
  port: number,
  env: Record<string, string> = {},
  program: string = programs.source,
): Promise<RunningServer> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, ['--min-semi-space-size=8', '--max-semi-space-size=8', program], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      MALLOC_ARENA_MAX: '1',
      PORT: String(port),
      VESTRA_DATA_DIR: dataDir,
      VESTRA_REQUESTS_PER_MINUTE: '10000000',
      VESTRA_LOG_LEVEL: 'warn',
      ...env,
    },
  });
  const url = `http://127.0.0.1:${port}`;
  await untilHealthy(child, `${url}/v1/health`);
  const startMs = performance.now() - startedAt;
  const { test_key, org_id, owner } = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8'));
  return { url, testKey: test_key, orgId: org_id, owner, startMs, process: child, stop: () => endProcess(child) };
}

/** Until the address answers 200; throws where the process ends before that. */
export async function untilHealthy(child: ChildProcess, url: string, withinMs = 60_000): Promise<void> {
  endWithUs(child);
  const deadline = performance.now() + withinMs;
  for (let isUp = false; !isUp; ) {
    isUp = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (child.exitCode !== null) throw new Error(`the server ended with code ${child.exitCode}`);
    if (performance.now() > deadline) throw new Error(`the server did not answer at ${url}`);
    if (!isUp) await sleep(5);
  }
}

/** With a SIGTERM, and with a SIGKILL where that does not do. */
export function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    const last = setTimeout(() => child.kill('SIGKILL'), 40_000);
    child.once('exit', () => {
      clearTimeout(last);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** Resident memory in MB: of the server alone, and its share together with PostgreSQL's (shared pages counted once). */
export function memoryOf(server: RunningServer): { server: number; withPostgres: number } {
  const pid = server.process.pid as number;
  const proportional = (each: number) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${each}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;
    } catch {
      return 0;
    }
  };
  const withPostgres = [pid, ...descendantsOf(pid)].reduce((sum, each) => sum + proportional(each), 0);
  return { server: residentMb(pid), withPostgres };
}
