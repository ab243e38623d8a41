import type { Transaction } from '../../db/pool.ts';
import { presentTestRun } from './present.ts';
import { startRun } from './start-run.ts';
import { findRun, latestRuns } from './store.ts';

/** What applying a file and promoting a version need of test runs. */
export const testRunPort = {
  start: startRun,
  find: async (tx: Transaction, orgId: string, runId: string) => {
    const row = await findRun(tx, orgId, runId);
    return row && presentTestRun(row);
  },
  latest: latestRuns,
};
