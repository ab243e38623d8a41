import { describe, expect, it } from 'vitest';
import { slowPatternsIn } from '../scripts/regular-expressions.ts';

const found = (pattern: string) => slowPatternsIn('source.ts', `export const wanted = ${pattern};\n`).length;

describe('the check of regular expressions', () => {
  it.each([
    ['a run before another character', '/[.!]+$/'],
    ['two runs of the same characters', String.raw`/^[ \t:|-]*-{3,}[ \t:|-]*$/gm`],
    ['an opening sign again and again', String.raw`/\[([^\]]+)\]\([^)]*\)/g`],
    ['a nested repetition', String.raw`/^(?:\s*\w+\s*)+;/`],
  ])('finds %s: %s [HRD-711]', (_, pattern) => {
    expect(found(pattern)).toBe(1);
  });

  it.each([String.raw`/^[ \t:|-]+$/gm`, '/[.!]{1,20}$/', String.raw`/\[([^[\]]+)\]\([^()]*\)/g`, '/ab+/'])(
    'accepts %s [HRD-711]',
    (pattern) => {
      expect(found(pattern)).toBe(0);
    },
  );
});
