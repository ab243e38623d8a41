import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type RowOf } from '../../platform/db/table.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { workNotes } from './tables.ts';

const columns = columnsOf(workNotes);

export async function insertNote(tx: Transaction, taskId: string, id: string, text: string): Promise<void> {
  await insert(tx, workNotes, { task_id: taskId, id, text });
}

/** Those that the work has taken up, in their order among its steps. */
export const takenNotes = (db: Executor, taskId: string): Promise<RowOf<typeof workNotes>[]> =>
  rowsOf(
    db,
    workNotes,
    sql`SELECT ${columns} FROM work_notes WHERE task_id = ${taskId} AND step_index IS NOT NULL ORDER BY step_index, id`,
  );

/** Only for whoever still owns the run: another would take what it never gets to say. */
export async function takeNotes(db: Executor, owned: Run, stepIndex: number): Promise<string[]> {
  const taken = await rowsOf(
    db,
    workNotes,
    sql`WITH owned AS (SELECT id FROM runs WHERE id = ${owned.runId} AND epoch = ${owned.epoch} FOR NO KEY UPDATE)
      UPDATE work_notes n SET step_index = ${stepIndex} FROM owned
      WHERE n.task_id = owned.id AND n.step_index IS NULL RETURNING ${columnsOf(workNotes, 'n')}`,
  );
  return taken.toSorted((one, other) => (one.id < other.id ? -1 : 1)).map(({ text }) => text);
}
