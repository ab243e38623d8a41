import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDatabaseFolder } from './database-folder.ts';
import { recordLogOf } from './failure-notes.ts';
import { programOf } from './programs.ts';
import { type ApiResponse, type CallOptions, call } from './server.ts';

export type Credentials = {
  org_id: string;
  test_key: string;
  live_key: string;
  owner: { email: string; password: string };
};

export type ServerProcess = {
  child: ChildProcess;
  url: string;
  output: () => string;
  call: (method: string, path: string, options?: CallOptions) => Promise<ApiResponse>;
  kill: (signal: NodeJS.Signals) => Promise<number | null>;
};

/** A data folder that a database user other than root can enter. */
export async function makeDataDir(): Promise<{ dataDir: string; remove: () => Promise<void> }> {
  const dataDir = await makeDatabaseFolder();
  await chmod(dataDir, 0o711);
  return { dataDir, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

/** Starts the server as a separate process and resolves when it prints its address. */
export async function startProcess(
  dataDir: string,
  env: Record<string, string> = {},
  { inTerminal = false } = {},
): Promise<ServerProcess> {
  const settings = { VESTRA_DATA_DIR: dataDir, PORT: '0', ...env };
  const { child, output } = await spawnProgram('server', [], settings, inTerminal);
  for (;;) {
    const url = /is running at (http:\S+)\r?\n/.exec(output())?.[1];
    if (url || /works on jobs here/.test(output())) {
      const key = async () => (await readCredentials(dataDir)).test_key;
      return {
        child,
        url: url ?? '',
        output,
        call: async (method, path, options = {}) =>
          call(url as string, options.key === undefined ? await key() : null, method, path, options),
        kill: (signal) => end(child, signal),
      };
    }
    if (child.exitCode !== null) throw new Error(`The server ended with ${child.exitCode}: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Runs a program of the server to its end. */
export async function runProgram(
  name: 'server' | 'operator',
  words: string[],
  env: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const { child, output } = await spawnProgram(name, words, env);
  await once(child, 'close');
  return { code: child.exitCode, output: output() };
}

/** Starts a program of the server. The caller ends it. */
export const startProgram = (
  name: 'server' | 'operator',
  words: string[],
  env: Record<string, string>,
): Promise<{ child: ChildProcess; output: () => string }> => spawnProgram(name, words, env);

/** `inTerminal`: runs it in a pseudo-terminal that `script` creates, which hangs up when the program ends. */
async function spawnProgram(
  name: 'server' | 'operator',
  words: string[],
  env: Record<string, string>,
  inTerminal = false,
) {
  let text = '';
  const command = [process.execPath, await programOf(name), ...words];
  const [program = '', ...given] = inTerminal ? ['script', '-qec', `exec ${command.join(' ')}`, '/dev/null'] : command;
  const child = spawn(program, given, {
    // Without a watchdog: its thread would cost each of hundreds of processes a tenth of a second.
    env: { PATH: process.env.PATH ?? '', VESTRA_LOG_LEVEL: 'info', VESTRA_WATCHDOG_SECONDS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  recordLogOf(child.stdout);
  return { child, output: () => text };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal);
    await once(child, 'exit');
  }
  return child.exitCode;
}

export const readCredentials = async (dataDir: string): Promise<Credentials> =>
  JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8'));
