import { expect, it } from 'vitest';
import { createLate } from '../platform/lazy-ref.ts';
import { createShutdown } from './shutdown.ts';

it('tells first, then undoes the last part first, and undoes nothing twice', async () => {
  const shutdown = createShutdown({ graceMs: 1_000 });
  const seen: string[] = [];
  shutdown.undo(async () => void seen.push('database'));
  shutdown.undo(() => seen.push('worker'));
  shutdown.tellFirst(() => seen.push('leave'));
  await shutdown.run();
  expect(seen).toEqual(['leave', 'worker', 'database']);
  await shutdown.run();
  expect(seen).toEqual(['leave', 'worker', 'database', 'leave']);
});

it('has one grace for all parts: what the first has used the next no longer has', async () => {
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

it('a late value says which it is to whoever asks too early', () => {
  const late = createLate<number>('the engine');
  expect(() => late.get()).toThrow('the engine');
  late.set(1);
  expect(late.get()).toBe(1);
});
