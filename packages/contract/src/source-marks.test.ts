import { describe, expect, it } from 'vitest';
import { marksIn, splitAtMarks, withoutMarks } from './source-marks.ts';

describe('the marks of a reply', () => {
  it.each<[reply: string, marks: number[]]>([
    ['Forty days [3].', [3]],
    ['Forty days [3][1]. Again [3, 5].', [3, 1, 5]],
    ['See [the rules](https://example.com) and [2](https://example.com).', []],
    ['Call `list[1]`, or\n```\nlist[2]\n```\nas it says [4].', [4]],
    ['[1]: https://example.com', []],
    ['It was [12345] or [a].', []],
  ])('of %j are %j [NB-265]', (reply, marks) => {
    expect(marksIn(reply)).toEqual(marks);
  });

  it('are neither spoken nor compared [NB-265]', () => {
    expect(withoutMarks('Forty days [3]. Until seven [1, 2]!')).toBe('Forty days. Until seven!');
  });

  it('are found in linear time in a long run of blanks [NB-265]', () => {
    const blanks = ' '.repeat(1_000_000);
    expect(withoutMarks(`Forty${blanks}days [3].`)).toBe(`Forty${blanks}days.`);
    expect(marksIn(`[3${blanks}days]`)).toEqual([]);
  });

  it('divide the text without losing any of it', () => {
    const text = 'a [1] b [2, 3] c [d](e) [4](f)';
    const joined = splitAtMarks(text).map((part) => (typeof part === 'string' ? part : `[${part.join(', ')}]`));
    expect(joined.join('')).toBe(text);
  });
});
