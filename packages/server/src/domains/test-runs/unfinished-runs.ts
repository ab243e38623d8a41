import { takeExpiredRuns } from '../../jobs/fence.ts';
import type { SweepSource } from '../../jobs/sweep.ts';
import { unplayedRuns } from './store.ts';

/** Test runs whose process has died, and those that neither a process nor a job knows of. */
export const unfinishedTestRuns: SweepSource = {
  name: 'test runs',
  async find({ tx, jobs, limit }) {
    const expired = await takeExpiredRuns(tx, { prefix: 'trun_', limit });
    const found = await unplayedRuns(tx, limit);
    const ids = found.map(({ id }) => id);
    const withJob = await jobs.keysWithJob(tx, 'test_run.play', ids);
    const left = found.filter(({ id }) => !withJob.has(id));
    await jobs.sendMany(
      tx,
      'test_run.play',
      left.map(({ id, org_id }) => ({ org_id, run_id: id })),
    );
    return Math.max(left.length, expired.length);
  },
};
