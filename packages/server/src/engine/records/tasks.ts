import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, one, pipelined, reading, rowsOf, running, update } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, count, type NewRowOf } from '../../platform/db/table.ts';
import type { Page } from './conversations.ts';
import { type TaskRow, tasks } from './tables.ts';

const columns = columnsOf(tasks);

const named = ({ orgId, mode }: Tenant, id: string) => sql`org_id = ${orgId} AND mode = ${mode} AND id = ${id}`;

export const insertTask = (tx: Transaction, row: NewRowOf<typeof tasks>): Promise<TaskRow> => insert(tx, tasks, row);

export const findTask = (db: Executor, tenant: Tenant, id: string): Promise<TaskRow | undefined> =>
  maybeOne(db, tasks, sql`SELECT ${columns} FROM tasks WHERE ${named(tenant, id)}`);

export async function updateTask(
  tx: Transaction,
  { org_id: orgId, mode, id }: Pick<TaskRow, 'org_id' | 'mode' | 'id'>,
  changes: Partial<TaskRow>,
): Promise<TaskRow> {
  const [row] = await update(tx, tasks, { updated_at: sharedDate(), ...changes }, named({ orgId, mode }, id));
  return row as TaskRow;
}

/** Unfinished work, oldest first. */
export async function openTasks(db: Executor, conversationIds: readonly string[]): Promise<TaskRow[]> {
  const [open] = await pipelined(db, [readingOpenTasks(conversationIds)]);
  return open;
}

export const readingOpenTasks = (conversationIds: readonly string[]) =>
  reading(
    tasks,
    sql`SELECT ${columns} FROM tasks
      WHERE conversation_id = ANY(${conversationIds}) AND status IN ('queued', 'working', 'waiting') ORDER BY id`,
  );

/** Work that no process works on; that which a job is about is among it. */
export const unownedTasks = (tx: Transaction, limit: number): Promise<TaskRow[]> =>
  rowsOf(
    tx,
    tasks,
    sql`SELECT ${columns} FROM tasks
      WHERE status IN ('queued', 'working') AND NOT EXISTS (SELECT FROM runs WHERE runs.id = tasks.id)
      ORDER BY updated_at LIMIT ${limit}`,
  );

export type TaskFilter = {
  status?: TaskRow['status'] | undefined;
  user_id?: string | undefined;
  deployment_id?: string | undefined;
  conversation_id?: string | undefined;
  created_after?: Date | undefined;
  created_before?: Date | undefined;
};

const isListed = ({ orgId, mode }: Tenant, filter: TaskFilter) =>
  sql.and(
    sql`org_id = ${orgId} AND mode = ${mode} AND NOT is_hidden`,
    filter.status && sql`status = ${filter.status}`,
    filter.user_id && sql`user_id = ${filter.user_id}`,
    filter.deployment_id && sql`deployment_id = ${filter.deployment_id}`,
    filter.conversation_id && sql`conversation_id = ${filter.conversation_id}`,
    filter.created_after && sql`created_at > ${filter.created_after}`,
    filter.created_before && sql`created_at < ${filter.created_before}`,
  );

/** Newest first, without those of test runs. */
export const listTasks = (
  db: Executor,
  tenant: Tenant,
  filter: TaskFilter,
  { limit, after }: Page,
): Promise<TaskRow[]> =>
  rowsOf(
    db,
    tasks,
    sql`SELECT ${columns} FROM tasks
      WHERE ${sql.and(isListed(tenant, filter), after && sql`id < ${after[0] as string}`)}
      ORDER BY id DESC LIMIT ${limit + 1}`,
  );

/** Nobody pages through more, and counting on would cost as much as reading them. */
const countedAtMost = 10_000;

export async function countTasks(db: Executor, tenant: Tenant, filter: TaskFilter): Promise<number> {
  const { counted } = await one(
    db,
    { counted: count() },
    sql`SELECT count(*) AS counted
      FROM (SELECT FROM tasks WHERE ${isListed(tenant, filter)} LIMIT ${countedAtMost}) AS listed`,
  );
  return counted;
}

/** The task with its trace and what it waited for; the message that says its result goes with it. */
export async function deleteTask(
  tx: Transaction,
  { org_id: orgId, mode, id, conversation_id }: TaskRow,
): Promise<void> {
  await pipelined(tx, [
    running(sql`DELETE FROM run_calls WHERE run_id = ${id}`),
    running(sql`DELETE FROM run_steps WHERE run_id = ${id}`),
    running(sql`DELETE FROM work_notes WHERE task_id = ${id}`),
    running(sql`DELETE FROM interactions WHERE run_id = ${id}`),
    running(sql`DELETE FROM messages WHERE conversation_id = ${conversation_id} AND task_id = ${id}`),
    running(sql`DELETE FROM tasks WHERE ${named({ orgId, mode }, id)}`),
  ]);
}
