import type { ToldOnStream } from '@vestra/contract/events';
import { newId } from '@vestra/contract/ids';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Database } from '../../platform/db/pool.ts';
import { rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, type RowOf } from '../../platform/db/table.ts';
import { conversationEvents } from '../tables.ts';

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

export type NewLogEntry = ToldOnStream & { taskId?: string | null; turnId?: string | null };

/**
 * Numbers the next entries of a log. The caller must hold the lock on the conversation's row until it commits.
 * Otherwise a reader that has seen seq n could later find a smaller one.
 */
export function nextLogEntries(
  conversation: { id: string; last_event_seq: number },
  appended: readonly NewLogEntry[],
): LogEntry[] {
  const created_at = sharedDate();
  return appended.map(({ type, taskId = null, turnId = null, data }, at) => ({
    conversation_id: conversation.id,
    seq: conversation.last_event_seq + 1 + at,
    id: newId('evt'),
    type,
    task_id: taskId,
    turn_id: turnId,
    data,
    created_at,
  }));
}
