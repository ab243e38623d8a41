import { fail } from '@vestra/contract/errors';
import { recordAudit } from '../../account/index.ts';
import { lockDeployment, newestVersion } from '../../agents/deployments/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { assertNotFileManaged, assertToolsKnown, type ScenarioFields } from './scenario.ts';
import { findScenario, updateScenario } from './store.ts';
import type { ScenarioRow } from './tables.ts';

/**
 * Fields left out stay. Results that stay are not held against the newest version again: a tool that it dropped must not
 * keep a scenario from being renamed.
 */
export async function changeScenario(
  tx: Transaction,
  origin: Origin,
  { reference, scenarioId, changes }: { reference: string; scenarioId: string; changes: Partial<ScenarioFields> },
): Promise<ScenarioRow> {
  const deployment = await lockDeployment(tx, origin.orgId, reference);
  const before = await findScenario(tx, deployment.id, scenarioId);
  if (!before) throw fail('scenario_not_found');
  assertNotFileManaged(before);
  if (changes.tool_results || changes.recorded_calls) assertToolsKnown(changes, await newestVersion(tx, deployment));
  const changed = Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [field]));
  if (changed.length === 0) return before;
  const row = await updateScenario(tx, scenarioId, changes);
  await recordAudit(tx, origin, {
    action: 'scenario.updated',
    target: { type: 'scenario', id: scenarioId },
    details: { deployment_id: deployment.id, changed },
  });
  return row;
}
