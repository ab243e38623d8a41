import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSentenceSplitter, isEcho, partSaid, spokenText } from './spoken-text.ts';

describe('a reply read aloud [VOI-262]', () => {
  it.each([
    ['**Bold** and _slanted_ `code`', 'Bold and slanted code'],
    ['See [the order](https://shop.example/o/1?x=2).', 'See the order.'],
    ['Go to https://www.shop.example/orders/77 now', 'Go to shop.example now'],
    ['# Title\n\n- one\n- two', 'Title one two'],
    ['Run\n```sh\nrm -rf /\n```\nthen', 'Run The code is on the page. then'],
    ['| Day | Price |\n|---|---:|\n| Mon | 5 |', 'Day, Price. Mon, 5.'],
    ['Done 🎉👍🏽!', 'Done !'],
    ['It takes 41 days [3]. See [2, 5]!', 'It takes 41 days. See!'],
    ['  \n ', ''],
  ])('%j', (markdown, spoken) => {
    expect(spokenText(markdown)).toBe(spoken);
  });

  // With a pattern that takes quadratic time, each of these would not end within the time of a test.
  it.each([
    ['dashes', `${'-'.repeat(500_000)}x`, `${'-'.repeat(500_000)}x`],
    ['brackets', '['.repeat(500_000), '['.repeat(500_000)],
    ['pictures', '![]('.repeat(300_000), '![]('.repeat(300_000)],
    ['empty lines', `a${'\n'.repeat(500_000)}x`, 'a x'],
    ['blanks', `a${' '.repeat(500_000)}x`, 'a x'],
  ])('takes linear time for many %s [HRD-711]', (_, markdown, spoken) => {
    expect(spokenText(markdown)).toBe(spoken);
    const sentences = createSentenceSplitter();
    expect([...sentences.add(markdown), ...sentences.finish()].join(' ')).toBe(spoken);
  });

  it.each([
    ['one at a time', ['It is here. It', ' is blue. And '], ['It is here.', 'It is blue.'], 'And'],
    [
      'no end at a shortening or a number',
      ['Ask Dr. Who, e.g. at 3.5 km. Yes.'],
      ['Ask Dr. Who, e.g. at 3.5 km.'],
      'Yes.',
    ],
    ['a list line by line', ['You need:\n- flour\n- eggs'], ['You need:', 'flour'], 'eggs'],
    ['no code', ['Look.\n```\na. b. c.', '\n```\nDone. '], ['Look.', 'The code is on the page.', 'Done.'], ''],
    ['a question in quotes', ['“Is it?” Yes! '], ['“Is it?”', 'Yes!'], ''],
  ])('in sentences: %s', (_, pieces, sentences, rest) => {
    const made = createSentenceSplitter();
    expect(pieces.flatMap((piece) => made.add(piece))).toEqual(sentences);
    expect(made.finish().join(' ')).toBe(rest);
  });

  it('splits a long sentence at a comma', () => {
    const long = `We looked through all of the orders of the last twelve months, and among them ${'there is one '.repeat(5)}`;
    const made = createSentenceSplitter();
    expect(made.add(long)).toEqual(['We looked through all of the orders of the last twelve months,']);
  });

  it.each([
    [
      'at its first comma',
      'I looked it up, and it is here, too. Yes. ',
      ['I looked it up,', 'and it is here, too.', 'Yes.'],
    ],
    ['whole where the comma comes at once', 'Hello Ada, it is here. ', ['Hello Ada, it is here.']],
    ['whole where it is more than words', 'See [one and two, three](x) of it. ', ['See one and two, three of it.']],
    [
      'with no part of a number',
      'It costs about 12,000 dollars, all in all. ',
      ['It costs about 12,000 dollars, all in all.'],
    ],
  ])('begins a reply %s [VOI-534]', (_, text, sentences) => {
    const [whole, growing] = [createSentenceSplitter(), createSentenceSplitter()];
    expect(whole.add(text)).toEqual(sentences);
    expect([...text].flatMap((sign) => growing.add(sign))).toEqual(sentences);
  });

  it('loses no word of plain text in chunks of any size', () => {
    const words = fc.array(fc.constantFrom('tea', 'milk', 'is', 'hot.', 'why?', 'no,', 'ten'), {
      minLength: 1,
      maxLength: 80,
    });
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 9 }), (said, size) => {
        const text = said.join(' ');
        const made = createSentenceSplitter();
        const out: string[] = [];
        for (let at = 0; at < text.length; at += size) out.push(...made.add(text.slice(at, at + size)));
        expect([...out, ...made.finish()].join(' ')).toBe(text);
      }),
    );
  });

  it('returns the spoken part of a sentence in whole words', () => {
    expect(partSaid('one two three four', 0.5)).toBe('one two');
    expect([partSaid('one two', 0), partSaid('one two', 1), partSaid('one two', 0.99)]).toEqual(['', 'one two', 'one']);
  });

  it.each([
    ['arrives on Tuesday', true],
    ['your parcel arrives Tuesday', true],
    ['no, on Monday please', false],
    ['Tuesday', false],
    ['stop', false],
    ['arrives Tuesday on', false],
  ])('detects whether %j is an echo', (heard, is) => {
    expect(isEcho(heard, 'Good news: your parcel arrives on Tuesday.')).toBe(is);
  });
});
