import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import { lockDeployment } from '../../agents/deployments/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assertNotFileManaged } from './scenario.ts';
import { deleteScenario, findScenario } from './store.ts';

/** Runs that played it, or are about to, keep it as it was. */
export async function removeScenario(
  tx: Transaction,
  origin: Origin,
  { reference, scenarioId }: { reference: string; scenarioId: string },
): Promise<void> {
  const deployment = await lockDeployment(tx, origin.orgId, reference);
  const row = await findScenario(tx, deployment.id, scenarioId);
  if (!row) throw fail('scenario_not_found');
  assertNotFileManaged(row);
  await deleteScenario(tx, scenarioId);
  await recordAudit(tx, origin, {
    action: 'scenario.deleted',
    target: { type: 'scenario', id: scenarioId },
    details: { deployment_id: deployment.id, name: row.name },
  });
}
