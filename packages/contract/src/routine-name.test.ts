import { expect, it } from 'vitest';
import { nameOfRoutine } from './routine-name.ts';

it.each([
  ['its own', { name: 'Morning', ask: 'Sum up the night.' }, 'Morning'],
  ['the whole of a short ask', { ask: 'Sum up the night.' }, 'Sum up the night.'],
  ['the first line of an ask', { ask: '\n  Sum up.\r\nBe brief.' }, 'Sum up.'],
  ['80 characters of a long one', { ask: `${'😀'.repeat(80)} and more` }, '😀'.repeat(80)],
  ['no space at its end', { ask: `${'a'.repeat(79)} b` }, 'a'.repeat(79)],
  ['something, of an ask of spaces', { ask: '   ' }, '   '],
])('a routine is named %s [DFILE-034]', (_what, routine, name) => {
  expect(nameOfRoutine(routine)).toBe(name);
});
