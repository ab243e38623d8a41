import { takeExpiredRuns } from '../../platform/jobs/run-lease.ts';
import type { SweepSource } from '../../platform/jobs/sweep.ts';
import { improvements, replays, testRuns } from '../tables.ts';
import { type PlayTable, unplayed } from './play-store.ts';

/** Where plays of one kind are, and the job that plays them. */
export type PlayQueue = {
  name: 'test runs' | 'replays' | 'improvements';
  table: PlayTable;
  /** Ids of the rows begin with it. */
  prefix: 'trun_' | 'rpl_' | 'imp_';
  job: 'test_run.play' | 'replay.play' | 'improvement.run';
  sendJobs: (
    sweep: Parameters<SweepSource['find']>[0],
    rows: readonly { id: string; org_id: string }[],
  ) => Promise<unknown>;
};

export const testRunQueue: PlayQueue = {
  name: 'test runs',
  table: testRuns,
  prefix: 'trun_',
  job: 'test_run.play',
  sendJobs: ({ tx, jobs }, rows) =>
    jobs.sendMany(
      tx,
      'test_run.play',
      rows.map(({ id, org_id }) => ({ org_id, run_id: id })),
    ),
};

export const replayQueue: PlayQueue = {
  name: 'replays',
  table: replays,
  prefix: 'rpl_',
  job: 'replay.play',
  sendJobs: ({ tx, jobs }, rows) =>
    jobs.sendMany(
      tx,
      'replay.play',
      rows.map(({ id, org_id }) => ({ org_id, replay_id: id })),
    ),
};

export const improvementQueue: PlayQueue = {
  name: 'improvements',
  table: improvements,
  prefix: 'imp_',
  job: 'improvement.run',
  sendJobs: ({ tx, jobs }, rows) =>
    jobs.sendMany(
      tx,
      'improvement.run',
      rows.map(({ id, org_id }) => ({ org_id, improvement_id: id })),
    ),
};

/** Plays whose process died, and plays that have neither a process nor a job. */
export const unfinishedPlays = (queue: PlayQueue): SweepSource => ({
  name: queue.name,
  async find(sweep) {
    const { tx, jobs, limit } = sweep;
    const expired = await takeExpiredRuns(tx, { prefix: queue.prefix, limit });
    const found = await unplayed(tx, queue.table, limit);
    const withJob = await jobs.keysWithJob(
      tx,
      queue.job,
      found.map(({ id }) => id),
    );
    const left = found.filter(({ id }) => !withJob.has(id));
    await queue.sendJobs(sweep, left);
    return Math.max(left.length, expired.length);
  },
});
