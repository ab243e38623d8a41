import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import { lockDeployment } from '../deployments/api.ts';
import { assertPayable, type Engine, manifestOf, usableModel } from '../engine/api.ts';
import { scenarioPort } from '../scenarios/api.ts';
import { startRun } from './start-run.ts';
import type { TestRun } from './tables.ts';

/**
 * A run of the newest version, asked for by itself: whatever its verdict, nothing is promoted. What could not even begin
 * is refused as a message would be.
 */
export async function createTestRun(
  tx: Transaction,
  { engine, jobs }: { engine: Pick<Engine, 'models'>; jobs: JobSender },
  origin: Origin,
  reference: string,
): Promise<TestRun> {
  const deployment = await lockDeployment(tx, origin.orgId, reference);
  if (deployment.status === 'archived') throw fail('deployment_archived');
  if ((await scenarioPort.count(tx, deployment.id)) === 0) {
    throw fail('invalid_request', {
      message: 'This deployment has no scenarios to play. Add one, or declare `tests` in its file.',
    });
  }
  const version = deployment.newest_version;
  const { model } = await manifestOf(tx, deployment.id, version);
  usableModel(engine.models, origin.mode, model);
  await assertPayable(tx, origin);
  return startRun(tx, jobs, origin, { deployment, version, mode: origin.mode, promoteOnPass: false });
}
