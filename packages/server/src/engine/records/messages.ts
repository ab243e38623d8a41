import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../../platform/caller.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insert, maybeOne, one, rowsOf } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, type NewRowOf, text } from '../../platform/db/table.ts';
import type { PageRequest } from './conversations.ts';
import { type ConversationRow, type MessageRow, messages } from './tables.ts';

const columns = columnsOf(messages);

/** Sorts by creation time, because the id of a reply is as old as its turn. A cursor holds milliseconds. */
export function listMessages(
  db: Executor,
  conversationId: string,
  { limit, after }: PageRequest,
): Promise<MessageRow[]> {
  if (after && after.length !== 2) throw fail('invalid_cursor');
  const [at, id] = after ?? [];
  return rowsOf(
    db,
    messages,
    sql`SELECT ${columns} FROM messages
      WHERE ${sql.and(
        sql`conversation_id = ${conversationId}`,
        after && sql`(created_at, id) < (${at as string}::timestamptz, ${id as string})`,
      )}
      ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}`,
  );
}

export const cursorOfMessage = ({ created_at, id }: MessageRow) => [created_at.toISOString(), id];

export const allMessages = (db: Executor, conversationId: string): Promise<MessageRow[]> =>
  rowsOf(db, messages, sql`SELECT ${columns} FROM messages WHERE conversation_id = ${conversationId} ORDER BY id`);

export const messagesOfTurn = (db: Executor, conversationId: string, turnId: string): Promise<MessageRow[]> =>
  rowsOf(
    db,
    messages,
    sql`SELECT ${columns} FROM messages
        WHERE conversation_id = ${conversationId} AND turn_id = ${turnId} ORDER BY created_at, id`,
  );

export const insertMessage = (tx: Transaction, row: NewRowOf<typeof messages>): Promise<MessageRow> =>
  // Uses the same clock as messages of users, so that all messages are in one order.
  insert(tx, messages, { created_at: sharedDate(), ...row });

/** The attachments of each message that has any, oldest first. */
export async function attachmentsOf(db: Executor, conversationId: string): Promise<MessageRow['attachments'][]> {
  const rows = await rowsOf(
    db,
    { attachments: messages.columns.attachments },
    sql`SELECT attachments FROM messages
      WHERE conversation_id = ${conversationId} AND attachments <> '[]'::jsonb ORDER BY id`,
  );
  return rows.map(({ attachments }) => attachments);
}

/**
 * Messages that have not been searched for memories, oldest first. The list ends before the first message without a
 * reply, because that reply will be inserted directly after it.
 */
export const messagesToRemember = (
  db: Executor,
  { id, remembered_until }: Pick<ConversationRow, 'id' | 'remembered_until'>,
  limit: number,
): Promise<MessageRow[]> =>
  rowsOf(
    db,
    messages,
    sql`SELECT ${columns} FROM messages
      WHERE conversation_id = ${id} AND (${remembered_until}::text IS NULL OR id > ${remembered_until})
        AND NOT EXISTS (SELECT FROM turns t WHERE t.conversation_id = ${id}
          AND t.settled_at IS NULL AND t.task_id IS NULL AND t.message_id <= messages.id)
      ORDER BY id LIMIT ${limit}`,
  );

export const findMessage = (db: Executor, conversationId: string, id: string): Promise<MessageRow | undefined> =>
  maybeOne(db, messages, sql`SELECT ${columns} FROM messages WHERE conversation_id = ${conversationId} AND id = ${id}`);

/** Undefined if the tenant has no such message. */
export async function conversationOfMessage(
  db: Executor,
  { orgId, mode }: Tenant,
  id: string,
): Promise<string | undefined> {
  const found = await maybeOne(
    db,
    { conversation_id: text() },
    sql`SELECT m.conversation_id FROM messages m JOIN conversations c ON c.id = m.conversation_id
        WHERE m.id = ${id} AND c.org_id = ${orgId} AND c.mode = ${mode}`,
  );
  return found?.conversation_id;
}

export async function newestMessageId(tx: Transaction, conversationId: string): Promise<string> {
  const newest = sql`SELECT id FROM messages WHERE conversation_id = ${conversationId} ORDER BY id DESC LIMIT 1`;
  return (await one(tx, { id: text() }, newest)).id;
}

export async function isAttached(db: Executor, conversationId: string, fileId: string): Promise<boolean> {
  const { found } = await one(
    db,
    { found: boolean() },
    sql`SELECT EXISTS (SELECT FROM messages
      WHERE conversation_id = ${conversationId} AND attachments @> ${sql.json([{ file_id: fileId }])}::jsonb) AS found`,
  );
  return found;
}
