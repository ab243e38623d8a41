import { expect, it } from 'vitest';
import { createLazyRef } from '../platform/kernel.ts';
import { createShutdown } from './shutdown.ts';

it('calls the listeners first, then undoes the parts in reverse order, each once', async () => {
  const shutdown = createShutdown({ graceMs: 1_000 });
  const seen: string[] = [];
  shutdown.undo(async () => void seen.push('database'));
  shutdown.undo(() => seen.push('worker'));
  shutdown.notifyFirst(() => seen.push('leave'));
  await shutdown.run();
  expect(seen).toEqual(['leave', 'worker', 'database']);
  await shutdown.run();
  expect(seen).toEqual(['leave', 'worker', 'database', 'leave']);
});

it('shares one grace period among all parts', async () => {
  const shutdown = createShutdown({ graceMs: 50 });
  const graces: number[] = [];
  shutdown.undo(({ graceMs }) => graces.push(graceMs));
  shutdown.undo(async ({ graceMs }) => {
    graces.push(graceMs);
    await new Promise((resolve) => setTimeout(resolve, 80));
  });
  await shutdown.run();
  expect(graces[0]).toBeGreaterThan(0);
  expect(graces[1]).toBe(0);
});

it('names a late value that is read too early', () => {
  const late = createLazyRef<number>('the engine');
  expect(() => late.get()).toThrow('the engine');
  late.set(1);
  expect(late.get()).toBe(1);
});
