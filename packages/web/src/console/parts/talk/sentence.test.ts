import { expect, it } from 'vitest';
import { hasSentence } from './sentence.ts';

it.each([
  ['One moment.', 'One moment.', true],
  ['A4 and A5, **blank**, *lined* and `squared`.', 'A4 and A5, blank, lined and squared.', true],
  ['| Plan | Price |\n|---|---:|\n| Team | $19 |', '$19', true],
  ['Forty days [3]. Until seven [1, 2].', 'Forty days. Until seven.', true],
  ['Forty days [3].', 'Forty days [3].', true],
  ['That is 190.', '19', false],
  ['You are welcome!', 'One moment.', false],
  ['Anything', '…', false],
])('of %j contains %j: %j [CON-753]', (written, text, isIn) => {
  expect(hasSentence(written, { text })).toBe(isIn);
});
