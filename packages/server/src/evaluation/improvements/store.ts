import type { Tenant } from '../../platform/caller.ts';
import { MissingRow } from '../../platform/db/missing-row.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, text } from '../../platform/db/table.ts';
import { cancelPlay } from '../player/plays.ts';
import {
  type ImprovementRow,
  type ImprovementScenarioRow,
  improvementScenarios,
  improvements,
  messageFeedback,
  replays,
  testRunResults,
  testRuns,
} from '../tables.ts';

/** Scenarios come from messages of live users, which must not be visible in test mode. */
const ofTenant = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;

export const findImprovement = (db: Executor, tenant: Tenant, id: string): Promise<ImprovementRow | undefined> =>
  maybeOne(
    db,
    improvements,
    sql`SELECT ${columnsOf(improvements)} FROM ${improvements} WHERE ${ofTenant(tenant)} AND id = ${id}`,
  );

/** For the process that runs it. Throws `MissingRow` if it was deleted with its deployment. */
export async function readImprovement(db: Executor, id: string): Promise<ImprovementRow> {
  const row = await maybeOne(
    db,
    improvements,
    sql`SELECT ${columnsOf(improvements)} FROM ${improvements} WHERE id = ${id}`,
  );
  if (!row) throw new MissingRow(improvements.name);
  return row;
}

export const listImprovements = (
  db: Executor,
  tenant: Tenant,
  deploymentId: string,
  { limit, below }: { limit: number; below: string | null },
): Promise<ImprovementRow[]> =>
  rowsOf(
    db,
    improvements,
    sql`SELECT ${columnsOf(improvements)} FROM ${improvements}
        WHERE ${sql.and(sql`deployment_id = ${deploymentId}`, ofTenant(tenant), below && sql`id < ${below}`)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );

/** In the order of the request. */
export const scenariosOfImprovement = (db: Executor, id: string): Promise<ImprovementScenarioRow[]> =>
  rowsOf(
    db,
    improvementScenarios,
    sql`SELECT ${columnsOf(improvementScenarios)} FROM ${improvementScenarios}
        WHERE improvement_id = ${id} ORDER BY position`,
  );

type NewImprovement = Pick<
  ImprovementRow,
  'id' | 'org_id' | 'mode' | 'deployment_id' | 'base_version' | 'source' | 'author' | 'budget_micros' | 'rounds'
>;

export async function insertImprovement(
  tx: Transaction,
  row: NewImprovement,
  sources: readonly Pick<ImprovementScenarioRow, 'source_id' | 'user_id' | 'scenario_id'>[],
): Promise<void> {
  await insert(tx, improvements, row);
  const { id: improvement_id, org_id, mode } = row;
  await insertMany(
    tx,
    improvementScenarios,
    sources.map((each, position) => ({ improvement_id, position, org_id, mode, ...each })),
  );
}

export async function updateImprovement(tx: Transaction, id: string, changes: Partial<ImprovementRow>): Promise<void> {
  await update(tx, improvements, changes, sql`id = ${id}`);
}

/** Adds the flag unless it is already there. */
export async function addFlag(tx: Transaction, id: string, flag: ImprovementRow['flags'][number]): Promise<void> {
  const { flags } = await readImprovement(tx, id);
  const isThere = flags.some((each) => each.reason === flag.reason && each.conversation_id === flag.conversation_id);
  if (!isThere) await updateImprovement(tx, id, { flags: [...flags, flag] });
}

/** Returns false if the row is gone, because its conversation was deleted. */
export async function updateScenario(
  tx: Transaction,
  { improvement_id, position }: Pick<ImprovementScenarioRow, 'improvement_id' | 'position'>,
  changes: Partial<ImprovementScenarioRow>,
): Promise<boolean> {
  const which = sql`improvement_id = ${improvement_id} AND position = ${position}`;
  return (await update(tx, improvementScenarios, changes, which)).length === 1;
}

export const cancelOpenImprovement = (tx: Transaction, tenant: Tenant, id: string): Promise<boolean> =>
  cancelPlay(tx, improvements, ofTenant(tenant), id);

/** The newest conversations of the deployment with a bad rating, each once. */
export const badlyRated = (
  db: Executor,
  tenant: Tenant,
  { deploymentId, limit }: { deploymentId: string; limit: number },
): Promise<{ id: string }[]> =>
  rowsOf(
    db,
    { id: text() },
    sql`SELECT conversation_id AS id FROM ${messageFeedback}
        WHERE ${ofTenant(tenant)} AND deployment_id = ${deploymentId} AND rating = 'bad'
        GROUP BY conversation_id ORDER BY max(id) DESC LIMIT ${limit}`,
  );

/** Ratings of these conversations, newest first. */
export const ratingsOf = (
  db: Executor,
  tenant: Tenant,
  conversationIds: readonly string[],
): Promise<{ conversation_id: string; rating: string; note: string | null }[]> =>
  rowsOf(
    db,
    { conversation_id: text(), rating: text(), note: text().nullable() },
    sql`SELECT conversation_id, rating, note FROM ${messageFeedback}
        WHERE ${ofTenant(tenant)} AND conversation_id = ANY(${conversationIds}) ORDER BY id DESC`,
  );

/** Open test runs and replays of an improvement. */
export async function openPlaysOf(db: Executor, id: string): Promise<{ runIds: string[]; replayIds: string[] }> {
  const open = sql`improvement_id = ${id} AND status IN ('queued', 'running')`;
  const runs = await rowsOf(db, { id: text() }, sql`SELECT id FROM ${testRuns} WHERE ${open}`);
  const others = await rowsOf(db, { id: text() }, sql`SELECT id FROM ${replays} WHERE ${open}`);
  return { runIds: runs.map((row) => row.id), replayIds: others.map((row) => row.id) };
}

/** Deletes the rows of conversations or of a user, and returns them: their plays still have to be erased. */
export const removeScenariosFrom = (
  tx: Transaction,
  tenant: Tenant,
  which: { conversationIds: readonly string[] } | { userId: string },
): Promise<ImprovementScenarioRow[]> => {
  const matching = 'userId' in which ? sql`user_id = ${which.userId}` : sql`source_id = ANY(${which.conversationIds})`;
  return rowsOf(
    tx,
    improvementScenarios,
    sql`DELETE FROM ${improvementScenarios} WHERE ${ofTenant(tenant)} AND ${matching}
        RETURNING ${columnsOf(improvementScenarios)}`,
  );
};

/** Deletes the results of scenarios in the test runs of improvements, and returns their conversations. */
export async function removeResultsOf(tx: Transaction, scenarioIds: readonly string[]): Promise<string[]> {
  const { conversation_id, plays } = testRunResults.columns;
  const rows = await rowsOf(
    tx,
    { conversation_id, plays },
    sql`DELETE FROM ${testRunResults} WHERE scenario_id = ANY(${scenarioIds})
          AND run_id IN (SELECT id FROM ${testRuns} WHERE improvement_id IS NOT NULL)
        RETURNING conversation_id, plays`,
  );
  return rows
    .flatMap((row) => [row.conversation_id, ...row.plays.map((play) => play.conversation_id)])
    .filter((id) => id !== null);
}

export const lockImprovements = async (tx: Transaction, ids: readonly string[]): Promise<ImprovementRow[]> =>
  rowsOf(
    tx,
    improvements,
    sql`SELECT ${columnsOf(improvements)} FROM ${improvements} WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`,
  );
