import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import { type NewRun, startRun } from './create.ts';
import { presentTestRun } from './present.ts';
import { findRun, latestRuns } from './store.ts';

/** What applying a file and promoting a version need of test runs. */
export const testRunPort = ({ jobs }: { jobs: JobSender }) => ({
  start: (tx: Transaction, origin: Origin, run: NewRun) => startRun(tx, jobs, origin, run),
  find: async (tx: Transaction, orgId: string, runId: string) => {
    const row = await findRun(tx, orgId, runId);
    return row && presentTestRun(row);
  },
  latest: latestRuns,
});
