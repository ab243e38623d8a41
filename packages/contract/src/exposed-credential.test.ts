import { describe, expect, it } from 'vitest';
import { headerExposesCredential, urlExposesCredential } from './exposed-credential.ts';
import { secretsIn, withFullReferences, withShortReferences } from './secrets-in-text.ts';

describe('a URL that carries a credential [TOOL-028]', () => {
  it.each([
    'https://user:pass@tools.example.com/mcp',
    'https://token@tools.example.com/mcp',
    'https://tools.example.com/mcp?api_key=1',
    'https://tools.example.com/mcp?apikey=1',
    'https://tools.example.com/mcp?region=eu&ACCESS_TOKEN=1',
    'https://tools.example.com/mcp?accessToken=1',
    'https://tools.example.com/mcp?client-secret=1',
    'https://tools.example.com/mcp?password=',
    'https://tools.example.com/mcp?auth=1',
    'https://tools.example.com/mcp?key=${secret:KEY}',
  ])('%s', (url) => {
    expect(urlExposesCredential(url)).toBe(true);
  });

  it.each([
    'https://tools.example.com/mcp',
    'https://tools.example.com/token/mcp?region=eu',
    'https://tools.example.com/mcp?author=5&keyword=a&monkey=1&tokenize=1&q=password',
    'no url',
  ])('does not include %s', (url) => {
    expect(urlExposesCredential(url)).toBe(false);
  });
});

describe('a header that carries a credential in the open [TOOL-027]', () => {
  it.each([
    ['Authorization', 'Bearer abc'],
    ['authorization', 'Basic ${lower}'],
    ['Proxy-Authorization', 'abc'],
    ['Cookie', 'session=abc'],
    ['X-Api-Key', 'abc'],
    ['apikey', 'abc'],
    ['X-Auth-Token', 'abc'],
    ['X-Client-Secret', 'abc'],
  ])('%s: %s', (name, value) => {
    expect(headerExposesCredential(name, value)).toBe(true);
  });

  it.each([
    ['X-Region', 'eu'],
    ['X-Keyword', 'abc'],
    ['X-Monkey', 'abc'],
    ['Authorization', 'Bearer ${TOKEN}'],
    ['X-Api-Key', '${secret:KEY}'],
    ['Cookie', 'session=${user_secret:SESSION}'],
  ])('does not include %s: %s', (name, value) => {
    expect(headerExposesCredential(name, value)).toBe(false);
  });
});

describe('references to secrets in a text', () => {
  const text = 'Basic ${USER}:${secret:PASS} ${user_secret:MINE} ${USER} ${lower} $NAME ${secret:}';

  it('are found with their owner, each once', () => {
    expect(secretsIn(text)).toEqual({ company: ['USER', 'PASS'], user: ['MINE'] });
  });

  it('are expanded and shortened, and nothing else changes', () => {
    const full = 'Basic ${secret:USER}:${secret:PASS} ${user_secret:MINE} ${secret:USER} ${lower} $NAME ${secret:}';
    expect(withFullReferences(text)).toBe(full);
    expect(withFullReferences(full)).toBe(full);
    expect(withShortReferences(full)).toBe(
      'Basic ${USER}:${PASS} ${user_secret:MINE} ${USER} ${lower} $NAME ${secret:}',
    );
  });
});
