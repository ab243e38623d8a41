import { and, count, desc, eq, gt, lt, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { type TaskRow, tasks } from '../engine/api.ts';

export type TaskFilter = {
  status?: TaskRow['status'] | undefined;
  user_id?: string | undefined;
  deployment_id?: string | undefined;
  conversation_id?: string | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
};

/** Newest first, without those of test runs. */
export function listTasks(
  db: Executor,
  { orgId, mode }: Tenant,
  filter: TaskFilter,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<TaskRow[]> {
  return db
    .select()
    .from(tasks)
    .where(and(isListed({ orgId, mode }, filter), after ? lt(tasks.id, after[0] as string) : undefined))
    .orderBy(desc(tasks.id))
    .limit(limit + 1);
}

/** Nobody pages through more, and counting on would cost as much as reading them. */
const countedAtMost = 10_000;

export async function countTasks(db: Executor, tenant: Tenant, filter: TaskFilter): Promise<number> {
  const listed = db
    .select({ id: tasks.id })
    .from(tasks)
    .where(isListed(tenant, filter))
    .limit(countedAtMost)
    .as('listed');
  const [row] = await db.select({ counted: count() }).from(listed);
  return row?.counted ?? 0;
}

const isListed = ({ orgId, mode }: Tenant, filter: TaskFilter) =>
  and(
    eq(tasks.org_id, orgId),
    eq(tasks.mode, mode),
    eq(tasks.is_hidden, false),
    filter.status ? eq(tasks.status, filter.status) : undefined,
    filter.user_id ? eq(tasks.user_id, filter.user_id) : undefined,
    filter.deployment_id ? eq(tasks.deployment_id, filter.deployment_id) : undefined,
    filter.conversation_id ? eq(tasks.conversation_id, filter.conversation_id) : undefined,
    filter.created_after ? gt(tasks.created_at, filter.created_after) : undefined,
    filter.created_before ? lt(tasks.created_at, filter.created_before) : undefined,
  );

/** The task with its trace and what it waited for; the message that says its result goes with it. */
export async function deleteTask(tx: Transaction, { org_id, mode, id, conversation_id }: TaskRow): Promise<void> {
  await tx.execute(sql`DELETE FROM run_calls WHERE run_id = ${id}`);
  await tx.execute(sql`DELETE FROM run_steps WHERE run_id = ${id}`);
  await tx.execute(sql`DELETE FROM interactions WHERE run_id = ${id}`);
  await tx.execute(sql`DELETE FROM messages WHERE conversation_id = ${conversation_id} AND task_id = ${id}`);
  await tx.delete(tasks).where(and(eq(tasks.org_id, org_id), eq(tasks.mode, mode), eq(tasks.id, id)));
}
