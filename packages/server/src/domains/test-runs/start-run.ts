import { newId } from '@vestra/contract/ids';
import type { Mode } from '@vestra/contract/route';
import type { Origin } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';
import type { JobSender } from '../../jobs/catalog.ts';
import { recordAudit } from '../audit/api.ts';
import type { DeploymentRow } from '../deployments/api.ts';
import { scenariosOf } from '../scenarios/api.ts';
import { presentTestRun } from './present.ts';
import { findRun, insertResults, insertRun, type TalliedRun } from './store.ts';
import type { TestRun } from './tables.ts';

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
  await insertRun(tx, run);
  await insertResults(tx, run, scenarios);
  await jobs.send(tx, 'test_run.play', { org_id: run.org_id, run_id: run.id });
  await recordAudit(tx, origin, {
    action: 'test_run.created',
    target: { type: 'test_run', id: run.id },
    details: { deployment_id: deployment.id, version, promote_on_pass: promoteOnPass, scenarios: scenarios.length },
  });
  return presentTestRun((await findRun(tx, run.org_id, run.id)) as TalliedRun);
}

export type NewRun = { deployment: DeploymentRow; version: number; mode: Mode; promoteOnPass: boolean };
