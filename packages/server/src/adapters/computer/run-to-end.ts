import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Confined } from '../sandbox/spawn-confined.ts';
import { capture } from './capture.ts';
import type { CommandResult } from './computer-host.ts';

/** Waits for a program, or ends it with everything it has started. Throws the signal's reason where that ended it. */
export async function runToEnd(
  { child, kill: killAll }: Confined,
  of: { timeoutMs: number; signal: AbortSignal; maxBytes: number; full?: AbortSignal },
): Promise<CommandResult> {
  const { timeoutMs, signal, maxBytes, full } = of;
  const stdout = capture(child.stdout as Readable, maxBytes);
  const stderr = capture(child.stderr as Readable, maxBytes);
  let end: CommandResult['end'] = 'exited';
  const kill = (why: CommandResult['end']) => () => {
    end = why;
    killAll();
  };
  const timer = setTimeout(kill('timeout'), timeoutMs);
  const onAbort = kill('exited');
  const onFull = kill('disk_full');
  signal.addEventListener('abort', onAbort, { once: true });
  full?.addEventListener('abort', onFull, { once: true });
  try {
    // Once nothing of it is left that could still say something.
    const [exitCode] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    return { end, exitCode: end === 'exited' ? exitCode : null, stdout: stdout(), stderr: stderr() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    full?.removeEventListener('abort', onFull);
  }
}
