import type { Api } from '@vestra/contract/api';
import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import type { BodyOf } from '@vestra/contract/route';
import { toolNames } from '@vestra/contract/tool-entry';
import { recordAudit } from '../../account/index.ts';
import { type DeploymentRow, lockDeployment, newestVersion, type VersionRow } from '../../agents/deployments/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import type { Origin } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, one, rowsOf, run, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, count } from '../../platform/db/table.ts';
import { type ScenarioRow, scenarios } from '../tables.ts';

/** What whoever writes a scenario decides. */
export type ScenarioFields = BodyOf<Api['scenarios']['create']>;

/** A result under a name that no tool has would never be played, and the test would fail for another reason. */
function assertToolsKnown(
  { tool_results, recorded_calls = [] }: Pick<ScenarioFields, 'tool_results' | 'recorded_calls'>,
  { version, manifest }: Pick<VersionRow, 'version' | 'manifest'>,
): void {
  const stray = strayTool(tool_results, manifest);
  const strayCall = recorded_calls.findIndex(({ tool }) => !isToolOf(manifest, tool));
  if (stray === undefined && strayCall < 0) return;
  const servers = manifest.mcp_servers.map(({ slug }) => ` \`${slug}\``).join(',');
  throw fail('invalid_request', {
    param: stray === undefined ? `recorded_calls.${strayCall}.tool` : `tool_results.${stray}`,
    message:
      servers === ''
        ? `Name a function of version ${version}.`
        : `Name a function of version ${version}, or a tool as <server>.<tool>. The servers are:${servers}.`,
  });
}

/** A key that names no tool of the version. */
export const strayTool = (toolResults: ScenarioFields['tool_results'], manifest: Manifest): string | undefined =>
  Object.keys(toolResults ?? {}).find((key) => !isToolOf(manifest, key));

/** No slug holds a dot, but the name of a server's tool may. */
export function isToolOf({ tools, mcp_servers }: Manifest, key: string): boolean {
  if (tools.some((tool) => tool.function === key)) return true;
  const dot = key.indexOf('.');
  if (dot < 0) return false;
  const slug = key.slice(0, dot);
  return mcp_servers.some((server) => server.slug === slug) && toolNames.element.safeParse(key.slice(dot + 1)).success;
}

function assertNotFileManaged({ managed_by }: Pick<ScenarioRow, 'managed_by'>): void {
  if (managed_by !== 'file') return;
  throw fail('managed_by_file', {
    message: 'The deployment file declares this scenario under `tests`: change it there and apply the file again.',
  });
}

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

/** What was never given is left out, so that what is shown can be sent back to the create route. */
export const presentScenario = (row: ScenarioRow) => ({
  object: 'scenario' as const,
  id: row.id,
  deployment_id: row.deployment_id,
  name: row.name,
  persona: row.persona,
  goal: row.goal,
  success_criteria: row.success_criteria,
  must_never: row.must_never,
  ...(row.tool_results !== null && { tool_results: row.tool_results }),
  ...(row.recorded_calls !== null && { recorded_calls: row.recorded_calls }),
  ...(row.approves !== null && { approves: row.approves }),
  managed_by: row.managed_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

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

const insertScenario = (tx: Transaction, deployment: DeploymentRow, fields: ScenarioFields): Promise<ScenarioRow> =>
  insert(tx, scenarios, newRow(deployment, fields));

async function updateScenario(
  tx: Transaction,
  scenarioId: string,
  changes: Partial<ScenarioFields>,
): Promise<ScenarioRow> {
  const [row] = await update(tx, scenarios, { ...changes, updated_at: sql`now()` }, sql`id = ${scenarioId}`);
  return row as ScenarioRow;
}

async function deleteScenario(tx: Transaction, scenarioId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${scenarios} WHERE id = ${scenarioId}`);
}

/** Removes the file's scenarios that have none of these names. */
async function deleteFileManagedExcept(tx: Transaction, deploymentId: string, names: readonly string[]): Promise<void> {
  await run(
    tx,
    sql`DELETE FROM ${scenarios}
        WHERE ${ofDeployment(deploymentId)} AND managed_by = 'file' AND name <> ALL(${names})`,
  );
}

/** One whose name the file had before keeps its id, and where nothing differs also its time. */
async function upsertFileManaged(
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
