import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import type { Run } from '../../jobs/fence.ts';
import type { Engine } from '../engine/api.ts';
import type { Followers } from '../events/api.ts';
import type { TestRunRow } from './tables.ts';

/** What playing a run needs of the house. */
export type Player = {
  engine: Engine;
  followers: Pick<Followers, 'follow'>;
  /** Lets the version of a run that has passed be the one that its mode runs, unless somebody has decided otherwise. */
  promote: (
    tx: Transaction,
    of: { orgId: Tenant['orgId']; run: Pick<TestRunRow, 'id' | 'deployment_id' | 'version' | 'mode'> },
  ) => Promise<{ promoted: true } | { promoted: false; reason: string }>;
};

/** A run as the process that plays it knows it. */
export type Playing = { row: TestRunRow; run: Run };
