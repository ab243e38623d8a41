import { type Cost, costOfKinds, costOfTurn, costsOf } from '../../billing/index.ts';
import type { Database, Executor } from '../../platform/db/pool.ts';
import { pendingInteractions, pendingWithArguments } from '../records/interactions.ts';
import { presentConversation, presentTurn } from '../records/present.ts';
import type { ConversationRow, TurnRow } from '../records/tables.ts';
import { openTasks } from '../records/tasks.ts';
import { isOver } from '../records/turn.ts';

/** Conversations with what is open in them and what they have cost. What a row counts none of is not looked for, nor costs that are known. */
export async function showConversations(
  db: Database | Executor,
  rows: readonly ConversationRow[],
  known?: ReadonlyMap<string, Cost>,
): Promise<(row: ConversationRow, firstTurnId?: string) => ReturnType<typeof presentConversation>> {
  const idsWith = (has: (row: ConversationRow) => boolean) => rows.filter(has).map(({ id }) => id);
  const working = idsWith(({ open_tasks }) => open_tasks > 0);
  const tasks = working.length === 0 ? [] : await openTasks(db, working);
  const waiting = idsWith(({ open_interactions }) => open_interactions > 0);
  const interactions = waiting.length === 0 ? [] : await pendingWithArguments(db, waiting);
  const spoken = idsWith(({ turn_count }) => turn_count > 0);
  const costs = known ?? (await costsOf(db, { conversationIds: spoken }));
  return (row, firstTurnId) =>
    presentConversation(row, {
      tasks: tasks.filter(({ conversation_id }) => conversation_id === row.id),
      interactions: interactions.filter(({ conversation_id }) => conversation_id === row.id),
      cost: costs.get(row.id) ?? costOfKinds({}),
      ...(firstTurnId !== undefined && { firstTurnId }),
    });
}

export async function showTurn(db: Executor, turn: TurnRow) {
  const costMicros = await costOfTurn(db, turn.conversation_id, turn.id);
  const open = isOver(turn.state) ? [] : await pendingInteractions(db, [turn.conversation_id]);
  return presentTurn(turn, { interactions: open.filter(({ turn_id }) => turn_id === turn.id), costMicros });
}
