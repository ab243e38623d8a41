import { expect, it } from 'vitest';
import { keepContent, madeOnce } from './static-content.ts';

it('is made once for all who ask, and again only where it could not be made [REQ-202]', async () => {
  let made = 0;
  const kept = madeOnce(async () => {
    made += 1;
    if (made === 1) throw new Error('no luck');
    return keepContent('x'.repeat(1000), 'text/plain');
  });
  await expect(kept()).rejects.toThrow('no luck');
  const [first, second] = await Promise.all([kept(), kept()]);
  expect([second, await kept(), made]).toEqual([first, first, 2]);
  expect(first.zipped.length).toBeLessThan(first.bytes.length);
});
