import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { idAfter, idOfTime, idPattern, newId, timeOfId } from './ids.ts';

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

describe('the time of an id', () => {
  it('is read from it, and bounds the ids of that moment', () => {
    const before = Date.now();
    const id = newId('conv');
    const time = timeOfId(id);
    expect(time).toBeGreaterThanOrEqual(before);
    expect(idOfTime('conv', time) < id && id < idOfTime('conv', time + 1)).toBe(true);
    expect(timeOfId(`${idOfTime('conv', 1_763_500_000_123)}00000000000000`)).toBe(1_763_500_000_123);
  });
});
