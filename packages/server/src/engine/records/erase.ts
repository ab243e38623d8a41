import { eraseEvents } from '../../account/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { pipelined, rowsOf, running } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { text } from '../../platform/db/table.ts';

/** Leaves nothing of a user's conversations behind: messages, turns, tasks, what the agent did, what it waited for. */
export async function eraseConversationsOf(tx: Transaction, { orgId, mode }: Tenant, userId: string): Promise<void> {
  const ids = await held(tx, sql`org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`);
  await eraseEvents(tx, { orgId, mode }, { userId, conversationIds: ids });
  await eraseHeld(tx, ids);
}

/** Conversations of nobody, of which others were told nothing. */
export const eraseHiddenConversations = async (tx: Transaction, ids: readonly string[]): Promise<void> =>
  eraseHeld(tx, await held(tx, sql`id = ANY(${ids}) AND is_hidden`));

/** Whoever writes for one of them holds its row, and finds it gone afterwards. */
async function held(tx: Transaction, which: Sql): Promise<string[]> {
  const rows = await rowsOf(tx, { id: text() }, sql`SELECT id FROM conversations WHERE ${which} FOR UPDATE`);
  return rows.map(({ id }) => id);
}

async function eraseHeld(tx: Transaction, ids: readonly string[]): Promise<void> {
  const runs = sql`SELECT id FROM turns WHERE conversation_id = ANY(${ids})
    UNION ALL SELECT id FROM tasks WHERE conversation_id = ANY(${ids})`;
  await pipelined(tx, [
    running(sql`DELETE FROM runs WHERE id IN (${runs})`),
    running(sql`DELETE FROM run_calls WHERE run_id IN (${runs})`),
    running(sql`DELETE FROM run_steps WHERE run_id IN (${runs})`),
    running(sql`DELETE FROM work_notes WHERE task_id IN (${runs})`),
    running(sql`DELETE FROM interactions WHERE conversation_id = ANY(${ids})`),
    running(sql`DELETE FROM messages WHERE conversation_id = ANY(${ids})`),
    running(sql`DELETE FROM tasks WHERE conversation_id = ANY(${ids})`),
    running(sql`DELETE FROM turns WHERE conversation_id = ANY(${ids})`),
    running(sql`DELETE FROM conversation_events WHERE conversation_id = ANY(${ids})`),
    running(sql`DELETE FROM conversations WHERE id = ANY(${ids})`),
  ]);
}
