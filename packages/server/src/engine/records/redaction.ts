/** Empties the records of deleted content. A log keeps its `seq` numbers, so that readers find no gap. */
import { deletedTaskLine } from '@vestra/contract/deleted-task';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, pipelined, rowsOf, runStatement } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { moment, text } from '../../platform/db/table.ts';
import type { Change } from './change.ts';
import type { TaskRow } from './tables.ts';

const deletedSummary = '[This summary was deleted, because it covered something that was deleted.]';

/**
 * Empties a task, its interactions and its events. Later events of the change, such as those of its stop, then carry no
 * content.
 */
export async function emptyTask(
  tx: Transaction,
  { org_id, mode, id, conversation_id, turn_id }: TaskRow,
): Promise<void> {
  // Names of tools and apps belong to the deployment, and the contract requires some of them.
  const names = sql`(SELECT COALESCE(json_object_agg(key, value), '{}') FROM json_each(details)
    WHERE key IN ('tool_name', 'server', 'app', 'name', 'declared_by'))`;
  await pipelined(tx, [
    runStatement(sql`UPDATE conversation_events SET type = 'task.deleted', data = '{}'
      WHERE conversation_id = ${conversation_id} AND task_id = ${id}`),
    runStatement(sql`UPDATE conversation_events
      SET data = jsonb_set(data::jsonb, '{turn,reply}', 'null')::json
      WHERE conversation_id = ${conversation_id} AND turn_id = ${turn_id} AND type = 'turn.settled'`),
    runStatement(
      sql`UPDATE turns SET reply_text = NULL, reply_data = NULL, reply_is_cut = false WHERE id = ${turn_id}`,
    ),
    runStatement(sql`UPDATE run_calls SET arguments = '{}' WHERE run_id = ${turn_id} AND name = 'hand_off_to_work'`),
    runStatement(sql`UPDATE interactions SET summary = '', questions = NULL, browser = NULL, kept = NULL, answers = NULL,
        reason = NULL, message = NULL, output = NULL, progress = NULL, details = ${names}
      WHERE run_id = ${id}`),
    runStatement(sql`UPDATE tasks SET title = NULL, brief = NULL, progress = '[]', result_text = NULL, result_data = NULL,
        outcome_reason = NULL
      WHERE org_id = ${org_id} AND mode = ${mode} AND id = ${id}`),
  ]);
}

/** Replaces the result of a task in the messages. Returns the ids of the messages. */
export async function replaceResult(tx: Transaction, { id, conversation_id }: TaskRow): Promise<string[]> {
  const replaced = await rowsOf(
    tx,
    { id: text() },
    sql`UPDATE messages SET text = ${deletedTaskLine}, data = NULL, context = NULL, attachments = '[]', is_cut = false
      WHERE conversation_id = ${conversation_id} AND task_id = ${id} RETURNING id`,
  );
  return replaced.map((message) => message.id);
}

/** Deletes summaries that may repeat a message, or anything after it. The next reply reads the messages again. */
export async function forgetSummaries({ tx, conversation }: Change, fromMessageId: string): Promise<void> {
  if (conversation.summary_until !== null && conversation.summary_until >= fromMessageId) {
    conversation.summary = null;
    conversation.summary_until = null;
  }
  const runs = sql`SELECT id FROM turns WHERE conversation_id = ${conversation.id} AND history_until >= ${fromMessageId}
    UNION ALL SELECT task_id FROM turns WHERE conversation_id = ${conversation.id} AND history_until >= ${fromMessageId}`;
  await pipelined(tx, [
    // An open run counts the messages that its summary covers, so the summary is replaced and not removed.
    runStatement(sql`UPDATE turns SET base_summary = ${deletedSummary}
      WHERE conversation_id = ${conversation.id} AND base_summary IS NOT NULL AND base_from >= ${fromMessageId}`),
    runStatement(sql`UPDATE run_steps SET text = ${deletedSummary} WHERE kind = 'summary' AND run_id IN (${runs})`),
    runStatement(sql`UPDATE conversations SET redacted_at = ${sharedDate()} WHERE id = ${conversation.id}`),
  ]);
}

/** When something was last deleted from the conversation; null: never, or the conversation is gone. */
export async function redactedAt(db: Executor, conversationId: string): Promise<Date | null> {
  const row = await maybeOne(
    db,
    { redacted_at: moment().nullable() },
    sql`SELECT redacted_at FROM conversations WHERE id = ${conversationId}`,
  );
  return row?.redacted_at ?? null;
}

/** A deletion may set its time a little before it commits. */
const commitMs = 10_000;

/** What to store of a summary from a turn that may have read deleted messages. Null: store it as it is. */
export async function replacementOfSummary(
  tx: Transaction,
  { conversation_id, created_at }: { conversation_id: string; created_at: Date },
): Promise<string | null> {
  const at = await redactedAt(tx, conversation_id);
  return at !== null && at.getTime() > created_at.getTime() - commitMs ? deletedSummary : null;
}
