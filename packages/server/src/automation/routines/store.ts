import { defaultDeploymentOfRow } from '../../account/index.ts';
import { type DeploymentRow, statusOfDeployment } from '../../agents/deployments/index.ts';
import { deploymentOfConversation } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { mayRun } from '../../platform/db/frozen-orgs.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import {
  type ChangesOf,
  insert,
  insertMany,
  maybeOne,
  one,
  rowsOf,
  run,
  update,
  updateOne,
} from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, count, moment, text } from '../../platform/db/table.ts';
import { userOfRow } from '../../users/index.ts';
import type { RoutineChanges } from './routine.ts';
import {
  type NewRoutine,
  type PretendedRoutine,
  pretendedRoutines,
  type RoutineError,
  type RoutineRow,
  routines,
} from './tables.ts';

const owned = (tenant: Tenant) => sql`org_id = ${tenant.orgId} AND mode = ${tenant.mode}`;
const named = (tenant: Tenant, routineId: string) => sql`${owned(tenant)} AND id = ${routineId}`;
const ofUser = (userId: string | null) => (userId === null ? sql`user_id IS NULL` : sql`user_id = ${userId}`);
const selected = sql`SELECT ${columnsOf(routines)} FROM ${routines}`;

/** Newest first. Without a user, those of the org's own agent. */
export function listRoutines(
  db: Executor,
  tenant: Tenant,
  userId: string | null,
  page: { limit: number; after: readonly string[] | null },
): Promise<RoutineRow[]> {
  const after = page.after && sql`id < ${page.after[0] as string}`;
  return rowsOf(
    db,
    routines,
    sql`${selected} WHERE ${sql.and(owned(tenant), ofUser(userId), after)} ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );
}

export const findRoutine = (db: Executor, tenant: Tenant, routineId: string): Promise<RoutineRow | undefined> =>
  maybeOne(db, routines, sql`${selected} WHERE ${named(tenant, routineId)}`);

/** Locks the row until the transaction ends, so that a change and a run are serialised. */
export const lockRoutine = (tx: Transaction, tenant: Tenant, routineId: string): Promise<RoutineRow | undefined> =>
  maybeOne(tx, routines, sql`${selected} WHERE ${named(tenant, routineId)} FOR UPDATE`);

export const insertRoutine = (tx: Transaction, row: NewRoutine): Promise<RoutineRow> => insert(tx, routines, row);

export const updateRoutine = (tx: Transaction, routineId: string, changes: RoutineChanges): Promise<RoutineRow> =>
  change(tx, routineId, { ...changes, updated_at: sql`now()` });

async function change(tx: Transaction, routineId: string, changes: ChangesOf<typeof routines>): Promise<RoutineRow> {
  return updateOne(tx, routines, changes, sql`id = ${routineId}`);
}

export async function updateRoutines(tx: Transaction, ids: readonly string[], changes: RoutineChanges): Promise<void> {
  await update(tx, routines, { ...changes, updated_at: sql`now()` }, sql`id = ANY(${ids})`);
}

export async function deleteRoutines(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await run(tx, sql`DELETE FROM ${routines} WHERE id = ANY(${ids})`);
}

export async function deleteRoutinesOf(tx: Transaction, tenant: Tenant, userId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${routines} WHERE ${owned(tenant)} AND user_id = ${userId}`);
}

/** Detaches routines from these conversations: their next run starts a new one. Returns their ids. */
export async function detachRoutines(
  tx: Transaction,
  tenant: Tenant,
  conversationIds: readonly string[],
): Promise<string[]> {
  const detached = await rowsOf(
    tx,
    { id: text() },
    sql`UPDATE ${routines} SET conversation_id = NULL, own_conversation = false
      WHERE ${owned(tenant)} AND conversation_id = ANY(${conversationIds}) RETURNING id`,
  );
  return detached.map(({ id }) => id);
}

