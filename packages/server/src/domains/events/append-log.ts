import type { StreamEventType } from '@vestra/contract/events';
import { newId } from '@vestra/contract/ids';
import { sql } from 'drizzle-orm';
import type { Executor } from '../../db/pool.ts';

type LogEvent = {
  type: StreamEventType;
  taskId?: string | null;
  turnId?: string | null;
  data: Record<string, unknown>;
};

/**
 * Appends to the log of a conversation and gives back the seq of the last event.
 *
 * The seqs come from the conversation's own row: it stays locked until the commit, so a reader that
 * has seen seq n will never find a smaller one appear later. Call it late in a short transaction.
 */
export async function appendLog(tx: Executor, conversationId: string, appended: readonly LogEvent[]): Promise<number> {
  const rows = appended.map((event, at) => ({
    at: at + 1,
    id: newId('evt'),
    type: event.type,
    task_id: event.taskId ?? null,
    turn_id: event.turnId ?? null,
    data: event.data,
  }));
  const result = await tx.execute<{ last_event_seq: string }>(sql`
    WITH counted AS (
      UPDATE conversations SET last_event_seq = last_event_seq + ${rows.length}
      WHERE id = ${conversationId} RETURNING last_event_seq
    ), written AS (
      INSERT INTO conversation_events (conversation_id, seq, id, type, task_id, turn_id, data)
      SELECT ${conversationId}, counted.last_event_seq - ${rows.length} + row.at, row.id, row.type, row.task_id, row.turn_id, row.data
      FROM counted, jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        AS row(at int, id text, type text, task_id text, turn_id text, data jsonb)
    )
    SELECT last_event_seq FROM counted`);
  const [counted] = result.rows;
  if (!counted) throw new Error(`Conversation ${conversationId} has no row to append events to.`);
  return Number(counted.last_event_seq);
}
