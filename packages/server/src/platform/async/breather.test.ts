import { describe, expect, it } from 'vitest';
import { createBreather, mapInParts } from './breather.ts';

describe('a long computation', () => {
  it('lets others run once it has held the process for 10 ms', async () => {
    let now = 0;
    let others = 0;
    let isOver = false;
    const run = () => {
      others += 1;
      if (!isOver) setImmediate(run);
    };
    setImmediate(run);
    const mapped = await mapInParts(
      Array.from({ length: 100 }, (_, at) => at),
      (at) => {
        now += 1;
        return at * 2;
      },
      createBreather(() => now),
    );
    isOver = true;
    expect(mapped.slice(0, 3)).toEqual([0, 2, 4]);
    expect(others).toBeGreaterThanOrEqual(9);
  });

  it('that is short runs without a pause', async () => {
    let hasRun = false;
    setImmediate(() => {
      hasRun = true;
    });
    await mapInParts(
      [1, 2, 3],
      (each) => each,
      createBreather(() => 0),
    );
    expect(hasRun).toBe(false);
  });
});
