import { eraseEvents, type LogEntry } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { insertManySql, one, pipelined, rowsOf, rowsStatement, run, runStatement } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { count, text } from '../../platform/db/table.ts';
import type { EraseConversations, EraseObject } from '../../platform/registration.ts';
import { type ConversationRow, conversations, type TurnRow } from './tables.ts';

const entryColumns = sql.raw('seq, id, type, task_id, turn_id, data, created_at');

const entryTypes = sql.raw(
  'seq bigint, id text, type text, task_id text, turn_id text, data json, created_at timestamptz',
);

/**
 * Writes the conversation and the new entries of its log. With `expected`, the statement fails unless the row still has
 * that version. A caller that holds the row passes null.
 */
export const writeConversationStatement = (
  row: ConversationRow,
  entries: readonly LogEntry[],
  expected: string | null,
) =>
  rowsStatement(
    { version: text() },
    sql`WITH written AS (
      INSERT INTO conversation_events (conversation_id, ${entryColumns})
      SELECT ${row.id}, ${entryColumns} FROM json_to_recordset(${sql.json(entries)}) AS e(${entryTypes})
    ), changed AS (
      UPDATE conversations SET last_event_seq = ${row.last_event_seq}, status = ${row.status},
        turn_count = ${row.turn_count}, replying_turn_id = ${row.replying_turn_id},
        deployment_version = ${row.deployment_version}, last_active_at = ${row.last_active_at}, summary = ${row.summary},
        summary_until = ${row.summary_until}, memory_due_at = ${row.memory_due_at}, queued_turns = ${row.queued_turns},
        open_tasks = ${row.open_tasks}, open_interactions = ${row.open_interactions},
        last_error_code = ${row.last_error_code}, last_error_message = ${row.last_error_message}
      WHERE id = ${row.id} AND (${expected}::xid IS NULL OR xmin = ${expected}::xid) RETURNING xmin::text AS version
    )
    SELECT changed.version, expect_that(changed.version IS NOT NULL, 'the conversation')
    FROM (SELECT) AS always LEFT JOIN changed ON true`,
  );

export async function writeConversation(
  tx: Transaction,
  row: ConversationRow,
  entries: readonly LogEntry[],
): Promise<string | null> {
  const [[written]] = await pipelined(tx, [writeConversationStatement(row, entries, null)]);
  return written?.version ?? null;
}

/** Inserts a conversation with the first entries of its log. */
export const insertConversationStatement = (row: ConversationRow, entries: readonly LogEntry[]) =>
  rowsStatement(
    { version: text() },
    sql`WITH written AS (
      INSERT INTO conversation_events (conversation_id, ${entryColumns})
      SELECT ${row.id}, ${entryColumns} FROM json_to_recordset(${sql.json(entries)}) AS e(${entryTypes})
    )
    INSERT INTO conversations (id, org_id, mode, user_id, deployment_id, deployment_version, pinned_version, status,
      metadata, last_event_seq, turn_count, replying_turn_id, is_hidden, fence, created_at, last_active_at)
    VALUES (${row.id}, ${row.org_id}, ${row.mode}, ${row.user_id}, ${row.deployment_id}, ${row.deployment_version},
      ${row.pinned_version}, ${row.status}, ${sql.json(row.metadata)}, ${row.last_event_seq}, ${row.turn_count},
      ${row.replying_turn_id}, ${row.is_hidden}, ${row.fence}, ${row.created_at}, ${row.last_active_at})
    RETURNING xmin::text AS version`,
  );

/** Inserts many conversations with the first entries of their logs. Send the statements in this order. */
export const insertConversationsStatements = (
  begun: readonly { row: ConversationRow; entries: readonly LogEntry[] }[],
) =>
  [
    rowsStatement(
      { id: text(), version: text() },
      sql`${insertManySql(
        conversations,
        begun.map(({ row }) => row),
      )} RETURNING id, xmin::text AS version`,
    ),
    runStatement(sql`INSERT INTO conversation_events (conversation_id, ${entryColumns})
      SELECT conversation_id, ${entryColumns}
      FROM json_to_recordset(${sql.json(begun.flatMap(({ entries }) => entries))})
        AS e(conversation_id text, ${entryTypes})`),
  ] as const;

export async function insertConversation(tx: Transaction, row: ConversationRow): Promise<ConversationRow> {
  await pipelined(tx, [insertConversationStatement(row, [])]);
  return row;
}

/** The first seq of a turn. A turn without events gets the next seq of its conversation. */
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

/** The text of the turn's reply that is already in the log. */
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

/** Empties the events of a deleted task. They keep their `seq`, so that readers find no gap. */
export const emptyLogStatements = ({
  conversation_id,
  turn_id,
  id,
}: {
  conversation_id: string;
  turn_id: string;
  id: string;
}) =>
  [
    runStatement(sql`UPDATE conversation_events SET type = 'task.deleted', data = '{}'
      WHERE conversation_id = ${conversation_id} AND task_id = ${id}`),
    runStatement(sql`UPDATE conversation_events SET data = jsonb_set(data::jsonb, '{turn,reply}', 'null')::json
      WHERE conversation_id = ${conversation_id} AND turn_id = ${turn_id} AND type = 'turn.settled'`),
  ] as const;

/** Replaces the name of a file in the event that reported it. */
export const renameFileStatement = (conversationId: string, { id, filename }: { id: string; filename: string }) =>
  runStatement(sql`UPDATE conversation_events
    SET data = jsonb_set(data::jsonb, '{file,filename}', to_jsonb(${filename}::text))::json
    WHERE conversation_id = ${conversationId} AND type = 'file.created' AND data -> 'file' ->> 'id' = ${id}`);

