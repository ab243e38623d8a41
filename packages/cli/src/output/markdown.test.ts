import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Paint, painter } from '../terminal.ts';
import { markdownPainter } from './markdown.ts';

/** Styles as tags, for readable cases. */
const tagged: Paint = (format, text) =>
  [format].flat().reduce<string>((inner, each) => `<${each}>${inner}</${each}>`, text);

function shown(pieces: readonly string[], paint: Paint = tagged): string {
  const page = markdownPainter(paint);
  return pieces.map(page.write).join('') + page.end();
}

describe('Markdown in a terminal', () => {
  it.each([
    ['It comes **Friday**, *or* not.', 'It comes <bold>Friday</bold>, <italic>or</italic> not.'],
    ['***all***', '<italic><bold>all</bold></italic>'],
    ['Call `find_order(*)` now', 'Call <cyan>find_order(*)</cyan> now'],
    ['## Head\nand text', '<underline>Head</underline>\nand text'],
    ['- one\n  * two\n+ three', '• one\n  • two\n• three'],
    ['```js\nconst a = b * c * d;\n```\nafter', '<cyan>const a = b * c * d;</cyan>\nafter'],
    ['2 * 3 * 4 and 2 ** 3', '2 * 3 * 4 and 2 ** 3'],
    ['snake_case_name and _this_', 'snake_case_name and <italic>this</italic>'],
    ['\\*not\\* that', '*not* that'],
    ['C:\\path, #tag, a#b', 'C:\\path, #tag, a#b'],
    ['**open\nclosed', '<bold>open</bold>\nclosed'],
    ['ends with **', 'ends with **'],
    ['-', '-'],
    ['', ''],
  ])('%j', (text, expected) => {
    expect(shown([text])).toBe(expected);
  });

  it('renders the same however the text is split', () => {
    const words = fc.array(
      fc.constantFrom('**', '*', '_', '`', '```', '#', '- ', '\n', ' ', 'word', 'Ä', '\\', '2', '~~~'),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(words, (parts) => {
        const whole = stripVTControlCharacters(shown([parts.join('')], painter(true, {})));
        expect(stripVTControlCharacters(shown(parts, painter(true, {})))).toBe(whole);
        expect(stripVTControlCharacters(shown([...parts.join('')], painter(true, {})))).toBe(whole);
      }),
      { numRuns: 1000 },
    );
  });
});
