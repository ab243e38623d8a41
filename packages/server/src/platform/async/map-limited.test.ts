import { expect, it } from 'vitest';
import { mapLimited } from './map-limited.ts';

it('does all, so many at a time, and keeps their order', async () => {
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

it('begins nothing more once one has failed, and waits for what runs', async () => {
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
