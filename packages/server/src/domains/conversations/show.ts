import type { Database, Executor } from '../../db/pool.ts';
import { type ConversationRow, openTasks, pendingWithArguments, presentConversation } from '../engine/api.ts';
import { costsOf } from '../ledger/api.ts';

/** Conversations with what is open in them and what they have cost. Nothing is open in one that is idle. */
export async function showConversations(
  db: Database | Executor,
  rows: readonly ConversationRow[],
): Promise<(row: ConversationRow, firstTurnId?: string) => ReturnType<typeof presentConversation>> {
  const busy = rows.filter(({ status }) => status !== 'idle').map(({ id }) => id);
  const tasks = busy.length === 0 ? [] : await openTasks(db, busy);
  const interactions = busy.length === 0 ? [] : await pendingWithArguments(db, busy);
  const costs = await costsOf(db, { conversationIds: rows.map(({ id }) => id) });
  return (row, firstTurnId) =>
    presentConversation(row, {
      tasks: tasks.filter(({ conversation_id }) => conversation_id === row.id),
      interactions: interactions.filter(({ conversation_id }) => conversation_id === row.id),
      cost: costs.get(row.id) as NonNullable<ReturnType<typeof costs.get>>,
      ...(firstTurnId !== undefined && { firstTurnId }),
    });
}
