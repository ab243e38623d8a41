/** Empties the records of deleted content. A log keeps its `seq` numbers, so that readers find no gap. */
import { deletedTaskLine } from '@vestra/contract/deleted-task';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, pipelined, rowsOf, runStatement } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { moment, text } from '../../platform/db/table.ts';
import type { Change } from './change.ts';
import { emptyLogStatements, emptyStepsStatement, renameFileStatement } from './conversation-log.ts';
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
    ...emptyLogStatements({ conversation_id, turn_id, id }),
    runStatement(
      sql`UPDATE turns SET reply_text = NULL, reply_data = NULL, reply_is_cut = false WHERE id = ${turn_id}`,
    ),
    runStatement(sql`UPDATE run_calls SET arguments = '{}' WHERE run_id = ${turn_id} AND name = 'hand_off_to_work'`),
    runStatement(sql`UPDATE interactions SET summary = '', questions = NULL, browser = NULL, kept = NULL, answers = NULL,
        reason = NULL, message = NULL, output = NULL, progress = NULL, details = ${names}
      WHERE run_id = ${id}`),
    runStatement(sql`UPDATE tasks SET title = NULL, ask = NULL, brief = NULL, progress = '[]', result_text = NULL, result_data = NULL,
        outcome_reason = NULL
      WHERE org_id = ${org_id} AND mode = ${mode} AND id = ${id}`),
  ]);
}

/** Replaces the result of a task in the messages. Returns the ids of the messages. */
export async function replaceResult(tx: Transaction, { id, conversation_id }: TaskRow): Promise<string[]> {
  const replaced = await rowsOf(
    tx,
    { id: text() },
    sql`UPDATE messages SET text = ${deletedTaskLine}, data = NULL, context = NULL, attachments = '[]', is_cut = false,
        sources = NULL
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

/** Replaces a summary from a turn that may have read deleted messages. Null: the summary can be stored as it is. */
export async function replacementOfSummary(
  tx: Transaction,
  { conversation_id, created_at }: { conversation_id: string; created_at: Date },
): Promise<string | null> {
  const at = await redactedAt(tx, conversation_id);
  return at !== null && at.getTime() > created_at.getTime() - commitMs ? deletedSummary : null;
}

/** Replaces the name of a deleted file in messages, events and traces. */
export const deletedFileName = 'deleted file';

/** The conversations in which a file was attached or created. */
export async function conversationsWithFile(
  db: Executor,
  { id, conversation_id }: { id: string; conversation_id: string | null },
): Promise<string[]> {
  const attached = await rowsOf(
    db,
    { conversation_id: text() },
    sql`SELECT DISTINCT conversation_id FROM messages
      WHERE attachments <> '[]' AND attachments @> ${sql.json([{ file_id: id }])}::jsonb`,
  );
  const ids = attached.map((row) => row.conversation_id);
  return [...new Set(conversation_id === null ? ids : [conversation_id, ...ids])];
}

/** Removes the name of a file, and what the agent wrote into it or read from it, from the records of a conversation. */
export async function emptyFile(
  change: Change,
  { id, filename }: { id: string; filename: string | null },
): Promise<void> {
  const { tx, conversation } = change;
  const name = sql`to_jsonb(${deletedFileName}::text)`;
  const runs = sql`SELECT id FROM turns WHERE conversation_id = ${conversation.id}
    UNION ALL SELECT id FROM tasks WHERE conversation_id = ${conversation.id}`;
  const calls = await rowsOf(
    tx,
    { id: text() },
    sql`UPDATE run_calls SET arguments = json_build_object('filename', ${deletedFileName}::text), media = NULL,
        output = 'The file was deleted.'
      WHERE run_id IN (${runs}) AND (
        (name = 'save_output' AND strpos(output, ${`(${id}, `}) > 0)
        OR (name = 'read_conversation_file'
          AND lower(btrim(arguments ->> 'filename')) IN (lower(btrim(${filename ?? ''})), ${id})))
      RETURNING id`,
  );
  await pipelined(tx, [
    runStatement(sql`UPDATE messages SET attachments = (
        SELECT jsonb_agg(CASE WHEN file ->> 'file_id' = ${id} THEN jsonb_set(file, '{filename}', ${name}) ELSE file END
          ORDER BY place)
        FROM jsonb_array_elements(attachments) WITH ORDINALITY AS attached (file, place))
      WHERE conversation_id = ${conversation.id} AND attachments <> '[]'
        AND attachments @> ${sql.json([{ file_id: id }])}::jsonb`),
    renameFileStatement(conversation.id, { id, filename: deletedFileName }),
    emptyStepsStatement(
      [conversation.id],
      calls.map((call) => call.id),
    ),
  ]);
  await forgetSummaries(change, '');
}

/** Empties the calls in which the agent stored or read memories of a user, because their results would tell deleted facts. */
export async function emptyMemoryCalls(tx: Transaction, { orgId, mode }: Tenant, userId: string | null): Promise<void> {
  const turnsOfUser = sql`SELECT turn.id, turn.task_id, turn.conversation_id FROM conversations AS owned
    JOIN turns AS turn ON turn.conversation_id = owned.id
    WHERE owned.org_id = ${orgId} AND owned.mode = ${mode} AND owned.user_id IS NOT DISTINCT FROM ${userId}`;
  const calls = await rowsOf(
    tx,
    { id: text(), conversation_id: text() },
    sql`UPDATE run_calls SET arguments = '{}', output = 'This was deleted from the memory.'
      FROM (${turnsOfUser}) AS turn
      WHERE name IN ('recall', 'remember') AND finished_at IS NOT NULL AND run_id IN (turn.id, turn.task_id)
      RETURNING run_calls.id, turn.conversation_id`,
  );
  if (calls.length === 0) return;
  const conversationIds = [...new Set(calls.map((call) => call.conversation_id))].sort();
  const runs = sql`SELECT id FROM turns WHERE conversation_id = ANY(${conversationIds})
    UNION ALL SELECT id FROM tasks WHERE conversation_id = ANY(${conversationIds})`;
  await pipelined(tx, [
    emptyStepsStatement(
      conversationIds,
      calls.map(({ id }) => id),
    ),
    runStatement(sql`UPDATE turns SET base_summary = ${deletedSummary}
      WHERE conversation_id = ANY(${conversationIds}) AND base_summary IS NOT NULL`),
    runStatement(sql`UPDATE run_steps SET text = ${deletedSummary} WHERE kind = 'summary' AND run_id IN (${runs})`),
    runStatement(sql`UPDATE conversations SET summary = NULL, summary_until = NULL, redacted_at = ${sharedDate()}
      WHERE id = ANY(${conversationIds})`),
  ]);
}
