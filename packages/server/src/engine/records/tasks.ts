import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import { containsWordsSql, maxSearched } from '../../platform/db/contains-words.ts';
import { idAfterMoment, idBefore } from '../../platform/db/ids-of-period.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import {
  insert,
  maybeOne,
  one,
  pipelined,
  rowsOf,
  rowsPlannedFor,
  rowsStatement,
  runStatement,
  updateOne,
} from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, count, type NewRowOf, type RowOf, text as textColumn } from '../../platform/db/table.ts';
import { hasJob } from '../../platform/jobs/queue.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import type { PageRequest } from './conversations.ts';
import { type TaskRow, tasks, workNotes } from './tables.ts';

const { ask: _, ...storedColumns } = tasks.columns;

/** Of a task that an older version created, the message is read from its turn. */
const columns = sql`${columnsOf({ ...tasks, columns: storedColumns }, 'tasks')}, COALESCE(tasks.ask, (
    SELECT m.text FROM turns t JOIN messages m ON m.conversation_id = t.conversation_id AND m.id = t.message_id
    WHERE t.id = tasks.turn_id)) AS ask`;

const named = ({ orgId, mode }: Tenant, id: string) => sql`org_id = ${orgId} AND mode = ${mode} AND id = ${id}`;

export const insertTask = (tx: Transaction, row: NewRowOf<typeof tasks>): Promise<TaskRow> => insert(tx, tasks, row);

export const findTask = (db: Executor, tenant: Tenant, id: string): Promise<TaskRow | undefined> =>
  maybeOne(db, tasks, sql`SELECT ${columns} FROM tasks WHERE ${named(tenant, id)}`);

export async function updateTask(
  tx: Transaction,
  { org_id: orgId, mode, id }: Pick<TaskRow, 'org_id' | 'mode' | 'id'>,
  changes: Partial<TaskRow>,
): Promise<TaskRow> {
  return updateOne(tx, tasks, { updated_at: sharedDate(), ...changes }, named({ orgId, mode }, id));
}

/** Unfinished tasks, oldest first. */
export async function openTasks(db: Executor, conversationIds: readonly string[]): Promise<TaskRow[]> {
  const [open] = await pipelined(db, [openTasksStatement(conversationIds)]);
  return open;
}

export const openTasksStatement = (conversationIds: readonly string[]) =>
  rowsStatement(
    tasks,
    sql`SELECT ${columns} FROM tasks
      WHERE conversation_id = ANY(${conversationIds}) AND status IN ('queued', 'working', 'waiting') ORDER BY id`,
  );

/** Which of these tasks have not ended, of any org. */
export async function unfinishedTaskIds(db: Executor, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await rowsOf(
    db,
    { id: textColumn() },
    sql`SELECT id FROM tasks WHERE id = ANY(${[...ids]}) AND status IN ('queued', 'working', 'waiting')`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Tasks that no process owns, including those that have a job. */
export const unownedTasks = (tx: Transaction, limit: number): Promise<TaskRow[]> =>
  rowsOf(
    tx,
    tasks,
    sql`SELECT ${columns} FROM tasks
      WHERE status IN ('queued', 'working') AND NOT EXISTS (SELECT FROM runs WHERE runs.id = tasks.id)
        AND NOT ${hasJob('task.run', sql`tasks.id`)}
      ORDER BY updated_at LIMIT ${limit}`,
  );

export type TaskFilter = {
  /** Words of the title and the request. */
  q?: string | undefined;
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
    filter.created_after &&
      sql`created_at >= ${filter.created_after} AND id >= ${idBefore('task', filter.created_after)}`,
    filter.created_before &&
      sql`created_at < ${filter.created_before} AND id < ${idAfterMoment('task', filter.created_before)}`,
  );

/** Newest first, without tasks of test runs. */
export function listTasks(
  db: Executor,
  tenant: Tenant,
  filter: TaskFilter,
  { limit, after }: PageRequest,
): Promise<TaskRow[]> {
  const newest = (most: number) => sql`SELECT ${columns} FROM tasks
    WHERE ${sql.and(isListed(tenant, filter), after && sql`id < ${after[0] as string}`)}
    ORDER BY id DESC LIMIT ${most}`;
  if (filter.q === undefined) return rowsPlannedFor(db, tasks, newest(limit + 1));
  return rowsPlannedFor(
    db,
    tasks,
    sql`SELECT ${columns} FROM (${newest(maxSearched)}) AS tasks
      WHERE ${containsWordsSql(sql`concat_ws(' ', title, ask)`, filter.q)} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

/** Bounds the count, which would otherwise read every row. */
const maxCounted = 10_000;

export async function countTasks(db: Executor, tenant: Tenant, filter: Omit<TaskFilter, 'q'>): Promise<number> {
  const { counted } = await one(
    db,
    { counted: count() },
    sql`SELECT count(*) AS counted
      FROM (SELECT FROM tasks WHERE ${isListed(tenant, filter)} LIMIT ${maxCounted}) AS listed`,
  );
  return counted;
}

/** Deletes a task with its trace and its interactions. */
export async function deleteTask(tx: Transaction, { org_id: orgId, mode, id }: TaskRow): Promise<void> {
  await pipelined(tx, [
    runStatement(sql`DELETE FROM run_calls WHERE run_id = ${id}`),
    runStatement(sql`DELETE FROM run_steps WHERE run_id = ${id}`),
    runStatement(sql`DELETE FROM work_notes WHERE task_id = ${id}`),
    runStatement(sql`DELETE FROM interactions WHERE run_id = ${id}`),
    runStatement(sql`DELETE FROM tasks WHERE ${named({ orgId, mode }, id)}`),
  ]);
}

const noteColumns = columnsOf(workNotes);

export async function insertNote(tx: Transaction, taskId: string, id: string, text: string): Promise<void> {
  await insert(tx, workNotes, { task_id: taskId, id, text });
}

/** Notes that the task has read, in their order among its steps. */
export const takenNotes = (db: Executor, taskId: string): Promise<RowOf<typeof workNotes>[]> =>
  rowsOf(
    db,
    workNotes,
    sql`SELECT ${noteColumns} FROM work_notes WHERE task_id = ${taskId} AND step_index IS NOT NULL ORDER BY step_index, id`,
  );

/** Marks notes as read. Only the owner of the run may do so: another process would lose them. */
export async function takeNotes(db: Executor, owned: RunLease, stepIndex: number): Promise<string[]> {
  const taken = await rowsOf(
    db,
    workNotes,
    sql`WITH owned AS (SELECT id FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch} FOR NO KEY UPDATE)
      UPDATE work_notes n SET step_index = ${stepIndex} FROM owned
      WHERE n.task_id = owned.id AND n.step_index IS NULL RETURNING ${columnsOf(workNotes, 'n')}`,
  );
  return taken.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ text }) => text);
}
