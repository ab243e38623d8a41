import { expect, it } from 'vitest';
import { untilAborted } from './waiters.ts';

it('untilAborted settles like the work', async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(untilAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken');
});

it('untilAborted rejects with the reason of the signal and ignores later failures', async () => {
  const stop = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = untilAborted(promise, stop.signal);
  stop.abort(new Error('no longer'));
  await expect(waiting).rejects.toThrow('no longer');
  await expect(untilAborted(promise, stop.signal)).rejects.toThrow('no longer');
  // An unhandled rejection would end the process.
  reject(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
});
