import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idAfter, idPattern, newId } from './ids.ts';

describe('idAfter', () => {
  it('returns a new id of the same kind that sorts directly after the given one', () => {
    fc.assert(
      fc.property(fc.nat(1000), (count) => {
        let id = newId('msg');
        for (let step = 0; step < count % 5; step++) id = newId('msg');
        const [first, second] = [idAfter(id), idAfter(id)];
        expect(first).toMatch(idPattern('msg'));
        expect(first > id && second > id && first !== second).toBe(true);
        expect(first.slice(0, 'msg_'.length + 10)).toBe(id.slice(0, 'msg_'.length + 10));
      }),
    );
  });
});
