import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matcherOf } from './captures.ts';

const address = 'https://shop.example/api/items.json?page=2';

describe('a match [BRW-045]', () => {
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
  ])('%s: %s', (match, fits) => {
    expect(matcherOf(match, 'capture.0.match')(address)).toBe(fits);
  });

  it('that cannot be read is refused', () => {
    expect(() => matcherOf('/(/', 'capture.3.match')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: expect.objectContaining({ param: 'capture.3.match' }),
      }),
    );
  });

  it('ends, whatever the expression and the address', () => {
    const hostile = matcherOf('/(a+)+$/', 'match');
    expect(hostile(`${'a'.repeat(8_000)}!`)).toBe(false);
    fc.assert(
      fc.property(fc.string(), fc.webUrl(), (match, url) => {
        const plain = match.replaceAll('*', '').replace(/^\//, '');
        if (plain !== '') expect(matcherOf(plain, 'match')(url)).toBe(url.includes(plain));
      }),
    );
  });
});
