import inspector from 'node:inspector';
import { Worker } from 'node:worker_threads';

export type Watchdog = {
  /** Called when a request starts work that may block. Costs a few nanoseconds. */
  note: (route: string) => void;
  /** How often the event loop was blocked for longer than a second. */
  blocks: () => number;
  /** Called once the process serves: a start on a slow machine may block for long. */
  start: () => void;
  stop: () => Promise<void>;
};

/** Memory that the thread shares with the process: the heartbeat, the number of blocks, and the latest routes by number. */
type Shared = { counts: Int32Array; latest: Int32Array };

export type WatchdogData = { shared: Shared; routes: readonly string[]; endAfterMs: number };

export const heartbeat = 0;
export const blocks = 1;

export const beatEveryMs = 250;
const latestRoutes = 8;

/**
 * Watches the event loop from a thread. If one piece of work blocks the loop for longer than a second, the thread logs
 * where it is and which routes were called last. If it blocks for `endAfterMs`, the thread ends the process: other
 * processes then continue its runs, and a service manager starts it again. A blocked process does neither, and it does
 * not react to SIGTERM. A process that somebody debugs is not watched. `endAfterMs` 0: no thread.
 */
export function createWatchdog({ routes, endAfterMs }: { routes: readonly string[]; endAfterMs: number }): Watchdog {
  const shared: Shared = {
    counts: new Int32Array(new SharedArrayBuffer(8)),
    latest: new Int32Array(new SharedArrayBuffer(4 * latestRoutes)).fill(-1),
  };
  const numbers = new Map(routes.map((route, at) => [route, at]));
  const data: WatchdogData = { shared, routes, endAfterMs };
  let thread: Worker | null = null;
  let beating: NodeJS.Timeout | undefined;
  let next = 0;
  return {
    note(route) {
      shared.latest[next++ % latestRoutes] = numbers.get(route) ?? -1;
    },
    blocks: () => Atomics.load(shared.counts, blocks),
    start() {
      if (thread || endAfterMs === 0 || inspector.url() !== undefined) return;
      thread = new Worker(new URL('./watchdog-thread.ts', import.meta.url), {
        workerData: data,
        env: {},
        // Little code and little data: a young generation of the usual size would be most of its memory.
        resourceLimits: { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 32, stackSizeMb: 1 },
      });
      thread.unref();
      // Without the thread, the process runs as before.
      thread.on('error', () => {});
      beating = setInterval(() => Atomics.add(shared.counts, heartbeat, 1), beatEveryMs).unref();
    },
    async stop() {
      clearInterval(beating);
      await thread?.terminate();
    },
  };
}
