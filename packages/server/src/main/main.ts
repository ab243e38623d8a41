import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Before the rest is looked up, which a static import would do first.
enableCompileCache(join(import.meta.dirname, '../../../../node_modules/.cache/vestra'));
const { run } = await import('./run.ts');
await run();
// What V8 has compiled is kept for the next start before the first flag is set: it belongs to the flags that it is written under,
// and what Node brings compiled to those that Node begins with. A process that is killed would keep nothing.
flushCompileCache();
// A heap that grows by small steps halves the memory of a server.
setFlagsFromString('--heap-growing-percent=50');

const untilAtRestMs = 5_000;
const sinceStart = process.cpuUsage();
setTimeout(() => {
  const { user, system } = process.cpuUsage(sinceStart);
  const isAtRest = (user + system) / 1000 < untilAtRestMs / 5;
  // A server with work to do needs the room, and its callers no pause.
  if (isAtRest) giveBackMemory();
}, untilAtRestMs).unref();

/** What the start left behind, and the room for young objects that it needed: V8 itself would keep both while nothing is to be done. */
function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
}
