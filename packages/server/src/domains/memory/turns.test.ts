import { describe, expect, it } from 'vitest';
import { createTurns } from './turns.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, end: resolve };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('let one name do a few things at once, and others go on beside it', async () => {
    const take = createTurns({ ofOne: 2, ofAll: 3, waiting: 10 });
    const begun: string[] = [];
    const slow = [held(), held(), held(), held()];
    const all = [
      ...slow.map(({ work }, at) =>
        take('slow', () => {
          begun.push(`slow ${at}`);
          return work();
        }),
      ),
      take('other', async () => void begun.push('other')),
    ];
    await settle();
    expect(begun).toEqual(['slow 0', 'slow 1', 'other']);
    slow[0]?.end();
    await settle();
    expect(begun).toEqual(['slow 0', 'slow 1', 'other', 'slow 2']);
    for (const { end } of slow) end();
    await Promise.all(all);
    expect(begun).toHaveLength(5);
  });

  it('pass on after a failure, and refuse when too many wait', async () => {
    const take = createTurns({ ofOne: 1, ofAll: 1, waiting: 1 });
    const first = held();
    const failing = take('a', () => first.work().then(() => Promise.reject(new Error('failed'))));
    const second = take('a', async () => 'second');
    await expect(take('a', async () => 'third')).rejects.toMatchObject({ code: 'not_ready' });
    first.end();
    await expect(failing).rejects.toThrow('failed');
    expect(await second).toBe('second');
    expect(await take('a', async () => 'fourth')).toBe('fourth');
  });
});
