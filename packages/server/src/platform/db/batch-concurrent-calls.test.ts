import { describe, expect, it } from 'vitest';
import { batchReads } from './batch-concurrent-calls.ts';

/** A read that ends when the test releases it. */
function heldReads() {
  const held: { wanted: number[]; end: (found?: number[]) => void; fail: (error: Error) => void }[] = [];
  const read = batchReads(
    (wanted: number[]) =>
      new Promise<number[]>((resolve, reject) => {
        held.push({ wanted, end: (found = wanted.map((each) => each * 10)) => resolve(found), fail: reject });
      }),
  );
  return { held, read };
}

describe('concurrent reads', () => {
  it('share one statement, and each gets its own result', async () => {
    const { held, read } = heldReads();
    const first = read(1);
    const others = Promise.all([read(2), read(3)]);
    expect(held.map(({ wanted }) => wanted)).toEqual([[1]]);
    held[0]?.end();
    expect(await first).toBe(10);
    expect(held[1]?.wanted).toEqual([2, 3]);
    held[1]?.end();
    expect(await others).toEqual([20, 30]);
  });

  it('are not answered by a statement that started before them', async () => {
    const { held, read } = heldReads();
    const first = read(1);
    const second = read(1);
    held[0]?.end([100]);
    expect(await first).toBe(100);
    held[1]?.end([200]);
    expect(await second).toBe(200);
  });

  it('fail together, and the next read works', async () => {
    const { held, read } = heldReads();
    const first = read(1);
    held[0]?.fail(new Error('away'));
    await expect(first).rejects.toThrow('away');
    const next = read(2);
    held[1]?.end();
    expect(await next).toBe(20);
  });
});