/** Empties the summaries that the events of tasks show of these calls. */
export const emptyStepsStatement = (conversationIds: readonly string[], callIds: readonly string[]) =>
  runStatement(sql`UPDATE conversation_events
    SET data = jsonb_set(jsonb_set(data::jsonb, '{step,input_summary}', 'null'), '{step,output_summary}', 'null')::json
    WHERE conversation_id = ANY(${conversationIds}) AND type = 'task.step'
      AND data -> 'step' ->> 'tool_use_id' = ANY(${callIds})`);

/** Erases a user's conversations with their messages, turns, tasks, traces and interactions. */
export async function eraseConversationsOf(tx: Transaction, { orgId, mode }: Tenant, userId: string): Promise<void> {
  const ids = await held(tx, sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`);
  await eraseEvents(tx, { orgId, mode }, { userId, conversationIds: ids });
  await eraseHeld(tx, ids);
}

/** Erases hidden conversations, which emitted no events. */
export const eraseHiddenConversations = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  eraseHeld(tx, await held(tx, sql`id = ANY(${ids}) AND is_hidden`));

/** Erases the conversations of tests and replays of a deleted deployment. Those of users stay. */
export const eraseTestsOf: EraseObject = async (tx, { orgId, mode }, { object, id }) => {
  if (object !== 'deployment') return;
  await eraseHeld(
    tx,
    await held(tx, sql`org_id = ${orgId} AND mode = ${mode} AND deployment_id = ${id} AND is_hidden`),
  );
};

/** Deletes the conversations, which must be locked, and the events about them. */
export const eraseConversations: EraseConversations = async (tx, tenant, ids) => {
  await eraseEvents(tx, tenant, { userId: null, conversationIds: ids });
  await eraseHeld(tx, ids);
};

/** Locks those of the conversations that exist. */
export const lockConversations = (
  tx: Transaction,
  { orgId, mode }: Tenant,
  ids: readonly string[],
): Promise<string[]> => held(tx, sql`org_id = ${orgId} AND mode = ${mode} AND id = ANY(${ids})`);

/** Locks the rows. A process that waits to write to one of them then finds it gone. */
async function held(tx: Transaction, which: Sql): Promise<string[]> {
  const rows = await rowsOf(tx, { id: text() }, sql`SELECT id FROM conversations WHERE ${which} FOR UPDATE`);
  return rows.map(({ id }) => id);
}

async function eraseHeld(tx: Transaction, ids: readonly string[]): Promise<void> {
  const runs = sql`SELECT id FROM turns WHERE conversation_id = ANY(${ids})
    UNION ALL SELECT id FROM tasks WHERE conversation_id = ANY(${ids})`;
  await pipelined(tx, [
    runStatement(sql`DELETE FROM runs WHERE id IN (${runs})`),
    runStatement(sql`DELETE FROM run_calls WHERE run_id IN (${runs})`),
    runStatement(sql`DELETE FROM run_steps WHERE run_id IN (${runs})`),
    runStatement(sql`DELETE FROM work_notes WHERE task_id IN (${runs})`),
    runStatement(sql`DELETE FROM interactions WHERE conversation_id = ANY(${ids})`),
    runStatement(sql`DELETE FROM messages WHERE conversation_id = ANY(${ids})`),
    runStatement(sql`DELETE FROM tasks WHERE conversation_id = ANY(${ids})`),
    runStatement(sql`DELETE FROM turns WHERE conversation_id = ANY(${ids})`),
    runStatement(sql`DELETE FROM conversation_events WHERE conversation_id = ANY(${ids})`),
    runStatement(sql`DELETE FROM conversations WHERE id = ANY(${ids})`),
  ]);
}

const conversationsAtOnce = 25;

/**
 * Deletes old events from the start of some logs. Returns false if no log was left to check. It deletes only events
 * before the first young one, so that no seq is missing after an event that stays. It skips conversations that another
 * transaction holds.
 */
export async function pruneStreams(db: Database, before: Date, limit: number): Promise<boolean> {
  const cutoff = sql`${before}::timestamptz`;
  const eventsOfEach = Math.ceil(limit / conversationsAtOnce);
  const looked = await run(
    db,
    sql`
    WITH due AS (
      SELECT id FROM conversations WHERE events_kept_from < ${cutoff}
      ORDER BY events_kept_from LIMIT ${conversationsAtOnce} FOR NO KEY UPDATE SKIP LOCKED
    ), head AS (
      SELECT due.id, event.seq, event.created_at,
        bool_and(event.created_at < ${cutoff}) OVER (PARTITION BY due.id ORDER BY event.seq) AS is_old
      FROM due CROSS JOIN LATERAL (
        SELECT seq, created_at FROM conversation_events
        WHERE conversation_id = due.id ORDER BY seq LIMIT ${eventsOfEach}
      ) AS event
    ), pruned AS (
      DELETE FROM conversation_events AS event USING head
      WHERE event.conversation_id = head.id AND event.seq = head.seq AND head.is_old
    ), looked AS (
      SELECT due.id, count(head.seq) AS events,
        (array_agg(head.created_at ORDER BY head.seq) FILTER (WHERE NOT head.is_old))[1] AS first_kept
      FROM due LEFT JOIN head ON head.id = due.id GROUP BY due.id
    )
    UPDATE conversations SET events_kept_from = CASE
      WHEN looked.first_kept IS NOT NULL THEN looked.first_kept
      WHEN looked.events = ${eventsOfEach} THEN events_kept_from
      -- No event is left, and the next one will be younger than this.
      ELSE greatest(now(), ${cutoff})
    END
    FROM looked WHERE conversations.id = looked.id`,
  );
  return looked > 0;
}
