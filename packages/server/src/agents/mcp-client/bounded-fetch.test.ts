import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { partCounter } from './bounded-fetch.ts';

const count = (text: string, isEventStream = false) => partCounter({ isEventStream })(Buffer.from(text));

/** Each comma, list and object counts as one. */
const expected = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return Math.max(1, inner.length) + inner.reduce((sum: number, each) => sum + expected(each), 0);
};

describe('counting parts', () => {
  it('counts JSON values outside strings for any chunks', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }),
        fc.integer({ min: 1, max: 7 }),
        (value, size) => {
          const bytes = Buffer.from(JSON.stringify(value, null, size % 2));
          const counter = partCounter({ isEventStream: false });
          let parts = 0;
          for (let at = 0; at < bytes.length; at += size) parts += counter(bytes.subarray(at, at + size));
          expect(parts).toBe(expected(JSON.parse(bytes.toString())));
        },
      ),
    );
  });

  it.each([
    ['{"a":"\\\\","b":"\\"[{,","c":[1,2]}', 5],
    ['"[{,', 0],
    ['"[{,\n[{,', 3],
    ['"\\\n[', 1],
  ])('counts the parts of %j as %i', (text, parts) => {
    expect(count(text)).toBe(parts);
  });

  it('counts each line of a stream as ten, also after a quote in a comment', () => {
    expect(count(': "\ndata: {"a":1}\n\n: "\r\rdata: [[\n', true)).toBe(63);
  });
});
