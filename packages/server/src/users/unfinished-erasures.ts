import type { SweepSource } from '../platform/jobs/sweep.ts';
import { listErasing } from './store.ts';

/** Erasures that were asked for and have no job, as after a restore from a backup of the rows alone. */
export const unfinishedErasures: SweepSource = {
  name: 'user erasures',
  async find({ tx, jobs, limit }) {
    const erasing = await listErasing(tx, limit);
    const keyOf = ({ tenant, userId }: (typeof erasing)[number]) => `${tenant.orgId} ${tenant.mode} ${userId}`;
    const withJob = await jobs.keysWithJob(tx, 'user.erase', erasing.map(keyOf));
    const missing = erasing.filter((each) => !withJob.has(keyOf(each)));
    await jobs.sendMany(
      tx,
      'user.erase',
      missing.map(({ tenant, userId }) => ({ org_id: tenant.orgId, mode: tenant.mode, user_id: userId })),
    );
    return missing.length;
  },
};
