import { type DeploymentRow, lockDeployment } from '../../agents/deployments/index.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import type { ScenarioFields } from './scenario.ts';
import { deleteFileManagedExcept, upsertFileManaged } from './store.ts';

/** A scenario as a test of the file declares it. */
export type FileScenario = Omit<ScenarioFields, 'approves'>;

/**
 * Makes these, whose names differ, the only scenarios that the deployment has from its file. Applies at once are taken
 * one after the other. The audit entry is that of the apply.
 */
export async function replaceFileScenarios(
  tx: Transaction,
  { deployment, declared }: { deployment: DeploymentRow; declared: readonly FileScenario[] },
): Promise<void> {
  await lockDeployment(tx, deployment.org_id, deployment.id);
  await deleteFileManagedExcept(
    tx,
    deployment.id,
    declared.map(({ name }) => name),
  );
  await upsertFileManaged(tx, deployment, declared);
}
