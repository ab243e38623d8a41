import { describe, expect, it } from 'vitest';
import { clearedCookie, isSecureRequest, readSessionToken, sessionCookie } from './session-cookies.ts';

describe('the session cookie', () => {
  it('is hidden from scripts and other sites, and bound to its host over https [MBR-201]', () => {
    expect(sessionCookie('abc', false)).toBe('vestra_console=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800');
    expect(sessionCookie('abc', true)).toBe(
      '__Host-vestra_console=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure',
    );
    expect(clearedCookie(true)).toBe('__Host-vestra_console=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure');
  });

  it.each([
    ['http://localhost:4600', {}, false],
    ['https://agents.example.com', {}, true],
    ['http://localhost:4600', { 'x-forwarded-proto': 'https' }, true],
    ['http://localhost:4600', { 'x-forwarded-proto': 'HTTPS, http' }, true],
    ['http://localhost:4600', { 'x-forwarded-proto': 'http, https' }, false],
  ])('%s with %j', (publicUrl, headers, expected) => {
    expect(isSecureRequest(new Headers(headers as Record<string, string>), publicUrl)).toBe(expected);
  });

  it.each([
    ['vestra_console=abc', 'abc', null],
    ['theme=dark; vestra_console=abc; other=1', 'abc', null],
    ['__Host-vestra_console=abc', null, 'abc'],
    // A cookie of a sibling host does not replace the cookie of this one.
    ['vestra_console=theirs; __Host-vestra_console=abc', 'theirs', 'abc'],
    ['vestra_console_old=abc', null, null],
    ['vestra_console=', null, null],
    ['', null, null],
  ])('is read from %j: over http %j, over https %j [MBR-201]', (cookie, byHttp, byHttps) => {
    const read = (publicUrl: string) => readSessionToken(new Headers({ cookie }), publicUrl);
    expect([read('http://127.0.0.1:4600'), read('https://agents.example.com')]).toEqual([byHttp, byHttps]);
  });
});
