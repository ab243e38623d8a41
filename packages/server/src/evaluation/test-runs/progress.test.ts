import { describe, expect, it } from 'vitest';
import type { TestRun } from '../tables.ts';
import { progressBetween } from './routes.ts';

const result = (scenario_id: string, status: 'queued' | 'running' | 'passed') => ({ scenario_id, status, cost_usd: 0 });
const run = (results: ReturnType<typeof result>[], fields: Partial<TestRun> = {}) =>
  ({ id: 'trun_1', status: 'running', counts: {}, cost_usd: 0, results, finished_at: null, ...fields }) as TestRun;

describe('the progress between two looks [TRUN-039]', () => {
  const first = run([result('a', 'running'), result('b', 'queued')]);

  it('is the whole run at first', () => {
    expect(progressBetween(null, first)?.data).toMatchObject({ status: 'running', results: first.results });
  });

  it('is null if nothing changed', () => {
    expect(progressBetween(first, structuredClone(first))).toBeNull();
  });

  it('contains only changed results', () => {
    const next = run([result('a', 'running'), result('b', 'running')]);
    expect(progressBetween(first, next)).toMatchObject({
      type: 'test_run.progress',
      data: { results: [{ scenario_id: 'b' }] },
    });
  });

  it('is reported even if no result changed', () => {
    const next = run(first.results as never, { cost_usd: 1 });
    expect(progressBetween(first, next)?.data).toMatchObject({ cost_usd: 1, results: [] });
  });

  it('is the whole run at its end', () => {
    const end = run([result('a', 'passed')], { status: 'passed', finished_at: '2026-01-01T00:00:00.000Z' });
    expect(progressBetween(end, end)).toEqual({ type: 'test_run.completed', data: { test_run: end } });
  });
});
