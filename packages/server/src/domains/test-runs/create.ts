import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import { lockDeployment } from '../deployments/api.ts';
import { scenarioPort } from '../scenarios/api.ts';
import { startRun } from './start-run.ts';
import type { TestRun } from './tables.ts';

/** A run of the newest version, asked for by itself: whatever its verdict, nothing is promoted. */
export async function createTestRun(tx: Transaction, origin: Origin, reference: string): Promise<TestRun> {
  const deployment = await lockDeployment(tx, origin.orgId, reference);
  if (deployment.status === 'archived') throw fail('deployment_archived');
  if ((await scenarioPort.count(tx, deployment.id)) === 0) {
    throw fail('invalid_request', {
      message: 'This deployment has no scenarios to play. Add one, or declare `tests` in its file.',
    });
  }
  const version = deployment.newest_version;
  return startRun(tx, origin, { deployment, version, mode: origin.mode, promoteOnPass: false });
}
