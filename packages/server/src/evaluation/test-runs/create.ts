import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import { recordAudit } from '../../account/index.ts';
import { type DeploymentRow, lockDeployment, lockVersions, type VersionRow } from '../../agents/deployments/index.ts';
import { assertPayable, type Engine, usableModel } from '../../engine/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import { countScenarios, scenariosOf } from '../scenarios/store.ts';
import { presentTestRun } from './present.ts';
import { findRun, insertRun, type TalliedRun } from './store.ts';
import type { TestRun } from './tables.ts';

/**
 * A run of the newest version, asked for by itself: whatever its verdict, nothing is promoted. What could not even begin
 * is refused as a message would be.
 */
export async function createTestRun(
  tx: Transaction,
  {
    engine,
    jobs,
    upToDateVersion,
  }: { engine: Pick<Engine, 'models'>; jobs: JobSender; upToDateVersion: UpToDateVersion },
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
  const { deployment, version } = await upToDateVersion(tx, { origin, deployment: found });
  usableModel(engine.models, origin.mode, version.manifest.model);
  await assertPayable(tx, origin);
  const run = { deployment, version: version.version, mode: origin.mode, promoteOnPass: false };
  return startRun(tx, jobs, origin, run);
}

/** The newest version; one more is saved where notebooks or skills have changed since it was. */
export type UpToDateVersion = (
  tx: Transaction,
  of: { origin: Origin; deployment: DeploymentRow },
) => Promise<{ deployment: DeploymentRow; version: VersionRow }>;

/** A queued run of every scenario that the deployment has now, whoever made them, and the job that plays it. */
export async function startRun(
  tx: Transaction,
  jobs: JobSender,
  origin: Origin,
  { deployment, version, mode, promoteOnPass }: NewRun,
): Promise<TestRun> {
  const run = {
    id: newId('trun'),
    org_id: deployment.org_id,
    deployment_id: deployment.id,
    version,
    mode,
    promote_on_pass: promoteOnPass,
  };
  const scenarios = await scenariosOf(tx, deployment.id);
  await insertRun(tx, run, scenarios);
  await jobs.send(tx, 'test_run.play', { org_id: run.org_id, run_id: run.id });
  await recordAudit(tx, origin, {
    action: 'test_run.created',
    target: { type: 'test_run', id: run.id },
    details: { deployment_id: deployment.id, version, promote_on_pass: promoteOnPass, scenarios: scenarios.length },
  });
  return presentTestRun((await findRun(tx, run.org_id, run.id)) as TalliedRun);
}

export type NewRun = { deployment: DeploymentRow; version: number; mode: Mode; promoteOnPass: boolean };
