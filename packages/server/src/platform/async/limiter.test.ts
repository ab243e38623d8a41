import { describe, expect, it } from 'vitest';
import { createLimiter, mapLimited } from './limiter.ts';

/** Work that ends when the test calls `end`. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, end: resolve };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('createLimiter', () => {
  it('limits one group while other groups continue', async () => {
    const limiter = createLimiter({ atOnce: 3, atOnceEach: 2 });
    const begun: string[] = [];
    const slow = [held(), held(), held(), held()];
    const all = [
      ...slow.map(({ work }, at) =>
        limiter.run('slow', () => {
          begun.push(`slow ${at}`);
          return work();
        }),
      ),
      limiter.run('other', async () => void begun.push('other')),
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

  it('gives a free slot to the group with the fewest running, however long another waits', async () => {
    const limiter = createLimiter({ atOnce: 2 });
    const begun: string[] = [];
    const [first, second] = [held(), held()];
    const begin = (group: string, work: () => Promise<void> = async () => {}) =>
      limiter.run(group, () => {
        begun.push(group);
        return work();
      });
    const all = [begin('many', first.work), begin('many', second.work), begin('many'), begin('one')];
    first.end();
    await settle();
    expect(begun).toEqual(['many', 'many', 'one', 'many']);
    second.end();
    await Promise.all(all);
  });

  it('starts the next call after a failure, and returns null if too many wait', async () => {
    const limiter = createLimiter({ atOnce: 1, waitingEach: 1 });
    const first = held();
    const failing = limiter.run('a', () => first.work().then(() => Promise.reject(new Error('failed'))));
    const second = limiter.run('a', async () => 'second');
    expect(await limiter.run('a', async () => 'third')).toBeNull();
    first.end();
    await expect(failing).rejects.toThrow('failed');
    expect(await second).toBe('second');
    expect(await limiter.run('a', async () => 'fourth')).toBe('fourth');
  });

  it('removes an aborted call from the queue', async () => {
    const limiter = createLimiter({ atOnce: 1 });
    const first = held();
    const running = limiter.run('a', first.work);
    const stop = new AbortController();
    const left = limiter.run('a', async () => 'left', stop.signal);
    const stayed = limiter.run('a', async () => 'stayed');
    stop.abort(new Error('no longer'));
    await expect(left).rejects.toThrow('no longer');
    first.end();
    await running;
    expect(await stayed).toBe('stayed');
  });
});

it('mapLimited limits concurrency and keeps the order of results', async () => {
  let running = 0;
  let most = 0;
  const doubled = await mapLimited(3, [1, 2, 3, 4, 5, 6, 7], async (each) => {
    most = Math.max(most, ++running);
    for (let turn = 0; turn < 8 - each; turn++) await Promise.resolve();
    running--;
    return each * 2;
  });
  expect([doubled, most]).toEqual([[2, 4, 6, 8, 10, 12, 14], 3]);
  expect(await mapLimited(3, [], async () => 1)).toEqual([]);
});

it('mapLimited starts nothing after a failure and waits for the running calls', async () => {
  const begun: number[] = [];
  const ended: number[] = [];
  const work = async (each: number) => {
    begun.push(each);
    if (each === 2) throw new Error('broken');
    await new Promise((resolve) => setImmediate(resolve));
    ended.push(each);
  };
  await expect(mapLimited(2, [1, 2, 3, 4], work)).rejects.toThrow('broken');
  expect([begun, ended]).toEqual([[1, 2], [1]]);
});
