import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createBatchSharing, shareLeft } from './slots.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  { concurrency: 50, workers: 3, own: 0, left: 17 },
  { concurrency: 50, workers: 3, own: 17, left: 0 },
  { concurrency: 50, workers: 3, own: 40, left: 0 },
  { concurrency: 1, workers: 8, own: 0, left: 1 },
  { concurrency: 8, workers: 1, own: 3, left: 5 },
])('gives $left more of $concurrency slots to one of $workers processes that has $own [OPS-746]', ({ left, ...of }) => {
  expect(shareLeft(of)).toBe(left);
});

it('offers free slots to the others at once, and takes the rest once if they stay free [OPS-746]', () => {
  const offered: string[] = [];
  const taken: string[] = [];
  const sharing = createBatchSharing({
    workers: () => 2,
    offer: (id) => void offered.push(id),
    takeRest: ({ batchId }) => void taken.push(batchId),
  });
  const batch = { orgId: 'org_a', mode: 'test' as const, batchId: 'bat_1' };
  sharing.leave(batch);
  sharing.leave(batch);
  expect([offered, taken]).toEqual([['bat_1', 'bat_1'], []]);
  vi.advanceTimersByTime(60_000);
  expect(taken).toEqual(['bat_1']);
  sharing.leave(batch);
  sharing.stop();
  vi.advanceTimersByTime(60_000);
  expect(taken).toEqual(['bat_1']);
});
