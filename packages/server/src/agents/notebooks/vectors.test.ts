import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuseRanks } from './fuse-ranks.ts';
import { packVectors, similarities } from './vectors.ts';

const vector = fc
  .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: 16, maxLength: 16 })
  .filter((values) => Math.hypot(...values) > 0.01)
  .map((values) => Float32Array.from(values));

const cosine = (a: Float32Array, b: Float32Array) =>
  a.reduce((sum, value, at) => sum + value * (b[at] as number), 0) / (Math.hypot(...a) * Math.hypot(...b));

describe('packed vectors', () => {
  it('keep their angles to a hundredth', () => {
    fc.assert(
      fc.property(vector, fc.array(vector, { minLength: 1, maxLength: 5 }), (query, vectors) => {
        const found = similarities(query, packVectors(vectors));
        expect(found).toHaveLength(vectors.length);
        vectors.forEach((each, at) => {
          expect(Math.abs((found[at] as number) - cosine(query, each))).toBeLessThan(0.02);
        });
      }),
    );
  });

  it('take up a byte for each number, wherever in a buffer they lie', () => {
    const packed = packVectors([Float32Array.of(1, 0), Float32Array.of(0, -2), Float32Array.of(0, 0)]);
    expect(packed).toHaveLength(6);
    const inside = Buffer.concat([Buffer.from([7]), packed]).subarray(1);
    expect(similarities(Float32Array.of(0, 1), inside)).toEqual([0, -1, 0]);
    expect(packVectors([])).toHaveLength(0);
    expect(similarities(Float32Array.of(0, 1), packVectors([]))).toEqual([]);
  });
});

describe('fused ranks', () => {
  it('put first what both orders have', () => {
    expect(
      fuseRanks([
        ['a', 'b', 'c'],
        ['d', 'b'],
      ]),
    ).toEqual(['b', 'a', 'd', 'c']);
    expect(fuseRanks([['a', 'b'], []])).toEqual(['a', 'b']);
  });

  it('hold every key once, and never put what is behind in each order before', () => {
    const keys = fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { maxLength: 8 });
    fc.assert(
      fc.property(keys, keys, (first, second) => {
        const fused = fuseRanks([first, second]);
        expect([...fused].sort()).toEqual([...new Set([...first, ...second])].sort());
        const both = fused.filter((key) => first.includes(key) && second.includes(key));
        for (const [at, key] of both.entries()) {
          for (const later of both.slice(at + 1)) {
            const isBehind = (list: string[]) => list.indexOf(key) > list.indexOf(later);
            expect(isBehind(first) && isBehind(second)).toBe(false);
          }
        }
      }),
    );
  });
});
