import { fail } from '@vestra/contract/errors';
import { and, asc, desc, eq, gt, inArray, lt, sql } from 'drizzle-orm';
import type { Tenant } from '../../../caller.ts';
import type { Executor, Transaction } from '../../../db/pool.ts';
import { runPrepared } from '../../../db/prepared.ts';
import type { SeenRow } from '../../../db/row-cache.ts';
import { insertRow, selectRows, updateRow } from '../../../db/rows.ts';
import { type Cost, costOfKinds } from '../../ledger/api.ts';
import {
  type ConversationRow,
  conversations,
  type InteractionRow,
  interactionFrames,
  interactions,
  type MessageRow,
  messages,
  runCalls,
  type TaskRow,
  type TurnRow,
  tasks,
  turns,
} from './tables.ts';

type Page = { limit: number; after: readonly string[] | null };

const find = {
  name: 'find_conversation',
  text: 'SELECT * FROM conversations WHERE id = $1 AND org_id = $2 AND mode = $3',
};

export async function findConversation(
  db: Executor,
  { orgId, mode }: Tenant,
  id: string,
): Promise<ConversationRow | undefined> {
  const [row] = await runPrepared<ConversationRow>(db, find, [id, orgId, mode]);
  return row && { ...row, last_event_seq: Number(row.last_event_seq) };
}

const findSeen = { name: 'find_seen', text: 'SELECT *, xmin::text AS version FROM conversations WHERE id = $1' };

/** Whoever's it is: the caller looks at that. */
export async function findSeenConversation(db: Executor, id: string): Promise<SeenRow<ConversationRow> | undefined> {
  const [found] = await runPrepared<ConversationRow & { version: string }>(db, findSeen, [id]);
  if (!found) return undefined;
  const { version, ...row } = found;
  return { row: { ...row, last_event_seq: Number(row.last_event_seq) }, version };
}

const findWithCost = {
  name: 'find_conversations_with_cost',
  text: `SELECT c.*, (
      SELECT json_object_agg(kind, micros::text) FROM (
        SELECT kind, sum(amount_micros) AS micros FROM ledger_entries
        WHERE account = 'spend' AND conversation_id = c.id GROUP BY kind
      ) AS spent
    ) AS spent
    FROM unnest($1::text[], $2::text[], $3::text[]) AS wanted (id, org_id, mode)
    JOIN conversations c USING (id, org_id, mode)`,
};

type ConversationWithCost = { row: ConversationRow; cost: Cost };

/** Each with what it has cost, in one round trip and in the order wanted: nothing is read as often as one conversation. */
export async function findConversationsWithCost(
  db: Executor,
  wanted: readonly (Tenant & { id: string })[],
): Promise<(ConversationWithCost | undefined)[]> {
  type Found = ConversationRow & { spent: Record<string, string> | null };
  const columns = [wanted.map(({ id }) => id), wanted.map(({ orgId }) => orgId), wanted.map(({ mode }) => mode)];
  const found = new Map<string, ConversationWithCost & Tenant>();
  for (const { spent, ...row } of await runPrepared<Found>(db, findWithCost, columns)) {
    const read = { ...row, last_event_seq: Number(row.last_event_seq) };
    found.set(row.id, { row: read, cost: costOfKinds(spent ?? {}), orgId: row.org_id, mode: row.mode });
  }
  // Several callers share one read: what one of them may see is no other's.
  return wanted.map(({ id, orgId, mode }) => {
    const one = found.get(id);
    return one?.orgId === orgId && one.mode === mode ? one : undefined;
  });
}

