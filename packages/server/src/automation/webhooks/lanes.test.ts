import { describe, expect, it } from 'vitest';
import { createLanes } from './lanes.ts';

const endpoints = (count: number, name = 'whk') => Array.from({ length: count }, (_, at) => `${name}_${at}`);
type Lanes = ReturnType<typeof createLanes>;

/** Fills all free slots. Every ready endpoint has unlimited deliveries. */
function fill(lanes: Lanes): { endpointId: string; leave: (isSuccess: boolean) => void }[] {
  const taken = [];
  for (let chosen = lanes.choose(); chosen.length > 0; chosen = lanes.choose()) {
    for (const { endpointId, room } of chosen) {
      for (let each = 0; each < room; each++) taken.push({ endpointId, leave: lanes.enter(endpointId, 'org_a') });
    }
    lanes.ready(chosen.map(({ endpointId }) => endpointId));
  }
  return taken;
}

const countOf = (taken: { endpointId: string }[], endpointId: string) =>
  taken.filter((each) => each.endpointId === endpointId).length;

describe('lanes', () => {
  it('give a new endpoint two slots, one more per success up to its limit, and one after a failure', () => {
    const lanes = createLanes({ total: 64, perOrg: 100, perEndpoint: 4 });
    const shares = [];
    for (const isSuccess of [true, true, true, true, false, true]) {
      lanes.ready(['whk_a']);
      const taken = fill(lanes);
      shares.push(taken.length);
      const [first, ...others] = taken;
      // The others end before the first, so that the first decides.
      for (const { leave } of others) leave(isSuccess);
      first?.leave(isSuccess);
    }
    expect(shares[0]).toBe(2);
    expect(Math.max(...shares)).toBe(4);
    expect(shares[5]).toBe(1);
  });

  it('leave half of all slots to endpoints that answer, however many hang', () => {
    const lanes = createLanes({ total: 20, perOrg: 100, perEndpoint: 8 });
    lanes.ready(['whk_good']);
    for (const { leave } of fill(lanes)) leave(true);
    const hanging = endpoints(1000, 'bad');
    lanes.ready(hanging);
    const taken = fill(lanes);
    expect(countOf(taken, 'whk_good')).toBe(4);
    expect(taken).toHaveLength(10 + 4);
    for (const { endpointId, leave } of taken) if (endpointId === 'whk_good') leave(true);
    const next = fill(lanes);
    expect(next.map(({ endpointId }) => endpointId)).toEqual(Array(8).fill('whk_good'));
  });

  it('leave slots to other orgs, however many endpoints of one org answer [JOB-242]', () => {
    const lanes = createLanes({ total: 20, perOrg: 12, perEndpoint: 8 });
    const all = endpoints(10);
    for (let round = 0; round < 8; round++) {
      lanes.ready(all);
      for (const { leave } of fill(lanes)) leave(true);
    }
    lanes.ready(all);
    expect(fill(lanes)).toHaveLength(12);
    lanes.ready(['whk_other']);
    expect(fill(lanes).map(({ endpointId }) => endpointId)).toEqual(['whk_other', 'whk_other']);
  });

  it('let endpoints take turns', () => {
    const lanes = createLanes({ total: 8, perOrg: 100, perEndpoint: 2 });
    const all = endpoints(12);
    lanes.ready(all);
    const first = fill(lanes);
    expect(first).toHaveLength(4);
    for (const { leave } of first) leave(false);
    const second = fill(lanes);
    const seen = new Set([...first, ...second].map(({ endpointId }) => endpointId));
    expect(seen.size).toBeGreaterThan(new Set(first.map(({ endpointId }) => endpointId)).size);
  });

  it('choose an endpoint again if it became ready during the claim', () => {
    const lanes = createLanes({ total: 8, perOrg: 100, perEndpoint: 2 });
    lanes.ready(['whk_a']);
    expect(lanes.choose()).toEqual([{ endpointId: 'whk_a', room: 2 }]);
    expect(lanes.choose()).toEqual([]);
    lanes.ready(['whk_a']);
    expect(lanes.choose()).toEqual([{ endpointId: 'whk_a', room: 2 }]);
  });

  it('free slots when attempts end', () => {
    const lanes = createLanes({ total: 4, perOrg: 100, perEndpoint: 2 });
    lanes.ready(endpoints(10));
    const taken = fill(lanes);
    expect(countOf(taken, 'whk_0')).toBe(2);
    for (const { leave } of taken) leave(true);
    lanes.ready(endpoints(10, 'other'));
    expect(fill(lanes).length).toBe(4);
  });
});
