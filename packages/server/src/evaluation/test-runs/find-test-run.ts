import type { Executor } from '../../platform/db/pool.ts';
import { presentTestRun } from './present.ts';
import { findRun } from './store.ts';
import type { TestRun } from './tables.ts';

/** A run as it is shown; nothing where the org has no such run. */
export async function findTestRun(db: Executor, orgId: string, runId: string): Promise<TestRun | undefined> {
  const row = await findRun(db, orgId, runId);
  return row && presentTestRun(row);
}
