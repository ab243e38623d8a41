import { isDeepStrictEqual } from 'node:util';
import type { TestRunProgress } from '@vestra/contract/test-runs';
import type { TestRun } from './tables.ts';

/** What a reader who knows `before` is told; null: nothing has changed. */
export function progressBetween(before: TestRun | null, now: TestRun): Pick<TestRunProgress, 'type' | 'data'> | null {
  if (now.finished_at !== null) return { type: 'test_run.completed', data: { test_run: now } };
  if (isDeepStrictEqual(before, now)) return null;
  const known = new Map(before?.results.map((result) => [result.scenario_id, result]));
  const { status, counts, cost_usd } = now;
  const results = now.results.filter((result) => !isDeepStrictEqual(result, known.get(result.scenario_id)));
  return { type: 'test_run.progress', data: { status, counts, cost_usd, results } };
}
