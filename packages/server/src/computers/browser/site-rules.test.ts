import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agentRules, fetchRules, verdictOn } from './site-rules.ts';

const settings = {
  allowed_domains: ['shop.example', 'Bank.Example'],
  blocked_paths: ['shop.example/account', 'bank.example/Pay%20Out/now', 'other.example/'],
};
const rules = fetchRules(settings);

describe('the sites of a version', () => {
  it.each([
    ['https://shop.example/', 'open'],
    ['https://www.shop.example/x?y', 'open'],
    ['https://SHOP.example./x', 'open'],
    ['https://shop.example:8443/x', 'open'],
    ['https://bank.example/', 'open'],
    ['http://shop.example/', 'open'],
    ['https://user:word@shop.example/', 'open'],
    ['https://shop.example@evil.example/', 'site'],
    ['https://shop.example.evil.example/', 'site'],
    ['https://evilshop.example/', 'site'],
    ['https://m.shop.example/', 'site'],
    ['https://www.www.shop.example/', 'site'],
    ['https://shop.example\\@evil.example/', 'open'],
    ['https://evil.example\\@shop.example/', 'site'],
    ['https://evil.example/#@shop.example/', 'site'],
    ['https://127.0.0.1/', 'site'],
    ['https://[::1]/', 'site'],
    ['file:///etc/passwd', 'site'],
    ['javascript:alert(1)', 'site'],
    ['data:text/html,shop.example', 'site'],
    ['not an address', 'site'],
  ])('%s: %s [BRW-024, DFILE-019]', (address, kind) => {
    expect(verdictOn(rules, address).kind).toBe(kind);
  });

  it('allow a fetch nothing and the agent everything if the version names none [DFILE-021]', () => {
    for (const absent of [null, { blocked_paths: ['other.example/'] }]) {
      expect(verdictOn(fetchRules(absent), 'https://shop.example/').kind).toBe('site');
      expect(verdictOn(agentRules(absent), 'https://shop.example/').kind).toBe('open');
    }
    expect(verdictOn(agentRules(null), 'https://other.example/').kind).toBe('open');
    expect(verdictOn(agentRules({ blocked_paths: ['other.example/'] }), 'https://other.example/').kind).toBe('page');
    expect(verdictOn(agentRules(settings), 'https://elsewhere.example/').kind).toBe('site');
  });
});

describe('a blocked page', () => {
  it.each([
    '/account',
    '/account/orders?id=1',
    '/accounts',
    '/ACCOUNT',
    '/%61ccount',
    '/%2561ccount',
    '/%252561ccount',
    '//account',
    '///account//x',
    '/./account',
    '/x/../account',
    '/x/%2e%2e/account',
    '/x/%2e%2e%2faccount',
    '/x%2f..%2faccount',
    '/x/%252e%252e/account',
    '/%2faccount',
    '/\\account',
    '/x/..\\account',
    '/x/..%5caccount',
    '/;a=b/account',
    '/account;jsessionid=1',
    '/a;b/../account',
    '/x/%2f..%2f../account',
  ])('is blocked as %s [BRW-026]', (path) => {
    expect(verdictOn(rules, `https://shop.example${path}`)).toMatchObject({
      kind: 'page',
      page: { host: 'shop.example' },
    });
    expect(verdictOn(rules, `https://WWW.shop.example.:444${path}`).kind).toBe('page');
  });

  it.each(['/', '/acc', '/shop/account', '/x?next=/account', '/#/account', '/account/../open', '/%'])(
    '%s may be opened',
    (path) => {
      expect(verdictOn(rules, `https://shop.example${path}`).kind).toBe('open');
    },
  );

  it('is reported by host and path, without the query [AUD-010]', () => {
    expect(verdictOn(rules, 'https://www.shop.example/account/card?number=4111#x')).toEqual({
      kind: 'page',
      page: { host: 'www.shop.example', path: '/account/card' },
    });
  });

  it('is recognised in every notation of the rule', () => {
    expect(verdictOn(rules, 'https://bank.example/pay out/now/1').kind).toBe('page');
    expect(verdictOn(rules, 'https://bank.example/pay%20out/x').kind).toBe('open');
  });

  it('stays blocked for every encoding and every detour in its path', () => {
    const letters = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 8, maxLength: 8 });
    const detours = fc.array(fc.constantFrom('/', '/.', '/x/..', '/a/b/../..', '/;p=1'), { maxLength: 4 });
    fc.assert(
      fc.property(letters, detours, fc.string(), (times, way, rest) => {
        const name = [...'account'].map((letter, at) => coded(letter, times[at] ?? 0)).join('');
        const address = `https://shop.example${way.join('')}/${name}${encodeURIComponent(rest.toWellFormed())}`;
        expect(verdictOn(rules, address).kind).toBe('page');
      }),
    );
  });

  it('blocks nothing on another site', () => {
    fc.assert(
      fc.property(fc.webPath(), (path) => {
        expect(
          verdictOn(fetchRules({ ...settings, blocked_paths: ['bank.example/'] }), `https://shop.example${path}`).kind,
        ).toBe('open');
      }),
      { numRuns: 30 },
    );
  });
});

/** `a`, `%61`, `%2561`, `%252561`. */
function coded(letter: string, times: number): string {
  if (times === 0) return letter;
  const once = `%${letter.charCodeAt(0).toString(16)}`;
  return once.replace('%', `%${'25'.repeat(times - 1)}`);
}
