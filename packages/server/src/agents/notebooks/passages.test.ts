import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { outlineOf, splitPassages as split, windowsOf } from './passages.ts';

const splitPassages = (text: string, title = 'text.md') => split(text, outlineOf(title, text)).map((each) => each.text);
const placesIn = (title: string, text: string) =>
  split(text, outlineOf(title, text)).map(({ heading, page }) => [heading, page] as const);

const piece = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.constantFrom('\n\n', '\n', '. ', ' ', '# Heading\n', '🙂', 'x'.repeat(500), '漢字'.repeat(300), '。'),
);

describe('passages', () => {
  it.each([
    ['blanks in a heading', `# a${' '.repeat(400_000)}b`],
    ['signs of headings', `# a${'# '.repeat(200_000)}x`],
    ['quotes after a sentence', `a.${'"'.repeat(400_000)} b`],
    ['signs in a tag', `<a ${'='.repeat(400_000)}`],
    ['rules of tables', `|a|\n|${' :-: |'.repeat(60_000)}x`],
  ])('are found in linear time in many %s [HRD-711]', (_, text) => {
    const passages = splitPassages(text, 'text.md');
    expect(passages.join('')).toBe(text);
    expect(windowsOf(passages).every(({ position }) => position < passages.length)).toBe(true);
  });

  it.each([
    ['## Returns ##', 'Returns'],
    ['# C#', 'C'],
    ['# ###', '###'],
    ['#   Two  words ', 'Two words'],
  ])('have the heading of %j', (line, heading) => {
    expect(placesIn('text.md', `${line}\n\nText.`)[0]).toEqual([heading, null]);
  });

  it('join to the original text, with whole characters and at most 1600 units each', () => {
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

  it('never split a character', () => {
    for (const lead of ['', 'x']) {
      for (const passage of splitPassages(`${lead}${'🙂'.repeat(3000)}`)) expect(passage.isWellFormed()).toBe(true);
    }
  });

  it('end at a paragraph, else a line, else a sentence, else a word', () => {
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

  it('begin with a heading if one is near', () => {
    const section = `${'Words and words. '.repeat(50)}\n\n`;
    const passages = splitPassages(`# One\n\n${section}# Two\n\n${section}# Three\n\n${section}`);
    expect(passages.map((passage) => passage.slice(0, 5))).toEqual(['# One', '# Two', '# Thr']);
  });

  // Quadratic time would exceed the time limit of a test.
  it.each(['x', '\n', ' ', '# ', '.', '🙂', 'a\n\n', '\n \n'])('handle half a megabyte of %j', (text) => {
    const whole = text.repeat(524_288 / text.length);
    expect(splitPassages(whole).join('') === whole).toBe(true);
  });
});

describe('the citation of a passage', () => {
  const filler = 'Words that fill a line of some length and say nothing. '.repeat(20);

  it('is the path of its headings, without lines of code blocks [NB-209]', () => {
    const text = `Before.\n${filler}\n# Returns\n${filler}\n## Exchanges\n${filler}\n\`\`\`sh\n# no heading\n${filler}\n\`\`\`\n${filler}\n# Shipping ##\n${filler}`;
    expect([...new Set(placesIn('a.md', text).map(([heading]) => heading))]).toEqual([
      '',
      'Returns',
      'Returns › Exchanges',
      'Shipping',
    ]);
    expect(placesIn('a.py', `# A comment\n${filler}`)).toEqual([['', null]]);
  });

  it('has the column names of its table [NB-209]', () => {
    const rows = Array.from({ length: 60 }, (_, at) => `| A${at} | Lamp of the kind number ${at} | ${at} EUR |\n`);
    const text = `# Prices\n\n| sku | name | price |\n| --- | :-: | --- |\n${rows.join('')}\nEnd of the table.\n${filler}`;
    const headings = placesIn('a.md', text).map(([heading]) => heading);
    expect(headings.slice(0, 2)).toEqual(['Prices', 'Prices, columns sku | name | price']);
    expect(headings.at(-1)).toBe('Prices');
    const csv = `sku,name\r\n${Array.from({ length: 90 }, (_, at) => `A${at},"Lamp number ${at}"\r\n`).join('')}`;
    expect(placesIn('a.csv', csv)).toEqual([
      ['', null],
      ['columns sku,name', null],
    ]);
  });

  it('is the path of its entry in JSON and YAML, which are cut between entries [NB-209]', () => {
    const entry = (name: string) => ({ name, text: `A "quoted" [text] of {${name}}, with signs. `.repeat(25) });
    const json = { settings: { mode: 'a' }, products: [entry('a'), entry('b'), entry('c')], 'the\nend': true };
    for (const indent of [0, 2]) {
      const text = JSON.stringify(json, null, indent);
      expect(placesIn('a.json', text).map(([heading]) => heading)).toEqual(['', 'products › 2', 'products › 3']);
      for (const passage of splitPassages(text, 'a.json').slice(1)) expect(passage).toMatch(/^\{\s*"name"/);
    }
    const yaml = `settings:\n  mode: a\nproducts:\n${['a', 'b', 'c'].map((name) => `  - name: ${name}\n    text: ${filler}\n`).join('')}"end": 1\n`;
    expect(placesIn('a.yaml', yaml).map(([heading]) => heading)).toEqual(['settings', 'products › 2', 'products › 3']);
  });

  it('has its first page, empty pages counted [NB-209]', () => {
    const pages = [filler, '', filler, `${filler}${filler}`];
    expect(placesIn('a.pdf', pages.join('\n\n\f')).map(([, page]) => page)).toEqual([1, 3, 4, 4]);
    expect(placesIn('a.pdf', filler)).toEqual([['', null]]);
  });

  it('is found for any text in linear time and within bounds', () => {
    const signs = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"',
        '\\',
        ',',
        ':',
        '\n',
        '- ',
        'a: ',
        '# ',
        '|',
        '| --- |',
        '\f',
        'x',
        '🙂',
        ' ',
      ),
    );
    fc.assert(
      fc.property(signs, fc.constantFrom('a.json', 'a.yaml', 'a.csv', 'a.md', 'a.txt'), (parts, title) => {
        const text = parts.join('').repeat(60);
        expect(splitPassages(text, title).join('')).toBe(text);
        for (const { heading } of outlineOf(title, text)) expect(heading.length).toBeLessThanOrEqual(300);
      }),
    );
  });
});
