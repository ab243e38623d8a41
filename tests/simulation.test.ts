import { describe, expect, it } from 'vitest';
import type { Cost, MeasuredCosts } from '../bench/scale/costs.ts';
import { type Cells, type Load, simulate } from '../bench/scale/simulate.ts';

const nothing: Cost = { serverMs: 0, postgresMs: 0, commits: 0, logBytes: 0, storedBytes: 0, storedRows: 0 };
const costs: MeasuredCosts = {
  measuredOn: '2026-11-15',
  machine: '2 cores',
  turn: { ...nothing, serverMs: 4, postgresMs: 2, commits: 2, storedRows: 10 },
  typedToken: nothing,
  growth: {},
  openReplyKb: 0,
  walls: {
    commitsBy1: 0,
    commitsBy32: 0,
    connectionKb: 0,
    deleteMs: 0,
    deleteLogBytes: 0,
    dropMs: 0,
    dropLogBytes: 0,
  },
};
const oneCell: Cells = { count: 1, processesEach: 1, databaseCores: 1, flushMs: 0 };
const load: Load = { turnsPerSecond: 10, orgs: 50, skew: 1.1, seconds: 200, medianTokens: 50, seed: 3 };

describe('the simulation of many orgs', () => {
  it('adds only the cost of a turn if no other turn is running', () => {
    expect(simulate(costs, oneCell, { ...load, turnsPerSecond: 0.2 }, 'by hash').added.p50).toBeCloseTo(6, 5);
  });

  it('keeps a server as busy as its turns require', () => {
    const { processes, databases, most, storedRowsPerDay } = simulate(costs, oneCell, load, 'by hash');
    expect(processes.all).toBeGreaterThan(0.035);
    expect(processes.all).toBeLessThan(0.045);
    expect(databases.all).toBeCloseTo(processes.all / 2, 5);
    expect(most.turnsPerSecond).toBeGreaterThan(9);
    expect(storedRowsPerDay).toBe(10 * 10 * 86_400);
  });

  it('queues turns beyond capacity, and none with twice the processes', () => {
    const many = { ...load, turnsPerSecond: 300, seconds: 20 };
    const crowded = simulate(costs, { ...oneCell, databaseCores: 4 }, many, 'by hash');
    const roomy = simulate(costs, { ...oneCell, processesEach: 4, databaseCores: 4 }, many, 'by hash');
    expect(crowded.added.p99).toBeGreaterThan(1_000);
    expect(roomy.added.p99).toBeLessThan(40);
  });

  it('spreads orgs by weight more evenly than by hash, with the same result each time', () => {
    const cells: Cells = { ...oneCell, count: 5 };
    const byWeight = simulate(costs, cells, load, 'by weight');
    expect(byWeight.processes.most).toBeLessThan(simulate(costs, cells, load, 'by hash').processes.most);
    expect(simulate(costs, cells, load, 'by weight')).toEqual(byWeight);
  });
});
