import { describe, expect, it } from 'vitest';
import { steadyPrefix } from './steady-prefix.ts';

describe('the part of a growing reply that is drawn', () => {
  it.each<[growing: string, drawn: string]>([
    ['Hello wor', 'Hello wor'],
    ['First.\n\n-', 'First.'],
    ['First.\n\n- ', 'First.'],
    ['First.\n\n- a', 'First.\n\n- a'],
    ['A paragraph\n--', 'A paragraph'],
    ['A paragraph\n==', 'A paragraph'],
    ['Steps:\n\n1', 'Steps:'],
    ['Steps:\n\n12.', 'Steps:'],
    ['Steps:\n\n1. Open', 'Steps:\n\n1. Open'],
    ['A heading:\n\n##', 'A heading:'],
    ['Code:\n\n``', 'Code:'],
    ['Code:\n\n```types', 'Code:'],
    ['Code:\n\n```ts\nlet a', 'Code:\n\n```ts\nlet a'],
    ['Code:\n\n```ts\nlet a\n``', 'Code:\n\n```ts\nlet a'],
    ['Prices:\n\n| Plan', 'Prices:'],
    ['Prices:\n\n| Plan | Price |\n|--', 'Prices:'],
    ['Prices:\n\n| Plan | Price |\n|---|---|', 'Prices:'],
    ['Prices:\n\n| Plan | Price |\n|---|---|\n| Te', 'Prices:\n\n| Plan | Price |\n|---|---|\n| Te'],
    ['Forty days [', 'Forty days'],
    ['Forty days [1', 'Forty days'],
    ['Forty days [1, ', 'Forty days'],
    ['Forty days [1].', 'Forty days [1].'],
    ['One<b', 'One'],
    ['It costs 5 < 6', 'It costs 5 < 6'],
  ])('of %j is %j [CON-762]', (growing, drawn) => {
    expect(steadyPrefix(growing)).toBe(drawn);
  });

  it('never gets shorter [CON-762]', () => {
    const reply = 'Hi.\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```js\nx = [1]\n```\n\nDone [1, 2].\n';
    let longest = 0;
    for (let end = 1; end <= reply.length; end++) {
      const drawn = steadyPrefix(reply.slice(0, end));
      expect(reply.startsWith(drawn)).toBe(true);
      expect([end, drawn.trimEnd().length >= longest]).toEqual([end, true]);
      longest = drawn.trimEnd().length;
    }
    expect(longest).toBe(reply.trimEnd().length);
  });
});
