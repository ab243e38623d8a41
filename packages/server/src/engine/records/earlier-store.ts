import type { Executor } from '../../platform/db/pool.ts';
import { pipelined, reading } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, type RowOf, text } from '../../platform/db/table.ts';
import { readingPending } from './interactions.ts';
import { type InteractionRow, messages, type TaskRow, type TurnRow } from './tables.ts';
import { readingOpenTasks } from './tasks.ts';

/** A message with how its turn stands and, where work said it, how the work ended. */
const earlierShape = {
  ...messages.columns,
  turn_state: text<TurnRow['state']>().nullable(),
  /** The reply did more than to say something, or its model wants back what it thought. */
  is_replayed: boolean(),
  work_title: text().nullable(),
  work_error: text().nullable(),
  /** What was said to the work and came too late. */
  work_unread: text().nullable(),
};
export type EarlierMessage = RowOf<typeof earlierShape>;

const columns = columnsOf(messages, 'm');

/** What had been said when a reply was begun, oldest first, without what an earlier summary stands for. */
const readingBefore = (turn: TurnRow) =>
  reading(
    earlierShape,
    sql`SELECT ${columns}, t.state AS turn_state,
        m.role <> 'work' AND (EXISTS (SELECT FROM run_calls c WHERE c.run_id = m.turn_id)
          OR EXISTS (SELECT FROM run_steps s WHERE s.run_id = m.turn_id AND s.reasoning IS NOT NULL)) AS is_replayed,
        w.title AS work_title, w.error_message AS work_error,
        (SELECT string_agg(n.text, E'\n' ORDER BY n.id) FROM work_notes n
          WHERE n.task_id = m.task_id AND n.step_index IS NULL) AS work_unread
      FROM messages m
      LEFT JOIN turns t ON t.conversation_id = m.conversation_id AND t.ordinal = m.turn_ordinal
      LEFT JOIN tasks w ON w.org_id = t.org_id AND w.mode = t.mode AND w.id = m.task_id
      WHERE m.conversation_id = ${turn.conversation_id}
        AND (${turn.base_from}::text IS NULL OR m.id > ${turn.base_from})
        AND m.id <= ${turn.history_until} AND m.turn_ordinal < ${turn.ordinal}
      ORDER BY m.id`,
  );

/** What came before a turn, and what is still open of it. */
export type Earlier = { before: EarlierMessage[]; openTasks: TaskRow[]; pending: InteractionRow[] };

export async function readEarlier(db: Executor, turn: TurnRow): Promise<Earlier> {
  const ids = [turn.conversation_id];
  const [before, openTasks, pending] = await pipelined(db, [
    readingBefore(turn),
    readingOpenTasks(ids),
    readingPending(ids),
  ]);
  return { before, openTasks, pending };
}
