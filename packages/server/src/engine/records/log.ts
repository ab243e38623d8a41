import type { Executor } from '../../platform/db/pool.ts';
import { one } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { count, text } from '../../platform/db/table.ts';
import type { TurnRow } from './tables.ts';

/** Where a turn begins in the log of its conversation; one that has not begun comes after what is there. */
export async function firstSeqOfTurn(db: Executor, conversationId: string, turnId: string): Promise<number> {
  const { seq } = await one(
    db,
    { seq: count() },
    sql`SELECT COALESCE(
      (SELECT min(seq) FROM conversation_events WHERE conversation_id = ${conversationId} AND turn_id = ${turnId}),
      (SELECT last_event_seq + 1 FROM conversations WHERE id = ${conversationId}), 1) AS seq`,
  );
  return seq;
}

/** What of the turn's reply is in the log. */
export async function streamedText(db: Executor, turn: TurnRow): Promise<string> {
  const streamed = await one(
    db,
    { text: text() },
    sql`SELECT COALESCE(string_agg(data ->> 'text', '' ORDER BY seq), '') AS text FROM conversation_events
      WHERE conversation_id = ${turn.conversation_id} AND turn_id = ${turn.id} AND type = 'reply.delta'
        AND data ->> 'message_id' = ${turn.reply_message_id}`,
  );
  return streamed.text;
}
