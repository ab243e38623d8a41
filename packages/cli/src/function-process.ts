import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Settings } from './settings.ts';
import type { Terminal } from './terminal.ts';

export type FunctionProcess = {
  /** Restarts with the current files. Running calls are finished by the process that claimed them. */
  restart: () => void;
  /** Lets running calls finish; the second time, stops at once. */
  stop: () => Promise<void>;
  /** The exit code of the last process, after it has ended by itself. */
  ended: Promise<number>;
};

type Options = {
  terminal: Pick<Terminal, 'env' | 'cwd' | 'err'>;
  settings: Pick<Settings, 'url' | 'key'>;
  file: string;
  deployment: string;
  concurrency?: number | undefined;
};

const program = fileURLToPath(new URL('./serve-functions.ts', import.meta.url));

/** Answers a deployment's functions from a separate process that loads the code with each start. */
export function startFunctions(options: Options): FunctionProcess {
  const { terminal, settings, file, deployment, concurrency } = options;
  const alive = new Set<ChildProcess>();
  const { promise: ended, resolve: end } = Promise.withResolvers<number>();
  let isStopping = false;
  let current = start();

  function start(): ChildProcess {
    const child = spawn(process.execPath, [program, file, deployment, concurrency ? String(concurrency) : ''], {
      cwd: terminal.cwd,
      env: { ...terminal.env, VESTRA_URL: settings.url, VESTRA_KEY: settings.key ?? '' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    alive.add(child);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => terminal.err(text));
    }
    child.on('exit', (code) => {
      alive.delete(child);
      if (child === current) end(code ?? 1);
    });
    return child;
  }

  return {
    restart() {
      if (isStopping) return;
      current.kill('SIGTERM');
      current = start();
    },
    async stop() {
      for (const child of alive) child.kill(isStopping ? 'SIGKILL' : 'SIGTERM');
      isStopping = true;
      await Promise.all([...alive].map((child) => once(child, 'exit')));
    },
    ended,
  };
}
