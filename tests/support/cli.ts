import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { recordLogOf } from './failure-notes.ts';
import { programOf } from './programs.ts';

const program = await programOf('vestra');

export type CliOptions = { cwd: string; env?: Record<string, string>; input?: string };

export type CliProcess = {
  child: ChildProcess;
  out: () => string;
  err: () => string;
  /** Resolves as soon as what was said so far is as wanted. */
  until: (isWanted: (said: { out: string; err: string }) => boolean) => Promise<void>;
  ended: Promise<number>;
};

/** A command as a person at a shell without a terminal starts it. */
export function startCli(words: readonly string[], { cwd, env = {}, input }: CliOptions): CliProcess {
  let out = '';
  let err = '';
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env: environmentOf(cwd, env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let heard = () => {};
  child.stdout.on('data', (chunk) => {
    out += chunk;
    heard();
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
    heard();
  });
  recordLogOf(child.stdout);
  if (input !== undefined) child.stdin.end(input);
  const ended = once(child, 'close').then(([code]) => {
    heard();
    return code as number;
  });
  return {
    child,
    out: () => out,
    err: () => err,
    ended,
    async until(isWanted) {
      const deadline = Date.now() + 60_000;
      while (!isWanted({ out, err })) {
        const isOver = child.exitCode !== null || child.signalCode !== null;
        if (isOver || Date.now() > deadline) throw new Error(`It never said that.\n${out}\n${err}`);
        await new Promise<void>((resolve) => {
          heard = resolve;
          setTimeout(resolve, 1000).unref();
        });
      }
    },
  };
}

/** No setting of the machine that runs the tests may reach the command. */
const environmentOf = (cwd: string, env: Record<string, string>) => ({
  PATH: process.env.PATH ?? '',
  HOME: cwd,
  XDG_CONFIG_HOME: join(cwd, '.config'),
  ...env,
});

/** Runs a command at a pseudo terminal and returns everything that it shows. `input` is what somebody types. */
export async function runAtTerminal(words: readonly string[], { cwd, env = {}, input }: CliOptions): Promise<string> {
  const line = [process.execPath, program, ...words].map((word) => `'${word}'`).join(' ');
  const running = promisify(execFile)('script', ['-qec', line, '/dev/null'], { cwd, env: environmentOf(cwd, env) });
  if (input !== undefined) running.child.stdin?.write(input);
  return (await running).stdout;
}

/** Runs a command to its end. */
export async function runCli(words: readonly string[], options: CliOptions) {
  const started = startCli(words, { input: '', ...options });
  const code = await started.ended;
  return { code, out: started.out(), err: started.err() };
}
