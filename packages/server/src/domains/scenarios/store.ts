import { newId } from '@vestra/contract/ids';
import { and, asc, desc, eq, lt, notInArray, or, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../db/pool.ts';
import type { DeploymentRow } from '../deployments/api.ts';
import type { ScenarioFields } from './scenario.ts';
import { type ScenarioRow, scenarios } from './tables.ts';

/** Scenarios are shared by both modes of their org, and every one is reached through a deployment of that org. */
const inDeployment = (deploymentId: string, scenarioId: string) =>
  and(eq(scenarios.deployment_id, deploymentId), eq(scenarios.id, scenarioId));

export function listScenarios(
  db: Executor,
  deploymentId: string,
  page: { limit: number; below: string | null },
): Promise<ScenarioRow[]> {
  return db
    .select()
    .from(scenarios)
    .where(
      and(eq(scenarios.deployment_id, deploymentId), page.below === null ? undefined : lt(scenarios.id, page.below)),
    )
    .orderBy(desc(scenarios.id))
    .limit(page.limit + 1);
}

/** All of them, oldest first. */
export function scenariosOf(db: Executor, deploymentId: string): Promise<ScenarioRow[]> {
  return db.select().from(scenarios).where(eq(scenarios.deployment_id, deploymentId)).orderBy(asc(scenarios.id));
}

export const countScenarios = (db: Executor, deploymentId: string): Promise<number> =>
  db.$count(scenarios, eq(scenarios.deployment_id, deploymentId));

export async function findScenario(
  db: Executor,
  deploymentId: string,
  scenarioId: string,
): Promise<ScenarioRow | undefined> {
  const [row] = await db.select().from(scenarios).where(inDeployment(deploymentId, scenarioId));
  return row;
}

export async function insertScenario(
  tx: Transaction,
  deployment: DeploymentRow,
  fields: ScenarioFields,
): Promise<ScenarioRow> {
  const [row] = await tx.insert(scenarios).values(newRow(deployment, fields)).returning();
  return row as ScenarioRow;
}

export async function updateScenario(
  tx: Transaction,
  scenarioId: string,
  changes: Partial<ScenarioFields>,
): Promise<ScenarioRow> {
  const [row] = await tx
    .update(scenarios)
    .set({ ...changes, updated_at: sql`now()` })
    .where(eq(scenarios.id, scenarioId))
    .returning();
  return row as ScenarioRow;
}

export async function deleteScenario(tx: Transaction, scenarioId: string): Promise<void> {
  await tx.delete(scenarios).where(eq(scenarios.id, scenarioId));
}

/** Removes the file's scenarios that have none of these names. */
export async function deleteFileManagedExcept(
  tx: Transaction,
  deploymentId: string,
  names: readonly string[],
): Promise<void> {
  await tx
    .delete(scenarios)
    .where(
      and(
        eq(scenarios.deployment_id, deploymentId),
        eq(scenarios.managed_by, 'file'),
        notInArray(scenarios.name, [...names]),
      ),
    );
}

/** One whose name the file had before keeps its id, and where nothing differs also its time. */
export async function upsertFileManaged(
  tx: Transaction,
  deployment: DeploymentRow,
  declared: readonly Omit<ScenarioFields, 'approves'>[],
): Promise<void> {
  if (declared.length === 0) return;
  const { persona, goal, success_criteria, must_never, tool_results } = scenarios;
  await tx
    .insert(scenarios)
    .values(declared.map((fields) => ({ ...newRow(deployment, fields), managed_by: 'file' as const })))
    .onConflictDoUpdate({
      target: [scenarios.deployment_id, scenarios.name],
      // Written out: a parameter would not be recognised as the condition of the index.
      targetWhere: sql`managed_by = 'file'`,
      set: {
        persona: sql`excluded.persona`,
        goal: sql`excluded.goal`,
        success_criteria: sql`excluded.success_criteria`,
        must_never: sql`excluded.must_never`,
        tool_results: sql`excluded.tool_results`,
        updated_at: sql`now()`,
      },
      setWhere: or(
        sql`${persona} <> excluded.persona`,
        sql`${goal} <> excluded.goal`,
        sql`${success_criteria} <> excluded.success_criteria`,
        sql`${must_never} <> excluded.must_never`,
        sql`${tool_results}::jsonb IS DISTINCT FROM excluded.tool_results::jsonb`,
      ),
    });
}

const newRow = ({ org_id, id }: DeploymentRow, fields: ScenarioFields) => ({
  ...fields,
  id: newId('scn'),
  org_id,
  deployment_id: id,
});
