import type { Transaction } from '../../db/pool.ts';
import { FencedOff, holdRun, type Run } from '../../jobs/fence.ts';
import { lockRun } from './store.ts';
import type { TestRunRow } from './tables.ts';

/**
 * To be called in every transaction of a play before it writes. Throws where the run was cancelled or deleted, or where
 * another process plays it: nothing of the transaction is written then.
 */
export async function holdPlay(tx: Transaction, run: Run, strength: 'share' | 'update'): Promise<TestRunRow> {
  const row = await lockRun(tx, run.runId, strength);
  if (row?.status !== 'running') throw new FencedOff(run);
  await holdRun(tx, run);
  return row;
}
