import { ModelFailure } from '@vestra/agent/model';
import { Failure } from '@vestra/contract/errors';
import type { Logger } from 'pino';
import type { Followers } from '../../account/index.ts';
import type { IndexState, NotebookReader } from '../../agents/notebooks/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { isDatabaseAway } from '../../platform/db/away.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { holdRun, type Run, RunTakenOver } from '../../platform/jobs/run-owner.ts';
import type { TestRunRow } from '../tables.ts';
import type { Fault } from './judge.ts';
import { lockRun } from './store.ts';

/** What playing a run needs of the house. */
export type Player = {
  engine: Engine;
  followers: Pick<Followers, 'follow'>;
  /** Lets the version of a run that has passed be the one that its mode runs, unless somebody has decided otherwise. */
  promote: (
    tx: Transaction,
    of: { orgId: Tenant['orgId']; run: Pick<TestRunRow, 'id' | 'deployment_id' | 'version' | 'mode'> },
  ) => Promise<{ promoted: true } | { promoted: false; reason: string }>;
  /** How much of what the agent will read can be searched as it will be. */
  indexStateOf: (reader: NotebookReader) => Promise<IndexState>;
};

/** A run as the process that plays it knows it. */
export type Playing = { row: TestRunRow; run: Run };

/**
 * To be called in every transaction of a play before it writes. Throws where the run was cancelled or deleted, or where
 * another process plays it: nothing of the transaction is written then.
 */
export async function holdPlay(tx: Transaction, run: Run, strength: 'share' | 'update'): Promise<TestRunRow> {
  const row = await lockRun(tx, run.runId, strength);
  if (row?.status !== 'running') throw new RunTakenOver(run);
  await holdRun(tx, run);
  return row;
}

/** The play ends here and goes on elsewhere, or later: nothing may be written down as its fault. */
export const isInterrupted = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted || error instanceof RunTakenOver || isDatabaseAway(error);

export function faultOf(log: Logger, error: unknown): Fault {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  if (error instanceof ModelFailure) {
    return { code: error.reason === 'timeout' ? 'timeout' : 'model_error', message: error.message };
  }
  log.error({ err: error }, 'a test could not be played');
  return { code: 'internal', message: null };
}
