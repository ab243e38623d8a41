import { createWatchdog } from './watchdog.ts';

/** A process with a watchdog. `short`: blocks for three seconds. `forever`: until it is ended. `waiting`: does not block. */
const [kind = ''] = process.argv.slice(2);
const watchdog = createWatchdog({
  routes: ['messages.create', 'users.list'],
  endAfterMs: kind === 'short' ? 3_600_000 : 5_000,
});
watchdog.start();
watchdog.note('messages.create');

function spin(until: number): void {
  while (performance.now() < until);
}

setTimeout(() => {
  if (kind === 'short') spin(performance.now() + 3_000);
  if (kind === 'forever') spin(Number.POSITIVE_INFINITY);
  setTimeout(async () => {
    process.stdout.write(`blocks ${watchdog.blocks()}\n`);
    await watchdog.stop();
  }, 1_000);
}, 1_000);
