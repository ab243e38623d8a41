import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { type Captured, capture } from './capture.ts';
import type { Confined } from './spawn-confined.ts';

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
export type Over = 'disk_full' | 'memory_full' | 'processes_full';

/** Waits for a program, or ends it with everything it has started. Throws the signal's reason where that ended it. */
export async function runToEnd(
  { child, kill: killAll }: Confined,
  of: {
    timeoutMs: number;
    signal: AbortSignal;
    maxBytes: number;
    /** Ends it where it takes too much of the computer, which its reason says. */
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
  const onOver = () => kill(over?.reason as Over)();
  signal.addEventListener('abort', onAbort, { once: true });
  over?.addEventListener('abort', onOver, { once: true });
  try {
    // Once nothing of it is left that could still say something.
    const [exitCode] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    return { end, exitCode: end === 'exited' ? exitCode : null, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    over?.removeEventListener('abort', onOver);
  }
}
