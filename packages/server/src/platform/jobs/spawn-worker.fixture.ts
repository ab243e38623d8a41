import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { JobsSettings } from './queue.ts';

export type WorkerProcess = {
  /** The next message of this kind, past or future. */
  next(event: string): Promise<Message>;
  /** Lets the handler write. */
  go(): void;
  signal(name: NodeJS.Signals): void;
  exited: Promise<unknown>;
};

const message = z.object({
  event: z.string(),
  attempt: z.number().optional(),
  error: z.string().optional(),
  reason: z.string().optional(),
});
type Message = z.infer<typeof message>;

/** Starts `worker-process.fixture.ts`; every process is killed by `killWorkers`. */
export function spawnWorker(options: {
  connectionString: string;
  owner: string;
  settings: Partial<JobsSettings>;
}): WorkerProcess {
  const script = join(import.meta.dirname, 'worker-process.fixture.ts');
  const child = spawn(
    process.execPath,
    [script, options.connectionString, options.owner, JSON.stringify(options.settings)],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  children.add(child);
  // Writing to a process that was killed is an error of the pipe, not of the test.
  child.stdin.on('error', () => {});
  const told: Message[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    told.push(message.parse(JSON.parse(line)));
    for (const check of waiting) check();
  });

  return {
    next: (event) =>
      new Promise((resolve) => {
        const check = () => {
          const at = told.findIndex((each) => each.event === event);
          const [found] = at < 0 ? [] : told.splice(at, 1);
          if (!found) return;
          waiting.delete(check);
          resolve(found);
        };
        waiting.add(check);
        check();
      }),
    go: () => void child.stdin.write('go\n'),
    signal: (name) => void child.kill(name),
    exited: once(child, 'exit'),
  };
}

const children = new Set<ChildProcess>();

export async function killWorkers(): Promise<void> {
  const alive = [...children].filter((child) => child.exitCode === null && child.signalCode === null);
  await Promise.all(
    alive.map(async (child) => {
      const exit = once(child, 'exit');
      // SIGKILL ends a stopped process too.
      child.kill('SIGKILL');
      await exit;
    }),
  );
  children.clear();
}