/** Locks the routines that the deployment file has in this mode. */
export function lockFileManaged(tx: Transaction, tenant: Tenant, deployment: DeploymentRow): Promise<RoutineRow[]> {
  return rowsOf(
    tx,
    routines,
    sql`
      ${selected} WHERE ${owned(tenant)} AND deployment_id = ${deployment.id} AND managed_by = 'file'
      ORDER BY id FOR UPDATE`,
  );
}

const ofRoutine = sql`routine`;
const ofConversation = sql`CASE WHEN routine.own_conversation
  THEN ${deploymentOfConversation(sql`routine.conversation_id`)} END`;
const used = sql`COALESCE(${ofConversation}, routine.deployment_id, ${userOfRow(ofRoutine, 'default_deployment')},
  ${defaultDeploymentOfRow(ofRoutine)})`;

/**
 * Locks the routines of an org, in both modes, whose `deployment_archived` no longer fits the deployment of their next
 * run: that of the conversation that was named for them, else their own, else the default of the user or the org.
 */
export const lockWronglyArchived = (
  tx: Transaction,
  orgId: string,
  { userId, routineIds }: { userId?: string; routineIds?: readonly string[] },
): Promise<RoutineRow[]> =>
  rowsOf(
    tx,
    routines,
    sql`SELECT ${columnsOf(routines, 'routine')} FROM ${routines} AS routine
      WHERE ${sql.and(
        sql`routine.org_id = ${orgId}`,
        sql`routine.deployment_archived <> COALESCE(${statusOfDeployment(used)} = 'archived', false)`,
        userId !== undefined && sql`routine.user_id = ${userId}`,
        routineIds && sql`routine.id = ANY(${routineIds})`,
      )}
      ORDER BY routine.id FOR UPDATE OF routine`,
  );

export async function insertRoutines(tx: Transaction, rows: readonly NewRoutine[]): Promise<void> {
  await insertMany(tx, routines, rows);
}

const scheduled = sql`enabled AND status = 'active' AND next_run_at IS NOT NULL AND ${mayRun(sql`routines.org_id`)}`;
const due = (now: Date): Sql => sql`${scheduled} AND next_run_at <= ${now}`;

/**
 * At most this many due routines are ranked in one query. If there are more, each org is queried for its first ones.
 */
const maxRanked = 1000;

type DueQuery = { now: Date; limit: number; except: readonly string[] };

/**
 * Ids of due routines, oldest first, round robin over the orgs: one org with thousands at the full hour must not delay
 * the others.
 */
export async function dueRoutines(db: Executor, look: DueQuery): Promise<string[]> {
  const { now, limit, except } = look;
  const rows = await rowsOf(
    db,
    { id: text(), found: count() },
    sql`
      SELECT id, count(*) OVER () AS found FROM (
        SELECT id, org_id, next_run_at FROM ${routines} WHERE ${due(now)} AND id <> ALL(${except})
        ORDER BY next_run_at LIMIT ${maxRanked}) AS longest_due
      ORDER BY row_number() OVER (PARTITION BY org_id ORDER BY next_run_at), next_run_at LIMIT ${limit}`,
  );
  const hasSeenAll = (rows[0]?.found ?? 0) < maxRanked;
  return hasSeenAll ? rows.map(({ id }) => id) : dueByOrg(db, look);
}

/**
 * The same without reading all due routines, which may be a hundred thousand: an index leads from org to org. Each org
 * gets one before any gets two, so none gets more than the others leave.
 */
