import { fail } from '@vestra/contract/errors';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import { type DeploymentRow, lockDeployment, lockVersions, type VersionRow } from '../deployments/api.ts';
import { assertPayable, type Engine, usableModel } from '../engine/api.ts';
import { countScenarios } from '../scenarios/api.ts';
import { startRun } from './start-run.ts';
import type { TestRun } from './tables.ts';

/**
 * A run of the newest version, asked for by itself: whatever its verdict, nothing is promoted. What could not even begin
 * is refused as a message would be.
 */
export async function createTestRun(
  tx: Transaction,
  { engine, jobs, settleNewest }: { engine: Pick<Engine, 'models'>; jobs: JobSender; settleNewest: SettleNewest },
  origin: Origin,
  reference: string,
): Promise<TestRun> {
  await lockVersions(tx, origin.orgId);
  const found = await lockDeployment(tx, origin.orgId, reference);
  if (found.status === 'archived') throw fail('deployment_archived');
  if ((await countScenarios(tx, found.id)) === 0) {
    throw fail('invalid_request', {
      message: 'This deployment has no scenarios to play. Add one, or declare `tests` in its file.',
    });
  }
  const { deployment, version } = await settleNewest(tx, { origin, deployment: found });
  usableModel(engine.models, origin.mode, version.manifest.model);
  await assertPayable(tx, origin);
  const run = { deployment, version: version.version, mode: origin.mode, promoteOnPass: false };
  return startRun(tx, jobs, origin, run);
}

/** The newest version; one more is saved where notebooks or skills have changed since it was. */
export type SettleNewest = (
  tx: Transaction,
  of: { origin: Origin; deployment: DeploymentRow },
) => Promise<{ deployment: DeploymentRow; version: VersionRow }>;
