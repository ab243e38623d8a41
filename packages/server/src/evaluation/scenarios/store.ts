import { newId } from '@vestra/contract/ids';
import type { DeploymentRow } from '../../agents/deployments/index.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, one, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, count } from '../../platform/db/table.ts';
import type { ScenarioFields } from './scenario.ts';
import { type ScenarioRow, scenarios } from './tables.ts';

const columns = columnsOf(scenarios);

/** Scenarios are shared by both modes of their org, and every one is reached through a deployment of that org. */
const ofDeployment = (deploymentId: string) => sql`deployment_id = ${deploymentId}`;

export const listScenarios = (
  db: Executor,
  deploymentId: string,
  { limit, below }: { limit: number; below: string | null },
): Promise<ScenarioRow[]> =>
  rowsOf(
    db,
    scenarios,
    sql`SELECT ${columns} FROM ${scenarios} WHERE ${sql.and(ofDeployment(deploymentId), below && sql`id < ${below}`)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );

/** All of them, oldest first. */
export const scenariosOf = (db: Executor, deploymentId: string): Promise<ScenarioRow[]> =>
  rowsOf(db, scenarios, sql`SELECT ${columns} FROM ${scenarios} WHERE ${ofDeployment(deploymentId)} ORDER BY id`);

export async function countScenarios(db: Executor, deploymentId: string): Promise<number> {
  const { kept } = await one(
    db,
    { kept: count() },
    sql`SELECT count(*) AS kept FROM ${scenarios} WHERE ${ofDeployment(deploymentId)}`,
  );
  return kept;
}

export const findScenario = (
  db: Executor,
  deploymentId: string,
  scenarioId: string,
): Promise<ScenarioRow | undefined> =>
  maybeOne(
    db,
    scenarios,
    sql`SELECT ${columns} FROM ${scenarios} WHERE ${ofDeployment(deploymentId)} AND id = ${scenarioId}`,
  );

export const insertScenario = (
  tx: Transaction,
  deployment: DeploymentRow,
  fields: ScenarioFields,
): Promise<ScenarioRow> => insert(tx, scenarios, newRow(deployment, fields));

export async function updateScenario(
  tx: Transaction,
  scenarioId: string,
  changes: Partial<ScenarioFields>,
): Promise<ScenarioRow> {
  const [row] = await update(tx, scenarios, { ...changes, updated_at: sql`now()` }, sql`id = ${scenarioId}`);
  return row as ScenarioRow;
}

export async function deleteScenario(tx: Transaction, scenarioId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${scenarios} WHERE id = ${scenarioId}`);
}

/** Removes the file's scenarios that have none of these names. */
export async function deleteFileManagedExcept(
  tx: Transaction,
  deploymentId: string,
  names: readonly string[],
): Promise<void> {
  await run(
    tx,
    sql`DELETE FROM ${scenarios}
        WHERE ${ofDeployment(deploymentId)} AND managed_by = 'file' AND name <> ALL(${names})`,
  );
}

/** One whose name the file had before keeps its id, and where nothing differs also its time. */
export async function upsertFileManaged(
  tx: Transaction,
  deployment: DeploymentRow,
  declared: readonly Omit<ScenarioFields, 'approves'>[],
): Promise<void> {
  const rows = declared.map((fields) => ({ ...newRow(deployment, fields), managed_by: 'file' as const }));
  await insertMany(tx, scenarios, rows, {
    onConflict: sql`(deployment_id, name) WHERE managed_by = 'file' DO UPDATE SET
      persona = excluded.persona, goal = excluded.goal, success_criteria = excluded.success_criteria,
      must_never = excluded.must_never, tool_results = excluded.tool_results,
      recorded_calls = excluded.recorded_calls, updated_at = now()
      WHERE ${scenarios}.persona <> excluded.persona OR ${scenarios}.goal <> excluded.goal
        OR ${scenarios}.success_criteria <> excluded.success_criteria
        OR ${scenarios}.must_never <> excluded.must_never
        OR ${scenarios}.tool_results::jsonb IS DISTINCT FROM excluded.tool_results::jsonb
        OR ${scenarios}.recorded_calls::jsonb IS DISTINCT FROM excluded.recorded_calls::jsonb`,
  });
}

const newRow = ({ org_id, id }: DeploymentRow, fields: ScenarioFields) => ({
  ...fields,
  id: newId('scn'),
  org_id,
  deployment_id: id,
});
