import type { Transaction } from '../../platform/db/pool.ts';
import { holdRun, type Run, RunTakenOver } from '../../platform/jobs/run-owner.ts';
import type { Player } from '../test-runs/playing.ts';
import { lockReplay } from './store.ts';
import type { ReplayRow } from './tables.ts';

/** What replaying needs of the house. */
export type Replayer = Pick<Player, 'engine' | 'followers'>;

/** A replay as the process that plays it knows it. */
export type Replaying = { row: ReplayRow; run: Run };

/**
 * To be called in every transaction before it writes. Throws where the replay was cancelled, or where another process
 * plays it: nothing of the transaction is written then.
 */
export async function holdReplay(tx: Transaction, run: Run, strength: 'share' | 'update'): Promise<void> {
  const row = await lockReplay(tx, run.runId, strength);
  if (row?.status !== 'running') throw new RunTakenOver(run);
  await holdRun(tx, run);
}
