import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textIn } from './agent-tools.ts';
import { uploadNames } from './prepare-computer.ts';

describe('reading the bytes of a file', () => {
  it('returns text, also for a part that cuts a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), fc.nat(200), (text, at) => {
        fc.pre(!text.includes('\0') && !text.startsWith('\ufeff'));
        const bytes = Buffer.from(text, 'utf8');
        expect(textIn(bytes)).toBe(text);
        const [first, last] = [textIn(bytes.subarray(0, at)), textIn(bytes.subarray(at))];
        expect(text.startsWith(first ?? 'no text')).toBe(true);
        expect(text.endsWith(last ?? 'no text')).toBe(true);
      }),
    );
  });

  it.each([
    ['a zero', [65, 0, 66]],
    ['what is no character', [65, 0xff, 66]],
    ['a character that breaks off', [0xe2, 0x82, 65]],
  ])('returns null for bytes with %s', (_what, bytes) => {
    expect(textIn(Uint8Array.from(bytes))).toBeNull();
  });
});

it.each([
  [
    ['a.csv', 'b.csv'],
    ['a.csv', 'b.csv'],
  ],
  [
    ['a.csv', 'a.csv', 'a.csv'],
    ['a.csv', 'a-2.csv', 'a-3.csv'],
  ],
  [
    ['a-2.csv', 'a.csv', 'a.csv'],
    ['a-2.csv', 'a.csv', 'a-3.csv'],
  ],
  [
    ['notes', 'notes'],
    ['notes', 'notes-2'],
  ],
  [
    ['.env', '.env'],
    ['.env', '.env-2'],
  ],
])('names the uploads %j as %j', (given, expected) => {
  expect(uploadNames(given)).toEqual(expected);
});
