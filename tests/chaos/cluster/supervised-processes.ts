import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Program, startProgram } from './program.ts';

/** One process of Vestra, started again a second after each end, as systemd or Kubernetes would. */
export type Supervised = {
  name: string;
  kill: () => Promise<void>;
  /** Suspends the process for this long, then resumes it as if no time had passed. */
  freezeFor: (ms: number) => Promise<void>;
  /** How often it has ended without being killed, and with what last words. */
  ownEnds: readonly string[];
  stop: () => Promise<number>;
};

const entry = join(import.meta.dirname, '../../../packages/server/src/main/main.ts');
const restartMs = 1_000;

export function supervise(of: { name: string; folder: string; env: Record<string, string> }): Supervised {
  const { name, folder, env } = of;
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, `${name}.log`);
  const ownEnds: string[] = [];
  let isStopping = false;
  let isKilled = false;
  let program: Program;
  begin();

  function begin(): void {
    writeFileSync(logFile, '', { flag: 'a' });
    const before = readFileSync(logFile, 'utf8').length;
    program = startProgram({ name, command: process.execPath, words: [entry], env, logFile });
    void program.ended.then(async () => {
      if (isStopping) return;
      if (!isKilled) ownEnds.push(lastWords(readFileSync(logFile, 'utf8').slice(before)));
      isKilled = false;
      await sleep(restartMs);
      if (!isStopping) begin();
    });
  }

  return {
    name,
    ownEnds,
    async kill() {
      isKilled = true;
      await program.kill('SIGKILL');
    },
    async freezeFor(ms) {
      const { signal } = program;
      signal('SIGSTOP');
      await sleep(ms);
      signal('SIGCONT');
    },
    /** How long it took to end by itself. */
    async stop() {
      isStopping = true;
      const startedAt = performance.now();
      program.signal('SIGTERM');
      await Promise.race([program.ended, sleep(45_000)]);
      await program.kill('SIGKILL');
      return performance.now() - startedAt;
    },
  };
}

const lastWords = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .filter((line) => !line.startsWith('{'))
    .slice(-3)
    .join(' ');
