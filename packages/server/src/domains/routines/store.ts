import { and, asc, desc, eq, inArray, isNotNull, isNull, lt, lte, notInArray, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import type { DeploymentRow } from '../deployments/api.ts';
import type { Changes } from './routine.ts';
import { type NewRoutine, type RoutineError, type RoutineRow, routines } from './tables.ts';

const owned = (tenant: Tenant) => and(eq(routines.org_id, tenant.orgId), eq(routines.mode, tenant.mode));
const one = (tenant: Tenant, routineId: string) => and(owned(tenant), eq(routines.id, routineId));
const ofUser = (userId: string | null) => (userId === null ? isNull(routines.user_id) : eq(routines.user_id, userId));

/** Without a user those of the org's own agent, newest first. */
export function listRoutines(
  db: Executor,
  tenant: Tenant,
  userId: string | null,
  page: { limit: number; after: readonly string[] | null },
): Promise<RoutineRow[]> {
  return db
    .select()
    .from(routines)
    .where(and(owned(tenant), ofUser(userId), page.after ? lt(routines.id, page.after[0] as string) : undefined))
    .orderBy(desc(routines.id))
    .limit(page.limit + 1);
}

export async function findRoutine(db: Executor, tenant: Tenant, routineId: string): Promise<RoutineRow | undefined> {
  const [row] = await db.select().from(routines).where(one(tenant, routineId));
  return row;
}

/** Held until the transaction ends, so that a change and a run of the same moment come one after the other. */
export async function lockRoutine(tx: Transaction, tenant: Tenant, routineId: string): Promise<RoutineRow | undefined> {
  const [row] = await tx.select().from(routines).where(one(tenant, routineId)).for('update');
  return row;
}

export async function insertRoutine(tx: Transaction, row: NewRoutine): Promise<RoutineRow> {
  const [inserted] = await tx.insert(routines).values(row).returning();
  return inserted as RoutineRow;
}

export async function updateRoutine(tx: Transaction, routineId: string, changes: Changes): Promise<RoutineRow> {
  const [row] = await tx
    .update(routines)
    .set({ ...changes, updated_at: sql`now()` })
    .where(eq(routines.id, routineId))
    .returning();
  return row as RoutineRow;
}

export async function updateRoutines(tx: Transaction, ids: readonly string[], changes: Changes): Promise<void> {
  await tx
    .update(routines)
    .set({ ...changes, updated_at: sql`now()` })
    .where(inArray(routines.id, [...ids]));
}

export async function deleteRoutines(tx: Transaction, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await tx.delete(routines).where(inArray(routines.id, [...ids]));
}

export async function deleteRoutinesOf(tx: Transaction, tenant: Tenant, userId: string): Promise<void> {
  await tx.delete(routines).where(and(owned(tenant), eq(routines.user_id, userId)));
}

/** What the deployment's file has in the mode of the tenant, held until the transaction ends. */
export function lockFileManaged(tx: Transaction, tenant: Tenant, deployment: DeploymentRow): Promise<RoutineRow[]> {
  return tx
    .select()
    .from(routines)
    .where(and(owned(tenant), eq(routines.deployment_id, deployment.id), eq(routines.managed_by, 'file')))
    .orderBy(routines.id)
    .for('update');
}

/** A statement takes 65,535 parameters at most, and a file may declare 5,000 routines. */
const rowsAtOnce = 1000;

export async function insertRoutines(tx: Transaction, rows: readonly NewRoutine[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    await tx.insert(routines).values(rows.slice(at, at + rowsAtOnce));
  }
}

const due = (now: Date) =>
  and(routines.enabled, eq(routines.status, 'active'), isNotNull(routines.next_run_at), lte(routines.next_run_at, now));

/** The ids of routines whose time has come, longest due first. */
export async function dueRoutines(
  db: Executor,
  { now, limit, except }: { now: Date; limit: number; except: readonly string[] },
): Promise<string[]> {
  const rows = await db
    .select({ id: routines.id })
    .from(routines)
    .where(and(due(now), except.length > 0 ? notInArray(routines.id, [...except]) : undefined))
    // Round robin over the orgs: one with thousands at the full hour does not make the others late.
    .orderBy(
      sql`row_number() OVER (PARTITION BY ${routines.org_id} ORDER BY ${routines.next_run_at})`,
      asc(routines.next_run_at),
    )
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** Nothing where another process holds it or its time has been given to another run. */
export async function lockDue(tx: Transaction, routineId: string, now: Date): Promise<RoutineRow | undefined> {
  const [row] = await tx
    .select()
    .from(routines)
    .where(and(eq(routines.id, routineId), due(now)))
    .for('update', { skipLocked: true });
  return row;
}

/** `next` absent: it ran out of turn, and its schedule stays. A schedule without a next time has ended. */
export async function noteRun(
  tx: Transaction,
  routineId: string,
  { conversation_id, next }: { conversation_id: string; next?: Date | null },
): Promise<RoutineRow> {
  const [row] = await tx
    .update(routines)
    .set({
      conversation_id,
      last_run_at: sql`now()`,
      run_count: sql`${routines.run_count} + 1`,
      last_error: null,
      ...(next !== undefined && { next_run_at: next, ...(next === null && { status: 'completed' as const }) }),
    })
    .where(eq(routines.id, routineId))
    .returning();
  return row as RoutineRow;
}

export async function stepOver(
  tx: Transaction,
  routineId: string,
  { status, next, error }: { status: 'active' | 'failed'; next: Date | null; error: RoutineError },
): Promise<RoutineRow> {
  const [row] = await tx
    .update(routines)
    // Of one that has no other time, nothing is completed.
    .set({ status: next === null ? 'failed' : status, next_run_at: next, last_error: error })
    .where(eq(routines.id, routineId))
    .returning();
  return row as RoutineRow;
}

/** A user's routines that run in whatever zone the user has. */
export function lockFollowing(tx: Transaction, tenant: Tenant, userId: string): Promise<RoutineRow[]> {
  return tx
    .select()
    .from(routines)
    .where(and(owned(tenant), ofUser(userId), eq(routines.kind, 'schedule'), eq(routines.own_timezone, false)))
    .orderBy(routines.id)
    .for('update');
}

export async function countRoutines(db: Executor, tenant: Tenant, userId: string | null): Promise<number> {
  return db.$count(routines, and(owned(tenant), ofUser(userId)));
}
