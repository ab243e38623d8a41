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
import { insert, insertMany, maybeOne, one, rowsOf, run, updateOne } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, count } from '../../platform/db/table.ts';
import { type ActsAs, type PlayedScenario, type ScenarioRow, scenarios } from '../tables.ts';

export type ScenarioFields = BodyOf<Api['scenarios']['create']>;

/** A result for an unknown tool would never be used, and the test would fail for another reason. */
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

/** A key that is not a tool of the version. */
export const strayTool = (toolResults: ScenarioFields['tool_results'], manifest: Manifest): string | undefined =>
  Object.keys(toolResults ?? {}).find((key) => !isToolOf(manifest, key));

/** Slugs contain no dot, but names of server tools may. */
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

/** Locks the deployment, so that its newest version and its scenarios stay the same meanwhile. */
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
 * Fields left out stay. Unchanged results are not checked against the newest version again: a tool that it dropped must
 * not prevent a rename.
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

/** Runs keep their copy of the scenario. */
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

/** Only a file names a user: a live key decides which file goes live, while any key adds scenarios. */
export type FileScenario = ScenarioFields & { acts_as?: ActsAs | undefined };

export type ScenarioToPlay = PlayedScenario & Pick<ScenarioRow, 'id'>;

/**
 * Makes these the only scenarios that the deployment has from its file; their names differ. Concurrent applies are
 * serialised. The audit entry is that of the apply.
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

/** Leaves out optional fields that were not given, so that the response can be sent to the create route. */
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
  ...(row.runs !== null && { runs: row.runs }),
  ...(row.acts_as !== null && { as: row.acts_as }),
  managed_by: row.managed_by,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const columns = columnsOf(scenarios);

/** Both modes of an org share scenarios. They are always read through a deployment of that org. */
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

/** Oldest first. */
export const scenariosOf = (db: Executor, deploymentId: string): Promise<ScenarioRow[]> =>
  rowsOf(db, scenarios, sql`SELECT ${columns} FROM ${scenarios} WHERE ${ofDeployment(deploymentId)} ORDER BY id`);

/**
 * The scenarios that gate a version, oldest first: those of the API, and those of the file that the version was saved
 * from. The scenarios of another file say nothing about this version. A test that the newest file still has keeps its id.
 */
export async function scenariosOfVersion(
  db: Executor,
  deployment: DeploymentRow,
  declared: readonly FileScenario[],
): Promise<ScenarioToPlay[]> {
  const rows = await scenariosOf(db, deployment.id);
  const fileIds = new Map(rows.flatMap(({ id, name, managed_by }) => (managed_by === 'file' ? [[name, id]] : [])));
  const ofFile = declared.map((fields) => ({
    ...{ tool_results: null, recorded_calls: null, approves: null, runs: null, acts_as: null },
    ...fields,
    id: fileIds.get(fields.name) ?? newId('scn'),
  }));
  return [...rows.filter(({ managed_by }) => managed_by === null), ...ofFile];
}

/** Whether there is a scenario that gates a version of the deployment. */
export async function hasScenarios(db: Executor, deploymentId: string, declared: readonly unknown[]): Promise<boolean> {
  if (declared.length > 0) return true;
  const { kept } = await one(
    db,
    { kept: count() },
    sql`SELECT count(*) AS kept FROM ${scenarios} WHERE ${ofDeployment(deploymentId)} AND managed_by IS NULL`,
  );
  return kept > 0;
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
  return updateOne(tx, scenarios, { ...changes, updated_at: sql`now()` }, sql`id = ${scenarioId}`);
}

async function deleteScenario(tx: Transaction, scenarioId: string): Promise<void> {
  const deleted = await run(tx, sql`DELETE FROM ${scenarios} WHERE id = ${scenarioId}`);
  if (deleted === 0) throw fail('scenario_not_found');
}

/** Deletes scenarios of the file that have none of these names. */
async function deleteFileManagedExcept(tx: Transaction, deploymentId: string, names: readonly string[]): Promise<void> {
  await run(
    tx,
    sql`DELETE FROM ${scenarios}
        WHERE ${ofDeployment(deploymentId)} AND managed_by = 'file' AND name <> ALL(${names})`,
  );
}

/** A scenario whose name the file had before keeps its id and, if nothing changed, its `updated_at`. */
async function upsertFileManaged(
  tx: Transaction,
  deployment: DeploymentRow,
  declared: readonly FileScenario[],
): Promise<void> {
  const rows = declared.map((fields) => ({ ...newRow(deployment, fields), managed_by: 'file' as const }));
  await insertMany(tx, scenarios, rows, {
    onConflict: sql`(deployment_id, name) WHERE managed_by = 'file' DO UPDATE SET
      persona = excluded.persona, goal = excluded.goal, success_criteria = excluded.success_criteria,
      must_never = excluded.must_never, tool_results = excluded.tool_results,
      recorded_calls = excluded.recorded_calls, approves = excluded.approves,
      runs = excluded.runs, acts_as = excluded.acts_as, updated_at = now()
      WHERE ${scenarios}.persona <> excluded.persona OR ${scenarios}.goal <> excluded.goal
        OR ${scenarios}.success_criteria <> excluded.success_criteria
        OR ${scenarios}.must_never <> excluded.must_never
        OR ${scenarios}.tool_results::jsonb IS DISTINCT FROM excluded.tool_results::jsonb
        OR ${scenarios}.recorded_calls::jsonb IS DISTINCT FROM excluded.recorded_calls::jsonb
        OR ${scenarios}.approves IS DISTINCT FROM excluded.approves
        OR ${scenarios}.runs IS DISTINCT FROM excluded.runs
        OR ${scenarios}.acts_as::jsonb IS DISTINCT FROM excluded.acts_as::jsonb`,
  });
}

const newRow = ({ org_id, id }: DeploymentRow, fields: FileScenario) => ({
  ...fields,
  id: newId('scn'),
  org_id,
  deployment_id: id,
});
