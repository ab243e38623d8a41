import type { ToldOnStream } from '@vestra/contract/events';
import { newId } from '@vestra/contract/ids';
import { sharedDate } from '../../platform/db/clock.ts';
import type { GroupCommit } from '../../platform/db/group-commit.ts';
import type { Database } from '../../platform/db/pool.ts';
import { rowsOf, rowsStatement } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { columnsOf, count, moment, type RowOf, text } from '../../platform/db/table.ts';
import { type RunLease, RunTakenOver } from '../../platform/jobs/run-lease.ts';
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

/**
 * Appends text of a reply to the log, committed together with other writes. Only for the owner of the run. Returns the
 * versions of the conversation's row before and after.
 */
export async function appendDelta(
  writes: GroupCommit,
  run: RunLease,
  of: {
    conversationId: string;
    turnId: string;
    data: { text: string; message_id: string };
    /** The usage so far of the model call that writes the text, stored in its hold. */
    inUse?: { reservationId: string; used: unknown } | null;
  },
): Promise<{ entry: LogEntry; versionBefore: string; version: string }> {
  const { conversationId, turnId, data, inUse } = of;
  const id = newId('evt');
  const used = inUse?.used ? sql.json(inUse.used) : null;
  const [[row]] = await writes(conversationId, [
    rowsStatement(
      { seq: count(), created_at: moment(), version_before: text(), version: text() },
      sql`SELECT seq, created_at, version_before, version FROM append_reply_delta(${conversationId}, ${run.runId}, ${run.epoch}, ${id},
        ${turnId}, ${sql.json(data)}, ${inUse?.reservationId ?? null}, ${used})`,
    ),
  ]);
  if (!row) throw new RunTakenOver(run);
  const { seq, created_at, version_before: versionBefore, version } = row;
  const entry: LogEntry = {
    conversation_id: conversationId,
    seq,
    id,
    type: 'reply.delta',
    task_id: null,
    turn_id: turnId,
    data,
    created_at,
  };
  return { entry, versionBefore, version };
}
