import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headingsOf, splitPassages } from './passages.ts';

const piece = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('\n\n', '\n', '. ', ' ', '# Heading\n', '🙂', 'x'.repeat(500), '漢字'.repeat(300), '。'),
);

describe('passages', () => {
  it('joined again are the text, whole characters and at most 1600 units each', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join('').toWellFormed();
        const passages = splitPassages(text);
        expect(passages.join('')).toBe(text);
        for (const passage of passages) {
          expect(passage.isWellFormed()).toBe(true);
          expect(passage.length).toBeLessThanOrEqual(1600);
        }
        if (text.length > 1600)
          for (const passage of passages.slice(0, -1)) expect(passage.length).toBeGreaterThanOrEqual(599);
      }),
    );
  });

  it('cut no character in two', () => {
    for (const lead of ['', 'x']) {
      for (const passage of splitPassages(`${lead}${'🙂'.repeat(3000)}`)) expect(passage.isWellFormed()).toBe(true);
    }
  });

  it('end where a paragraph, else a line, else a sentence, else a word ends', () => {
    const sentence = 'Some words that make a sentence of fifty letters. ';
    const line = sentence.repeat(5).trim();
    const endings = (text: string) =>
      splitPassages(text)
        .slice(0, -1)
        .map((passage) => passage.slice(-3));
    expect(new Set(endings(`${sentence.repeat(8)}\n\n`.repeat(20)))).toEqual(new Set([' \n\n']));
    expect(new Set(endings(`${line}\n`.repeat(20)))).toEqual(new Set(['s.\n']));
    expect(new Set(endings(sentence.repeat(100)))).toEqual(new Set(['s. ']));
    for (const ending of endings('word '.repeat(1000))) expect(ending).toBe('rd ');
    expect(splitPassages('x'.repeat(3000)).map(({ length }) => length)).toEqual([1200, 1200, 600]);
  });

  it('begin with a heading where one is near', () => {
    const section = `${'Words and words. '.repeat(50)}\n\n`;
    const passages = splitPassages(`# One\n\n${section}# Two\n\n${section}# Three\n\n${section}`);
    expect(passages.map((passage) => passage.slice(0, 5))).toEqual(['# One', '# Two', '# Thr']);
  });

  it('take half a megabyte of anything in no time', () => {
    for (const text of ['x', '\n', ' ', '# ', '.', '🙂', 'a\n\n', '\n \n']) {
      const startedAt = performance.now();
      splitPassages(text.repeat(524_288 / text.length));
      expect(performance.now() - startedAt).toBeLessThan(3000);
    }
  });
});

it('headings are those above a passage', () => {
  expect(headingsOf(['# A\ntext', 'more', '## B\n# C\nx', 'end'])).toEqual(['', 'A', 'A', 'C']);
});
