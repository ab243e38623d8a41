import { expect, it } from 'vitest';
import { buildOnce, staticContent } from './static-content.ts';

it('builds static content once for all requests, and again only after a failure [REQ-202]', async () => {
  let made = 0;
  const kept = buildOnce(async () => {
    made += 1;
    if (made === 1) throw new Error('no luck');
    return staticContent('x'.repeat(1000), 'text/plain');
  });
  await expect(kept()).rejects.toThrow('no luck');
  const [first, second] = await Promise.all([kept(), kept()]);
  expect([second, await kept(), made]).toEqual([first, first, 2]);
  expect(first.zipped.length).toBeLessThan(first.bytes.length);
});
