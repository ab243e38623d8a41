import { isDeepStrictEqual } from 'node:util';
import type { TestRunProgress } from '@vestra/contract/test-runs';
import type { Watchers } from '../../platform/async/watchers.ts';
import type { Frame, FrameSource } from '../../platform/http/sse.ts';
import type { TestRun } from './tables.ts';

/**
 * A run as it goes. The rows are the truth: a reader who was away begins with where the run stands, and a wake that was
 * missed costs one heartbeat.
 */
export function followTestRun(watchers: Watchers, first: TestRun, look: () => Promise<TestRun>): FrameSource {
  // Before the next look: what changes while it is under way wakes the one after it.
  const watch = watchers.watch(first.id);
  let known: TestRun | null = null;
  let seq = 0;

  return {
    async next(withinMs) {
      if (known) await watch.changed(withinMs);
      const now = await look();
      const progress = progressBetween(known, now);
      known = now;
      if (!progress) return { frames: [], isOver: false };
      const event = { object: 'test_run_event' as const, seq: ++seq, run_id: now.id, ...progress };
      const frame: Frame = { id: String(event.seq), event: event.type, data: event };
      return { frames: [frame], isOver: event.type === 'test_run.completed' };
    },
    close: watch.close,
    // A run that is played ends by itself, here or in another process.
    leave() {},
  };
}

/** What a reader who knows `before` is told; null: nothing has changed. */
export function progressBetween(before: TestRun | null, now: TestRun): Pick<TestRunProgress, 'type' | 'data'> | null {
  if (now.finished_at !== null) return { type: 'test_run.completed', data: { test_run: now } };
  if (isDeepStrictEqual(before, now)) return null;
  const known = new Map(before?.results.map((result) => [result.scenario_id, result]));
  const { status, counts, note, cost_usd } = now;
  const results = now.results.filter((result) => !isDeepStrictEqual(result, known.get(result.scenario_id)));
  return { type: 'test_run.progress', data: { status, counts, note, cost_usd, results } };
}
