import { writeSync } from 'node:fs';
import { type Debugger, Session } from 'node:inspector';
import { isatty } from 'node:tty';
import { workerData } from 'node:worker_threads';
import { beatEveryMs, blocks, heartbeat, type WatchdogData } from './watchdog.ts';

const { shared, routes, endAfterMs }: WatchdogData = workerData;

const lookEveryMs = 2 * beatEveryMs;
const reportAfterLooks = 2;
const endAfterLooks = Math.max(reportAfterLooks + 1, Math.ceil(endAfterMs / lookEveryMs));
const mostFrames = 12;
const withoutStackAfterMs = 2_000;

/** For how many looks in a row there was no heartbeat. Not a time: a stopped process must not count as a blocked one. */
let missed = 0;
let last = -1;

setInterval(() => {
  const beats = Atomics.load(shared.counts, heartbeat);
  missed = beats === last ? missed + 1 : 0;
  last = beats;
  if (missed === reportAfterLooks) {
    Atomics.add(shared.counts, blocks, 1);
    report();
  }
  if (missed >= endAfterLooks) end();
}, lookEveryMs);

/** The stack is only available where the work can be interrupted, which is not inside a native function. */
function report(): void {
  const session = new Session();
  session.connectToMainThread();
  let isWritten = false;
  const finish = (stack: string[]) => {
    if (isWritten) return;
    isWritten = true;
    write('warn', 'the event loop is blocked', { latest_routes: latestRoutes(), stack: stack.join('\n') });
    session.disconnect();
  };
  session.once('Debugger.paused', ({ params }) => {
    const stack = params.callFrames.slice(0, mostFrames).map(frameOf);
    session.post('Debugger.resume', () => finish(stack));
  });
  session.post('Debugger.enable');
  session.post('Debugger.pause');
  setTimeout(() => finish([]), withoutStackAfterMs);
}

function frameOf({ functionName, url, location }: Debugger.CallFrame): string {
  return `    at ${functionName || '(anonymous)'} (${url}:${location.lineNumber + 1})`;
}

/** Newest requests have no order among them: the routes are those that began work last. */
const latestRoutes = (): string[] => [
  ...new Set([...shared.latest].flatMap((number) => (number < 0 ? [] : [routes[number] ?? '']))),
];

function end(): void {
  const seconds = Math.round((missed * lookEveryMs) / 1000);
  write('fatal', 'the event loop stayed blocked, so the process ends', { seconds, latest_routes: latestRoutes() });
  // Nothing weaker ends a process whose main thread does not run.
  process.kill(process.pid, 'SIGKILL');
}

/** The log of the process is written by the blocked thread, so this line is written directly. */
function write(level: string, msg: string, facts: object): void {
  const time = new Date().toISOString();
  const line = JSON.stringify({ level, time, ...facts, msg });
  // A terminal shows one readable line, like those of the process. The stack is only in the log.
  const readable = `${time.slice(11, 19)} ${level.padEnd(5)} ${msg}`;
  try {
    writeSync(1, `${isatty(1) ? readable : line}\n`);
  } catch {
    // The reader of standard output may be gone.
  }
}