export function listConversations(
  db: Executor,
  { orgId, mode }: Tenant,
  { userId }: { userId: string | undefined },
  { limit, after }: Page,
): Promise<ConversationRow[]> {
  return db
    .select()
    .from(conversations)
    .where(
      and(
        eq(conversations.org_id, orgId),
        eq(conversations.mode, mode),
        eq(conversations.is_hidden, false),
        userId ? eq(conversations.user_id, userId) : undefined,
        after ? lt(conversations.id, after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(conversations.id))
    .limit(limit + 1);
}

/**
 * By when they appeared: the id of a reply is as old as its turn, and one that waited for a person would stand in the past.
 * To the millisecond, which is what a cursor holds.
 */
export function listMessages(db: Executor, conversationId: string, { limit, after }: Page): Promise<MessageRow[]> {
  if (after && after.length !== 2) throw fail('invalid_cursor');
  const below = after
    ? sql`(${messages.created_at}, ${messages.id}) < (${after[0]}::timestamptz, ${after[1]})`
    : undefined;
  return db
    .select()
    .from(messages)
    .where(and(eq(messages.conversation_id, conversationId), below))
    .orderBy(desc(messages.created_at), desc(messages.id))
    .limit(limit + 1);
}

export const placeOfMessage = ({ created_at, id }: MessageRow) => [created_at.toISOString(), id];

/** All that was said, oldest first. */
export function allMessages(db: Executor, conversationId: string): Promise<MessageRow[]> {
  return db.select().from(messages).where(eq(messages.conversation_id, conversationId)).orderBy(asc(messages.id));
}

export async function insertMessage(tx: Transaction, row: typeof messages.$inferInsert): Promise<MessageRow> {
  // By the clock that the messages of users have, so that both stand in one order.
  return insertRow(tx, messages, { created_at: new Date(), ...row });
}

/** What had been said when a reply was begun, oldest first, without what an earlier summary stands for. */
export function messagesBefore(
  db: Executor,
  turn: Pick<TurnRow, 'conversation_id' | 'ordinal' | 'history_until' | 'base_from'>,
): Promise<MessageRow[]> {
  return db
    .select()
    .from(messages)
    .where(
      and(
        eq(messages.conversation_id, turn.conversation_id),
        turn.base_from === null ? undefined : gt(messages.id, turn.base_from),
        sql`${messages.id} <= ${turn.history_until}`,
        sql`${messages.turn_ordinal} < ${turn.ordinal}`,
      ),
    )
    .orderBy(asc(messages.id));
}

export async function findMessage(db: Executor, conversationId: string, id: string): Promise<MessageRow | undefined> {
  const [row] = await selectRows(db, messages, { conversation_id: conversationId, id });
  return row;
}

export async function insertTurn(tx: Transaction, row: typeof turns.$inferInsert): Promise<TurnRow> {
  return insertRow(tx, turns, row);
}

/** Whether a message of the conversation carries the file. */
export async function isAttached(db: Executor, conversationId: string, fileId: string): Promise<boolean> {
  const [row] = await db
    .select({ id: messages.id })
    .from(messages)
    .where(
      and(
        eq(messages.conversation_id, conversationId),
        sql`${messages.attachments} @> ${JSON.stringify([{ file_id: fileId }])}::jsonb`,
      ),
    )
    .limit(1);
  return row !== undefined;
}

export async function findTurn(db: Executor, id: string): Promise<TurnRow | undefined> {
  const [row] = await selectRows(db, turns, { id });
  return row;
}

export async function latestTurn(db: Executor, conversationId: string): Promise<TurnRow | undefined> {
  const [row] = await db
    .select()
    .from(turns)
    .where(eq(turns.conversation_id, conversationId))
    .orderBy(desc(turns.ordinal))
    .limit(1);
  return row;
}

export async function updateTurn(tx: Transaction, id: string, changes: Partial<TurnRow>): Promise<TurnRow> {
  return (await updateRow(tx, turns, { id }, changes)) as TurnRow;
}

/** The turn that a conversation goes on with once no reply is being made. */
export async function nextQueuedTurn(tx: Transaction, conversationId: string): Promise<TurnRow | undefined> {
  const [row] = await tx
    .select()
    .from(turns)
    .where(and(eq(turns.conversation_id, conversationId), eq(turns.state, 'queued')))
    .orderBy(asc(turns.ordinal))
    .limit(1);
  return row;
}

export function openTurns(tx: Executor, conversationId: string): Promise<TurnRow[]> {
  return tx
    .select()
    .from(turns)
    .where(
      and(
        eq(turns.conversation_id, conversationId),
        inArray(turns.state, ['queued', 'replying', 'waiting', 'working']),
      ),
    )
    .orderBy(asc(turns.ordinal));
}

const ofTenant = ({ orgId, mode }: Tenant) => and(eq(tasks.org_id, orgId), eq(tasks.mode, mode));

export async function insertTask(tx: Transaction, row: typeof tasks.$inferInsert): Promise<TaskRow> {
  return insertRow(tx, tasks, row);
}

export async function findTask(db: Executor, tenant: Tenant, id: string): Promise<TaskRow | undefined> {
  const [row] = await db
    .select()
    .from(tasks)
    .where(and(ofTenant(tenant), eq(tasks.id, id)));
  return row;
}

export async function updateTask(
  tx: Transaction,
  { org_id, mode, id }: Pick<TaskRow, 'org_id' | 'mode' | 'id'>,
  changes: Partial<TaskRow>,
): Promise<TaskRow> {
  const [row] = await tx
    .update(tasks)
    .set({ updated_at: new Date(), ...changes })
    .where(and(ofTenant({ orgId: org_id, mode }), eq(tasks.id, id)))
    .returning();
  return row as TaskRow;
}

/** Unfinished work, oldest first. */
export function openTasks(db: Executor, conversationIds: readonly string[]): Promise<TaskRow[]> {
  return db
    .select()
    .from(tasks)
    .where(
      and(
        inArray(tasks.conversation_id, [...conversationIds]),
        inArray(tasks.status, ['queued', 'working', 'waiting']),
      ),
    )
    .orderBy(asc(tasks.id));
}

export async function insertInteraction(
  tx: Transaction,
  row: typeof interactions.$inferInsert,
): Promise<InteractionRow> {
  const [inserted] = await tx.insert(interactions).values(row).returning();
  return inserted as InteractionRow;
}

export async function findInteraction(
  db: Executor,
  { orgId, mode }: Tenant,
  id: string,
): Promise<InteractionRow | undefined> {
  const [row] = await db
    .select()
    .from(interactions)
    .where(and(eq(interactions.org_id, orgId), eq(interactions.mode, mode), eq(interactions.id, id)));
  return row;
}

export async function insertFrame(
  tx: Transaction,
  { org_id, mode, id }: Pick<InteractionRow, 'org_id' | 'mode' | 'id'>,
  frame: string,
): Promise<void> {
  await tx.insert(interactionFrames).values({ org_id, mode, interaction_id: id, frame });
}

/** What the page showed when a person was asked to take over. */
export async function findFrame(
  db: Executor,
  { org_id, mode, id }: Pick<InteractionRow, 'org_id' | 'mode' | 'id'>,
): Promise<string | null> {
  const [row] = await selectRows(db, interactionFrames, { org_id, mode, interaction_id: id });
  return row?.frame ?? null;
}

export async function updateInteraction(
  tx: Transaction,
  { org_id, mode, id }: Pick<InteractionRow, 'org_id' | 'mode' | 'id'>,
  changes: Partial<InteractionRow>,
): Promise<InteractionRow> {
  const [row] = await tx
    .update(interactions)
    .set(changes)
    .where(and(eq(interactions.org_id, org_id), eq(interactions.mode, mode), eq(interactions.id, id)))
    .returning();
  return row as InteractionRow;
}

export function interactionsOfRun(db: Executor, runId: string): Promise<InteractionRow[]> {
  return db.select().from(interactions).where(eq(interactions.run_id, runId)).orderBy(asc(interactions.id));
}

/** How many apps the person has connected because the run asked for them. */
export async function connectsOf(db: Executor, runId: string): Promise<number> {
  return (await interactionsOfRun(db, runId)).filter(isConnected).length;
}

export const isConnected = ({ type, decision }: Pick<InteractionRow, 'type' | 'decision'>): boolean =>
  type === 'connect' && decision === 'answered';

export function pendingInteractions(db: Executor, conversationIds: readonly string[]): Promise<InteractionRow[]> {
  return db
    .select()
    .from(interactions)
    .where(and(inArray(interactions.conversation_id, [...conversationIds]), eq(interactions.status, 'pending')))
    .orderBy(asc(interactions.id));
}

/** With the arguments of each call to the caller's own tools. */
export async function pendingWithArguments(db: Executor, conversationIds: readonly string[]) {
  const rows = await db
    .select({ interaction: interactions, arguments: runCalls.arguments })
    .from(interactions)
    .leftJoin(runCalls, and(eq(runCalls.id, interactions.id), eq(interactions.type, 'tool_call')))
    .where(and(inArray(interactions.conversation_id, [...conversationIds]), eq(interactions.status, 'pending')))
    .orderBy(asc(interactions.id));
  return rows.map((row) => ({ ...row.interaction, arguments: row.arguments ?? null }));
}

/** Where a turn begins in the log of its conversation; one that has not begun comes after what is there. */
export async function firstSeqOfTurn(db: Executor, conversationId: string, turnId: string): Promise<number> {
  const { rows } = await db.execute<{ seq: string }>(sql`
    SELECT COALESCE(
      (SELECT min(seq) FROM conversation_events WHERE conversation_id = ${conversationId} AND turn_id = ${turnId}),
      (SELECT last_event_seq + 1 FROM conversations WHERE id = ${conversationId})) AS seq`);
  return Number(rows[0]?.seq ?? 1);
}
