import { describe, expect, it } from 'vitest';
import { clearedCookie, isSecureRequest, readSessionToken, sessionCookie } from './console-session.ts';

describe('the console cookie', () => {
  it('is out of reach for scripts and other sites, and Secure where the browser came by https', () => {
    expect(sessionCookie('abc', false)).toBe('vestra_console=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800');
    expect(sessionCookie('abc', true)).toBe(
      'vestra_console=abc; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure',
    );
    expect(clearedCookie(true)).toBe('vestra_console=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure');
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
    ['vestra_console=abc', 'abc'],
    ['theme=dark; vestra_console=abc; other=1', 'abc'],
    ['vestra_console_old=abc', null],
    ['vestra_console=', null],
    ['', null],
  ])('is read from %j', (cookie, expected) => {
    expect(readSessionToken(new Headers({ cookie }))).toBe(expected);
  });
});
