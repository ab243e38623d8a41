import fc from 'fast-check';
import { expect, it } from 'vitest';
import { modelToolName } from './model-tools.ts';

it.each([
  ['shop', 'find_order', 'mcp__shop__find_order'],
  ['shop-eu', 'a-B_9', 'mcp__shop-eu__a-B_9'],
  ['shop', 'orders.find', /^mcp__shop__orders_find_[0-9a-f]{8}$/],
  ['shop', 'ünï/cödé 😀', /^mcp__shop__[_a-z]+_[0-9a-f]{8}$/],
  ['s'.repeat(40), 't'.repeat(128), /^mcp__s{40}__t{8}_[0-9a-f]{8}$/],
])('names the tool of %s and %s so that every vendor accepts it', (slug, tool, name) => {
  expect(modelToolName(slug, tool)).toMatch(typeof name === 'string' ? new RegExp(`^${name}$`) : name);
});

it('gives any two tools different names', () => {
  const slug = fc.stringMatching(/^[a-z][a-z0-9-]{0,39}$/);
  const tool = fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^[ab._-]{1,40}$/));
  fc.assert(
    fc.property(slug, tool, slug, tool, (slugOne, one, slugTwo, two) => {
      const names = [modelToolName(slugOne, one), modelToolName(slugTwo, two)];
      for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(names[0] === names[1]).toBe(slugOne === slugTwo && one === two);
    }),
    { numRuns: 2000 },
  );
});
