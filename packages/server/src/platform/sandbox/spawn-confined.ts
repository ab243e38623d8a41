import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { bareEnvironment, type Confinement, confinedParts, launch } from './confine.ts';
import { systemCallFilter } from './system-call-filter.ts';

/** A program that runs confined. */
export type Confined = {
  child: ChildProcess;
  /** Ends it with everything it has started, or keeps it from starting anything. */
  kill: () => void;
};

/**
 * What stands between a program and the machine: how bubblewrap starts it, and what is read from `pipe` for that. The
 * options go through a pipe too; what stands in `program` everybody on the machine can read.
 */
export type Wall = (
  command: readonly string[],
  confinement: Confinement,
  pipe: number,
) => { options: string[]; program: string[]; piped: Uint8Array };

/** The kernel itself, with a filter of system calls before it. */
const namespaces: Wall = (command, confinement, pipe) => {
  const filter = systemCallFilter();
  return { ...confinedParts(command, confinement, filter && pipe), piped: filter ?? Buffer.alloc(0) };
};

const wallPipe = 6;

/** Setting up takes milliseconds. Whatever is still at it then is stuck. */
const setUpMs = 10_000;

type SpawnOptions = {
  input: Uint8Array | null;
  wall?: Wall;
  /** Awaited between the last of what is set up and the first of the program. */
  onSetUp?: (pid: number) => Promise<void>;
};

/**
 * Starts a program confined. Its environment goes to bubblewrap through a pipe: a command line can be read by everybody
 * on the machine, and bubblewrap's own environment would reach what it loads before anything is confined.
 */
export function spawnConfined(
  command: readonly string[],
  confinement: Confinement,
  { input, wall = namespaces, onSetUp }: SpawnOptions,
): Confined {
  const { options, program, piped } = wall(command, confinement, wallPipe);
  if (options.some((option) => option.includes('\0'))) throw new TypeError('A NUL cannot be passed to a program.');
  const words = ['--args', '3', '--', '/bin/sh', '-c', waitForWord, 'sh', ...program];
  const child = spawn('/bin/bash', ['-c', throughPipes, 'bash', ...words], {
    stdio: [input === null ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: bareEnvironment,
    cwd: '/',
    ...confinement.identity,
  });
  feed(child, 3, Buffer.from(options.map((option) => `${option}\0`).join('')));
  feed(child, wallPipe, piped);
  if (input !== null) feed(child, 0, input);
  return { child, kill: guardStart(child, onSetUp) };
}

/**
 * Until bubblewrap has set everything up, what it has begun does not end with it: killed then, it would leave a process
 * behind that waits for ever, or that runs the program with nobody to end it. So the program waits inside for a word,
 * which comes when all is set up and nobody wants it to end any more; where the server is gone, it never comes.
 */
function guardStart(child: ChildProcess, onSetUp: SpawnOptions['onSetUp'] = async () => {}): () => void {
  const { 4: ready } = child.stdio as unknown as { 4: Readable };
  let isSetUp = false;
  let isUnwanted = false;
  let stuck: NodeJS.Timeout | undefined;
  ready.on('error', () => {});
  ready.once('data', async () => {
    isSetUp = true;
    await onSetUp(child.pid as number);
    feed(child, 5, Buffer.from(isUnwanted ? '' : 'go\n'));
  });
  child.once('exit', () => {
    clearTimeout(stuck);
    pipeOf(child, 5).destroy();
  });
  return () => {
    if (isSetUp) return void child.kill('SIGKILL');
    isUnwanted = true;
    stuck ??= setTimeout(() => child.kill('SIGKILL'), setUpMs);
  };
}

const waitForWord = [
  'echo ready >&4',
  'read -r word <&5 && [ "$word" = go ] || exit 125',
  // The program gets nothing that leads to the server.
  'exec 4>&- 5<&-',
  'exec "$@"',
].join('\n');

/**
 * What is spawned here speaks through sockets, which nobody can open by a name: `echo x >/dev/stderr` would fail. So what
 * is confined gets pipes, which are emptied into the sockets until all that held them has ended.
 */
const throughPipes = `${launch} > >(exec cat 3<&- 4>&- 5<&- 6<&-) 2> >(exec cat >&2 3<&- 4>&- 5<&- 6<&-)`;

/** Whoever ends before it has read everything has its reasons, and says them by its exit. */
export function feed(child: ChildProcess, pipe: number, bytes: Uint8Array): void {
  const stream = pipeOf(child, pipe);
  stream.on('error', () => {});
  stream.end(bytes);
}

const pipeOf = (child: ChildProcess, pipe: number) => (child.stdio as unknown as readonly Writable[])[pipe] as Writable;
