import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment, type Confinement, callAccount, confine } from '../../platform/sandbox/confine.ts';
import { joinCaptured, spawnConfined, waitForExit, writeToPipe } from '../../platform/sandbox/confined-process.ts';
import { systemCallFilter } from '../../platform/sandbox/system-call-filter.ts';

/** The files that the process of a call reads. */
type CallPrograms = { program: string; folder: string; runtime: string; files: readonly string[] };

const filterPipe = 4;
const trialMs = 20_000;
const megabyte = 1024 * 1024;

/**
 * Starts the process of a call in a sandbox: native code that reads packets of strangers sees its libraries only. It
 * keeps the network, because it sends and receives sound by UDP.
 */
export function confinedCall(programs: CallPrograms, words: readonly string[]): ChildProcess {
  const filter = systemCallFilter();
  const { file, args, identity } = confine([node, ...words], confinementOf(programs), filter && filterPipe);
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: bareEnvironment,
    cwd: '/',
    ...identity,
  });
  writeToPipe(child, filterPipe, filter ?? Buffer.alloc(0));
  return child;
}

/** Why calls cannot be confined here, and what to do; null if they can. Starts Node in the sandbox to find out. */
export async function confinementObstacle(programs: CallPrograms): Promise<string | null> {
  const words = ['/bin/sh', '-c', readsAll, node, programs.program, ...programs.files];
  const limits = { timeoutMs: trialMs, signal: new AbortController().signal, maxBytes: 2_000 };
  try {
    const trial = spawnConfined(words, confinementOf(programs), { input: null });
    const { exitCode, stderr } = await waitForExit(trial, limits);
    if (exitCode === 0) return null;
    const said = Buffer.from(joinCaptured(stderr, () => '')).toString('utf8');
    return obstacle(said.trim().split('\n')[0]?.slice(0, 200) || 'it did not start');
  } catch (error) {
    return obstacle(`it cannot be started: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`);
  }
}

const obstacle = (why: string) =>
  `The server cannot confine voice calls with bubblewrap (${why}). Install bubblewrap, allow user namespaces, and keep the server and VESTRA_VOICE_DIR where other accounts may read them.`;

const readsAll = [
  'for file; do [ -r "$file" ] || { echo "$file cannot be read" >&2; exit 1; }; done',
  'exec "$0" --version >/dev/null',
].join('\n');

const node = realpathSync(process.execPath);

const confinementOf = ({ program, folder, runtime }: CallPrograms): Confinement => ({
  mounts: [
    ...new Set([
      node,
      dirname(program),
      findPackageJSON('.', program) as string,
      join(folder, 'node_modules'),
      ...librariesWith(runtime),
    ]),
  ].map((path) => ({ from: path, to: path, isWritable: false })),
  env: {},
  workingFolder: '/',
  egressSocket: null,
  hasHostNetwork: true,
  // Threads count, and kernels before 5.14 count those of all calls together.
  limits: { processes: 4_096, fileBytes: 0, memoryBytes: 2_048 * megabyte },
  identity: callAccount(),
});

/** Returns the `node_modules` folder of a library, or nothing if it is not installed. */
function librariesWith(name: string): string[] {
  try {
    const path = fileURLToPath(import.meta.resolve(name));
    return [path.slice(0, path.lastIndexOf('/node_modules/') + '/node_modules'.length)];
  } catch {
    return [];
  }
}
