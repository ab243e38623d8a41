import { recordAudit } from '../../account/index.ts';
import { lockDeployment, newestVersion } from '../../agents/deployments/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assertToolsKnown, type ScenarioFields } from './scenario.ts';
import { insertScenario } from './store.ts';
import type { ScenarioRow } from './tables.ts';

/** The deployment is held, so that neither its newest version nor the set of scenarios that a run plays moves meanwhile. */
export async function createScenario(
  tx: Transaction,
  origin: Origin,
  { reference, fields }: { reference: string; fields: ScenarioFields },
): Promise<ScenarioRow> {
  const deployment = await lockDeployment(tx, origin.orgId, reference);
  if (fields.tool_results || fields.recorded_calls) assertToolsKnown(fields, await newestVersion(tx, deployment));
  const row = await insertScenario(tx, deployment, fields);
  await recordAudit(tx, origin, {
    action: 'scenario.created',
    target: { type: 'scenario', id: row.id },
    details: { deployment_id: deployment.id, name: row.name },
  });
  return row;
}
