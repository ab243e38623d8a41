import type { Database } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type RowOf } from '../../platform/db/table.ts';
import { conversationEvents } from './tables.ts';

/** One event of a conversation's log. */
export type LogEntry = RowOf<typeof conversationEvents>;

export function readLog(
  db: Database,
  conversationId: string,
  { after, limit, taskId = null }: { after: number; limit: number; taskId?: string | null },
): Promise<LogEntry[]> {
  const ofTask = taskId === null ? sql.empty : sql`AND task_id = ${taskId}`;
  return rowsOf(
    db,
    conversationEvents,
    sql`SELECT ${columnsOf(conversationEvents)} FROM ${conversationEvents}
        WHERE conversation_id = ${conversationId} ${ofTask} AND seq > ${after} ORDER BY seq LIMIT ${limit}`,
  );
}
