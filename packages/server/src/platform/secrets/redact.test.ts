import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from './redact.ts';

const token = 'sk_live/4f+8a b9"0?';
const hide = createRedactor([{ value: token, mark: '[secret]' }]);
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('a redacted text', () => {
  it.each<[string, string, RegExp]>([
    ['the value', `a ${token} b`, /^a \[secret\] b$/],
    ['JSON', JSON.stringify({ token }), /^\{"token":"\[secret\]"\}$/],
    ['a URL', `https://a.test/?t=${encodeURIComponent(token)}&b`, /\?t=\[secret\]&b$/],
    [
      'a URL with small letters',
      encodeURIComponent(token).replace(/%../g, (each) => each.toLowerCase()),
      /^\[secret\]$/,
    ],
    ['a form', encodeURIComponent(token).replaceAll('%20', '+'), /^\[secret\]$/],
    ['hex', Buffer.from(token).toString('hex'), /^\[secret\]$/],
    ['HEX', Buffer.from(token).toString('hex').toUpperCase(), /^\[secret\]$/],
    ['base64', base64(token), /^\[secret\].{0,3}$/],
    ['base64 after one byte', base64(`:${token}`), /^.{2}\[secret\].{0,3}$/],
    ['base64 after two bytes', base64(`u:${token}`), /^.{3}\[secret\].{0,3}$/],
    ['base64 for URLs', Buffer.from(token).toString('base64url'), /^\[secret\].?$/],
    [
      'base64 of basic auth',
      `Authorization: Basic ${base64(`user:${token}`)}`,
      /Basic [A-Za-z0-9]{7}\[secret\].{0,3}$/,
    ],
    ['base64 in lines', base64(`user:${token}`).replace(/(.{10})/g, '$1\n'), /\[secret\]/],
    [
      'hex in lines',
      Buffer.from(token)
        .toString('hex')
        .replace(/(.{7})/g, '$1\r\n'),
      /^\[secret\]\s*[0-9a-f]{0,3}$/,
    ],
  ])('hides a secret in %s [HRD-704]', (_what, text, shown) => {
    expect(hide(text)).toMatch(shown);
    expect(hide(`before ${text} after`)).toMatch(/^before .*\[secret\].* after$/s);
  });

  it('keeps other text, and short values that occur by chance [HRD-704]', () => {
    const short = createRedactor([
      { value: 'key1', mark: '[secret]' },
      { value: 'abc', mark: '[secret]' },
    ]);
    const text = `abc ${base64('key1')} ${Buffer.from('key1').toString('hex')} line\nnext`;
    expect(short(text)).toBe(text);
    expect(short('key1')).toBe('[secret]');
  });

  it('contains no form of any secret, wherever it begins and lines break [HRD-704]', () => {
    const value = fc
      .string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' })
      .filter((each) => each.trim() === each);
    fc.assert(
      fc.property(value, fc.string({ maxLength: 9 }), fc.integer({ min: 20, max: 90 }), (secret, before, width) => {
        const redactor = createRedactor([{ value: secret, mark: '[]' }]);
        const lines = (text: string) => text.replace(new RegExp(`.{${width}}`, 'g'), '$&\n');
        for (const kind of ['base64', 'hex'] as const) {
          const text = lines(Buffer.from(before + secret).toString(kind));
          const left = redactor(text).replaceAll('\n', '');
          expect(Buffer.from(left.split('[]')[0] ?? '', kind).toString()).not.toContain(secret);
          expect(redactor(text)).toContain('[]');
        }
      }),
      { numRuns: 300 },
    );
  });

  it('of 12 MB is searched once for each form, also if it repeats the beginning of a secret [HRD-704]', () => {
    const slow = createRedactor([{ value: `${'a'.repeat(2_000)}b`, mark: '[secret]' }]);
    const text = 'a'.repeat(12_000_000);
    expect(slow(text)).toBe(text);
    expect(slow(`${text}b`)).toHaveLength(text.length - 2_000 + '[secret]'.length);
  });
});
