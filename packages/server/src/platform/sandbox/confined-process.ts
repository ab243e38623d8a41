import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { bareEnvironment, type Confinement, confinedParts, launchWith } from './confine.ts';
import { systemCallFilter } from './system-call-filter.ts';

export type Confined = {
  child: ChildProcess;
  /** Kills the program with everything it has started, or prevents it from starting. */
  kill: () => void;
};

/**
 * The isolation of a program: how bubblewrap starts it, and the data that it reads from `pipe`. The options go through
 * another pipe. Everybody on the machine can read `program`.
 */
export type Isolation = (
  command: readonly string[],
  confinement: Confinement,
  pipe: number,
) => { options: string[]; program: string[]; piped: Uint8Array };

/** Namespaces of the host's kernel with a system call filter. */
const namespaces: Isolation = (command, confinement, pipe) => {
  const filter = systemCallFilter();
  return { ...confinedParts(command, confinement, filter && pipe), piped: filter ?? Buffer.alloc(0) };
};

const isolationPipe = 6;

/** Setup takes milliseconds. If it takes longer than this, it is stuck. */
const setUpMs = 10_000;

type SpawnOptions = {
  input: Uint8Array | null;
  wall?: Isolation;
  /** Words that start bubblewrap in a namespace of the computer. */
  enter?: readonly string[];
  /** Runs after the setup and before the program starts. */
  onSetUp?: (pid: number) => Promise<void>;
};

/**
 * Starts a confined program. Its environment goes to bubblewrap through a pipe: others can read a command line, and
 * bubblewrap's own environment would reach code that runs before the confinement.
 */
export function spawnConfined(
  command: readonly string[],
  confinement: Confinement,
  { input, wall = namespaces, enter = [], onSetUp }: SpawnOptions,
): Confined {
  const { options, program, piped } = wall(command, confinement, isolationPipe);
  if (options.some((option) => option.includes('\0'))) throw new TypeError('A NUL cannot be passed to a program.');
  const words = ['--args', '3', '--', '/bin/sh', '-c', waitForWord, 'sh', ...program];
  const child = spawn('/bin/bash', ['-c', throughPipes(enter), 'bash', ...words], {
    stdio: [input === null ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'],
    env: bareEnvironment,
    cwd: '/',
    ...confinement.identity,
  });
  writeToPipe(child, 3, Buffer.from(options.map((option) => `${option}\0`).join('')));
  writeToPipe(child, isolationPipe, piped);
  if (input !== null) writeToPipe(child, 0, input);
  return { child, kill: guardStart(child, onSetUp) };
}

/**
 * Killing bubblewrap during its setup would leave a process that waits forever or runs without supervision. So the
 * program waits inside for the word `go`, which is sent when the setup is done and nobody has killed it. If the server
 * dies, the word never comes.
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
    writeToPipe(child, 5, Buffer.from(isUnwanted ? '' : 'go\n'));
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
  // Close the pipes to the server.
  'exec 4>&- 5<&-',
  'exec "$@"',
].join('\n');

/**
 * Node's stdio are sockets, which cannot be opened by name: `echo x >/dev/stderr` would fail. So the program gets
 * pipes, and `cat` copies them to the sockets.
 */
const throughPipes = (enter: readonly string[]): string =>
  `${launchWith(enter)} > >(exec cat 3<&- 4>&- 5<&- 6<&-) 2> >(exec cat >&2 3<&- 4>&- 5<&- 6<&-)`;

/** Ignores write errors: a program may exit before it has read everything, and its exit code tells why. */
export function writeToPipe(child: ChildProcess, pipe: number, bytes: Uint8Array): void {
  const stream = pipeOf(child, pipe);
  stream.on('error', () => {});
  stream.end(bytes);
}

const pipeOf = (child: ChildProcess, pipe: number) => (child.stdio as unknown as readonly Writable[])[pipe] as Writable;

export type CommandResult = {
  /** The reason for its end. */
  end: 'exited' | 'timeout' | 'disk_full' | 'memory_full' | 'processes_full';
  /** Null if something else ended it. */
  exitCode: number | null;
  stdout: Captured;
  stderr: Captured;
  /** Sentences for the agent about the state of the computer. */
  note?: string;
};

/** The limit that a program exceeded. */
export type ExceededLimit = 'disk_full' | 'memory_full' | 'processes_full';

/**
 * Waits for a program, or kills it with everything it has started. Throws the signal's reason if the signal ended it.
 */
export async function waitForExit(
  { child, kill: killAll }: Confined,
  of: {
    timeoutMs: number;
    signal: AbortSignal;
    maxBytes: number;
    /** Ends the program if it exceeds a limit of the computer. The reason names the limit. */
    over?: AbortSignal;
  },
): Promise<CommandResult> {
  const { timeoutMs, signal, maxBytes, over } = of;
  const stdout = capture(child.stdout as Readable, maxBytes);
  const stderr = capture(child.stderr as Readable, maxBytes);
  let end: CommandResult['end'] = 'exited';
  const kill = (why: CommandResult['end']) => () => {
    end = why;
    killAll();
  };
  const timer = setTimeout(kill('timeout'), timeoutMs);
  const onAbort = kill('exited');
  const onOver = () => kill(over?.reason as ExceededLimit)();
  signal.addEventListener('abort', onAbort, { once: true });
  over?.addEventListener('abort', onOver, { once: true });
  try {
    // `close` comes when all holders of its output have ended.
    const [exitCode] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    return { end, exitCode: end === 'exited' ? exitCode : null, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    over?.removeEventListener('abort', onOver);
  }
}

/** The output of a program: its beginning and its end. `leftOut` counts the bytes in between. */
export type Captured = { head: Uint8Array; tail: Uint8Array; leftOut: number };

/** Stores the beginning and the end, and drops the rest, so that a flood of output does not fill the memory. */
export function capture(stream: Readable, maxBytes: number): () => Captured {
  const keepEach = Math.floor(maxBytes / 2);
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let leftOut = 0;
  stream.on('data', (chunk: Buffer) => {
    const begin = chunk.subarray(0, keepEach - headBytes);
    if (begin.length > 0) head.push(Buffer.from(begin));
    headBytes += begin.length;
    const rest = chunk.subarray(begin.length);
    if (rest.length === 0) return;
    tail.push(Buffer.from(rest));
    tailBytes += rest.length;
    if (tailBytes > 2 * keepEach) shorten();
  });
  stream.on('error', () => {});

  function shorten(): void {
    const joined = Buffer.concat(tail);
    const kept = joined.subarray(Math.max(0, joined.length - keepEach));
    leftOut += joined.length - kept.length;
    tail = [Buffer.from(kept)];
    tailBytes = kept.length;
  }

  return () => {
    if (tailBytes > keepEach) shorten();
    return { head: Buffer.concat(head), tail: Buffer.concat(tail), leftOut };
  };
}

/** Joins the output, with `cut` where bytes are missing. */
export function joinCaptured({ head, tail, leftOut }: Captured, cut: (bytes: number) => string): Uint8Array {
  return leftOut === 0 ? Buffer.concat([head, tail]) : Buffer.concat([head, Buffer.from(cut(leftOut)), tail]);
}
