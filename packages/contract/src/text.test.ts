import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { text } from './text.ts';

describe('text', () => {
  it('counts code points, with and without the shortcut [REQ-603]', () => {
    const texts = fc.array(fc.constantFrom('a', 'ä', '語', '🦊'), { maxLength: 12 }).map((parts) => parts.join(''));
    const bounds = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }));
    fc.assert(
      fc.property(texts, bounds, (value, [min, more]) => {
        const count = [...value].length;
        expect(text(min, min + more).safeParse(value).success).toBe(count >= min && count <= min + more);
      }),
      { numRuns: 2000 },
    );
  });
});
