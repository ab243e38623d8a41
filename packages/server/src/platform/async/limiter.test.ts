import { describe, expect, it } from 'vitest';
import { createLimiter } from './limiter.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, end: resolve };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a limiter', () => {
  it('lets one group do a few things at once, and others go on beside it', async () => {
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

  it('gives a free place to the group that has least, however long another waits', async () => {
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

  it('passes on after a failure, and answers null when too many wait', async () => {
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

  it('forgets whoever stops waiting, and keeps no place for them', async () => {
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
