import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Enable the cache before the modules are resolved, which a static import would do first.
enableCompileCache(join(import.meta.dirname, '../../../../node_modules/.cache/vestra'));
const { run } = await import('./run.ts');
await run();
// Write the compile cache before the first V8 flag is set: cached code is only valid for the flags it was written
// under. A killed process would not write it at all.
flushCompileCache();
// Growing the heap in small steps halves the memory of a server.
setFlagsFromString('--heap-growing-percent=50');

const untilAtRestMs = 5_000;
const sinceStart = process.cpuUsage();
setTimeout(() => {
  const { user, system } = process.cpuUsage(sinceStart);
  const isAtRest = (user + system) / 1000 < untilAtRestMs / 5;
  // A busy server needs the memory, and its callers must not wait for the collection.
  if (isAtRest) giveBackMemory();
}, untilAtRestMs).unref();

/** Collects the garbage of the start and shrinks the young generation. V8 keeps both as long as the server is idle. */
function giveBackMemory(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc');
}
