import { expect, it } from 'vitest';
import { plainWords } from './plain-words.ts';

it.each([
  ['**Yes**: we *do*.', 'Yes: we do.'],
  ['# Plans\n\n- A4: 2.50\n- A5: `1.90`', 'Plans A4: 2.50 A5: 1.90'],
  ['| Plan | Price |\n|---|---:|\n| Team | $19 |', 'Plan Price Team $19'],
  ['See [the page](https://example.com) ![a cat](x.png)', 'See the page a cat'],
  ['2 * 3 * 4 and snake_case_name', '2 * 3 * 4 and snake_case_name'],
  ['<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ['one  \ntwo\n\n```js\nthree\n```', 'one two three'],
  ['', ''],
])('shows %j as %j [CON-765]', (text, words) => {
  expect(plainWords(text)).toBe(words);
});
