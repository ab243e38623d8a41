import { deploymentSlug } from '@vestra/contract/slug';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberedSlug, slugFromName } from './slug.ts';

describe('the slug of a name', () => {
  it.each([
    ['Support desk', 'support-desk'],
    ['  Café — Zürich!  ', 'cafe-zurich'],
    ['Cafe\u0301', 'cafe'],
    ['Straße & Smørrebrød', 'strasse-smorrebrod'],
    ['İstanbul ılık', 'istanbul-ilik'],
    ['ＡＢＣ ①２', 'abc-12'],
    ['Desk_2 (EU)', 'desk-2-eu'],
    ['東京 support', 'support'],
    ['--a--', 'a'],
    ['東京', 'deployment'],
    ['🙂', 'deployment'],
    [' ', 'deployment'],
    [`${'a'.repeat(62)} tail`, 'a'.repeat(62)],
    ['x'.repeat(120), 'x'.repeat(63)],
  ])('%j is %s [DEP-004]', (name, slug) => {
    expect(slugFromName(name)).toBe(slug);
  });

  it('is one that the contract takes, whatever the name and the number', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 120 });
    const mixed = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(fc.oneof(name, mixed), fc.integer({ min: 1, max: 100_000 }), (text, number) => {
        expect(deploymentSlug.safeParse(numberedSlug(slugFromName(text), number)).success).toBe(true);
      }),
    );
  });

  it.each([
    ['desk', 1, 'desk'],
    ['desk', 2, 'desk-2'],
    ['desk', 13, 'desk-13'],
    ['a'.repeat(63), 2, `${'a'.repeat(61)}-2`],
    [`${'a'.repeat(60)}-bc`, 10, `${'a'.repeat(60)}-10`],
  ])('%s becomes, as number %i, %s', (slug, number, expected) => {
    expect(numberedSlug(slug, number)).toBe(expected);
  });
});
