import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matcherOf } from './captures.ts';

const address = 'https://shop.example/api/items.json?page=2';

describe('an address pattern [BRW-045]', () => {
  it.each([
    ['api/items', true],
    ['page=2', true],
    ['API/items', false],
    ['items.json?page', true],
    ['*/api/*', true],
    ['https://shop.example/*', true],
    ['/api/*', true],
    ['/api/items*', true],
    ['*.json', false],
    ['/items*', false],
    ['*items?json*', false],
    ['/items\\.json/', true],
    ['/^https:.*page=\\d$/', true],
    ['/page=\\d{2}/', false],
    ['/', true],
    ['//', true],
  ])('%s: %s', async (match, fits) => {
    expect((await matcherOf(match, 'capture.0.match'))(address)).toBe(fits);
  });

  it('is refused if it cannot be parsed', async () => {
    await expect(matcherOf('/(/', 'capture.3.match')).rejects.toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: expect.objectContaining({ param: 'capture.3.match' }),
      }),
    );
  });

  it('ends in linear time for every expression and address', async () => {
    const hostile = await matcherOf('/(a+)+$/', 'match');
    expect(hostile(`${'a'.repeat(8_000)}!`)).toBe(false);
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.webUrl(), async (match, url) => {
        const plain = match.replaceAll('*', '').replace(/^\//, '');
        if (plain !== '') expect((await matcherOf(plain, 'match'))(url)).toBe(url.includes(plain));
      }),
    );
  });
});
