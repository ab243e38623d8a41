import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { passesFilters } from './runs.ts';

describe('filters', () => {
  it.each([
    ['nothing asked', null, { a: 1 }, true],
    ['an empty map', {}, {}, true],
    ['the same value', { kind: 'order' }, { kind: 'order', id: 7 }, true],
    ['another value', { kind: 'order' }, { kind: 'refund' }, false],
    ['no such field', { kind: 'order' }, { id: 7 }, false],
    ['null and nothing', { kind: null }, {}, false],
    ['a number and its text', { id: 7 }, { id: '7' }, false],
    ['zero with a sign', { id: 0 }, { id: -0 }, true],
    ['the keys of a map in another order', { at: { a: 1, b: [1, 2] } }, { at: { b: [1, 2], a: 1 } }, true],
    ['a map with one key more', { at: { a: 1 } }, { at: { a: 1, b: 2 } }, false],
    ['a list in another order', { tags: ['a', 'b'] }, { tags: ['b', 'a'] }, false],
    ['a field that every object has', { toString: 'x' }, {}, false],
  ])('%s: %j and %j', (_what, filters, payload, passes) => {
    expect(passesFilters(filters, payload)).toBe(passes);
  });

  it('let through whatever holds them, with any fields beside [RTN-050]', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (filters, others) => {
          expect(passesFilters(filters, { ...others, ...filters })).toBe(true);
        },
      ),
    );
  });

  it('let nothing through in which one of them is different [RTN-050]', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.jsonValue(),
        fc.jsonValue(),
        (others, field, wanted, given) => {
          fc.pre(JSON.stringify(sorted(wanted)) !== JSON.stringify(sorted(given)));
          const filters = Object.fromEntries([...Object.entries(others), [field, wanted]]);
          expect(passesFilters(filters, Object.fromEntries([...Object.entries(filters), [field, given]]))).toBe(false);
        },
      ),
    );
  });
});

/** JSON with the keys in one order, so that equal values read alike. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, each]) => [key, sorted(each)]);
}
