import { isDeepStrictEqual } from 'node:util';
import { fail } from '@vestra/contract/errors';
import type { TestRunProgress } from '@vestra/contract/test-runs';
import { requireDeployment } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Waiters } from '../../platform/async/waiters.ts';
import type { Caller } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { EventStream, type Handlers } from '../../platform/http/handler.ts';
import type { Frame, FrameSource } from '../../platform/http/sse.ts';
import type { Streams } from '../../platform/http/streams.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { requireConversationScope } from '../allowed-conversations.ts';
import { lastSeenId } from '../deployment-cursor.ts';
import type { TestRun } from '../tables.ts';
import { findRun, listRuns } from './store.ts';
import {
  cancelTestRun,
  createTestRun,
  deleteTestRun,
  isVisible,
  presentTestRun,
  stopTestRun,
  type UpToDateVersion,
} from './test-runs.ts';

export type TestRunDependencies = {
  db: Database;
  engine: Engine;
  jobs: JobSender;
  upToDateVersion: UpToDateVersion;
  watchers: Waiters;
  streams: Streams;
};

export function testRunRoutes({
  db,
  engine,
  jobs,
  upToDateVersion,
  watchers,
  streams,
}: TestRunDependencies): Handlers<'testRuns'> {
  const find = async (caller: Caller, runId: string) => {
    const row = await findRun(db, caller.orgId, runId);
    if (!row || !isVisible(row, caller)) throw fail('test_run_not_found');
    if (row.improvement_id !== null)
      requireConversationScope(caller, 'This test run has scenarios from conversations.');
    return row;
  };
  const read = async (caller: Caller, runId: string) => presentTestRun(await find(caller, runId));

  return {
    create: async ({ origin, params, commit }) =>
      commit((tx) => createTestRun(tx, { engine, jobs, upToDateVersion }, origin, params.deployment_id)),
    list: async ({ caller, params, page }) => {
      const { id } = await requireDeployment(db, caller.orgId, params.deployment_id);
      const rows = await listRuns(db, id, { limit: page.limit, below: lastSeenId(id, page.after) });
      return page.of(rows, presentTestRun, (row) => [row.deployment_id, row.id]);
    },
    get: ({ caller, params }) => read(caller, params.run_id),
    events: async ({ caller, params, signal }) => {
      const look = () => read(caller, params.run_id);
      const run = await look();
      return new EventStream(streams.open(caller, signal), followTestRun(watchers, run, look));
    },
    cancel: async ({ caller, origin, params }) => {
      await find(caller, params.run_id);
      const run = await transaction(db, (tx) => cancelTestRun(tx, origin, params.run_id));
      await stopTestRun(engine, run);
      return run;
    },
    delete: async ({ origin, params }) => {
      await transaction(db, (tx) => deleteTestRun(tx, origin, params.run_id));
      return { object: 'test_run', id: params.run_id, deleted: true };
    },
  };
}

/**
 * Streams the progress of a run from its rows. A reader that reconnects starts with the current state, and a lost
 * notification delays it by one heartbeat.
 */
function followTestRun(watchers: Waiters, first: TestRun, look: () => Promise<TestRun>): FrameSource {
  // Watch before reading, so that a change during the read wakes the next one.
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
    // Nothing to release: the run ends by itself, here or in another process.
    leave() {},
    closing() {
      const data = { reason: 'server_restarting' as const };
      const event = { object: 'test_run_event' as const, type: 'stream.closed' as const, seq, run_id: first.id, data };
      return { id: String(seq), event: event.type, data: event };
    },
  };
}

/** The event for a reader who has seen `before`, or null if nothing changed. */
export function progressBetween(before: TestRun | null, now: TestRun): Pick<TestRunProgress, 'type' | 'data'> | null {
  if (now.finished_at !== null) return { type: 'test_run.completed', data: { test_run: now } };
  if (isDeepStrictEqual(before, now)) return null;
  const known = new Map(before?.results.map((result) => [result.scenario_id, result]));
  const { status, counts, note, cost_usd } = now;
  const results = now.results.filter((result) => !isDeepStrictEqual(result, known.get(result.scenario_id)));
  return { type: 'test_run.progress', data: { status, counts, note, cost_usd, results } };
}
