import { describe, expect, it } from 'vitest';
import { planLines } from './plan-lines.ts';

const shown = (before: unknown, after: unknown) =>
  planLines(before, after)?.map(({ sign, text }) => `${sign} ${text}`) ?? null;

describe('a changed value of the plan [CON-766]', () => {
  it.each([
    [
      ['a', 'b', 'c'],
      ['a', 'c', 'd'],
      ['- b', '+ d', '  2 unchanged'],
    ],
    [null, ['a', 'b'], ['+ a', '+ b']],
    [['a'], null, ['- a']],
    [['a', 'a'], ['a'], ['- a', '  1 unchanged']],
    [['a', 'b'], ['b', 'a'], ['  The order changes.']],
    [[], ['a'], ['+ a']],
    [null, [{ function: 'find', input: { number: 'string' } }], ['+ function: find, input: {number: string}']],
    [
      null,
      { ask: 'Hello', expect: ['It greets', 'It is kind'] },
      ['+ ask: Hello', '+ expect: [It greets, It is kind]'],
    ],
    [{ ask: 'Hello', runs: 2 }, null, ['- ask: Hello', '- runs: 2']],
  ])('from %j to %j is shown line by line', (before, after, lines) => {
    expect(shown(before, after)).toEqual(lines);
  });

  it('is not split if it is a single one', () => {
    expect([shown('a', 'b'), shown(null, 'b'), shown(1, null), shown(true, ['a'])]).toEqual([null, null, null, null]);
  });

  it('has a bound for each line', () => {
    expect(shown(null, ['x'.repeat(1000)])).toEqual([`+ ${'x'.repeat(160)}…`]);
  });
});