async function dueByOrg(db: Executor, { now, limit, except }: DueQuery): Promise<string[]> {
  const rows = await rowsOf(
    db,
    { id: text() },
    sql`
      WITH RECURSIVE first_of_org AS (
        (SELECT org_id, next_run_at FROM ${routines} WHERE ${scheduled} ORDER BY org_id, next_run_at LIMIT 1)
        UNION ALL
        SELECT following.* FROM first_of_org, LATERAL (
          SELECT org_id, next_run_at FROM ${routines} WHERE ${scheduled} AND org_id > first_of_org.org_id
          ORDER BY org_id, next_run_at LIMIT 1) AS following
      )
      SELECT of_org.id
      FROM (
        SELECT org_id, count(*) OVER () AS orgs FROM first_of_org WHERE next_run_at <= ${now}
        ORDER BY next_run_at LIMIT ${limit}) AS orgs_due,
      LATERAL (
        SELECT id, next_run_at, row_number() OVER (ORDER BY next_run_at) AS place FROM ${routines}
        WHERE org_id = orgs_due.org_id AND ${due(now)} AND id <> ALL(${except})
        ORDER BY next_run_at LIMIT GREATEST(1, ${limit}::int - orgs_due.orgs + 1)) AS of_org
      ORDER BY of_org.place, of_org.next_run_at LIMIT ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/** When the next routine falls due after `now`; null if none will. */
export async function nextDueAfter(db: Executor, now: Date): Promise<Date | null> {
  const row = await maybeOne(
    db,
    { next_run_at: moment() },
    sql`SELECT next_run_at FROM ${routines} WHERE ${scheduled} AND next_run_at > ${now} ORDER BY next_run_at LIMIT 1`,
  );
  return row?.next_run_at ?? null;
}

/** Undefined if another process has locked it or already ran this time. */
export const lockDue = (tx: Transaction, routineId: string, now: Date): Promise<RoutineRow | undefined> =>
  maybeOne(tx, routines, sql`${selected} WHERE id = ${routineId} AND ${due(now)} FOR UPDATE SKIP LOCKED`);

/** Without `next` it ran outside of its schedule, which stays. A schedule without a next time has ended. */
export const recordRun = (
  tx: Transaction,
  routineId: string,
  { conversation_id, next }: { conversation_id: string; next?: Date | null },
): Promise<RoutineRow> =>
  change(tx, routineId, {
    conversation_id,
    last_run_at: sql`now()`,
    run_count: sql`run_count + 1`,
    last_error: null,
    next_run_at: next,
    ...(next === null && { status: 'completed' }),
  });

export const recordSkippedRun = (
  tx: Transaction,
  routineId: string,
  { status, next, error }: { status: 'active' | 'failed'; next: Date | null; error: RoutineError },
): Promise<RoutineRow> =>
  // A single run that failed is not completed.
  change(tx, routineId, { status: next === null ? 'failed' : status, next_run_at: next, last_error: error });

/** Locks the routines of a user that use the zone of the user. */
export function lockFollowingUserZone(tx: Transaction, tenant: Tenant, userId: string): Promise<RoutineRow[]> {
  return rowsOf(
    tx,
    routines,
    sql`
      ${selected} WHERE ${owned(tenant)} AND user_id = ${userId} AND kind = 'schedule' AND NOT own_timezone
      ORDER BY id FOR UPDATE`,
  );
}

export async function countRoutines(db: Executor, tenant: Tenant, userId: string | null): Promise<number> {
  const { total } = await one(
    db,
    { total: count() },
    sql`SELECT count(*) AS total FROM ${routines} WHERE ${owned(tenant)} AND ${ofUser(userId)}`,
  );
  return total;
}

export const insertPretended = (tx: Transaction, row: PretendedRoutine): Promise<PretendedRoutine> =>
  insert(tx, pretendedRoutines, row);

export const listPretended = (db: Executor, conversationId: string): Promise<PretendedRoutine[]> =>
  rowsOf(
    db,
    pretendedRoutines,
    sql`
      SELECT ${columnsOf(pretendedRoutines)} FROM ${pretendedRoutines}
      WHERE conversation_id = ${conversationId} ORDER BY id`,
  );

export async function deletePretended(db: Executor, conversationId: string, id: string): Promise<boolean> {
  const removed = await run(
    db,
    sql`DELETE FROM ${pretendedRoutines} WHERE conversation_id = ${conversationId} AND id = ${id}`,
  );
  return removed > 0;
}
