import { sql } from 'drizzle-orm';
import type { Tenant } from '../../../caller.ts';
import type { Transaction } from '../../../db/pool.ts';
import { eraseEvents } from '../../events/api.ts';

/** Leaves nothing of a user's conversations behind: messages, turns, tasks, what the agent did, what it waited for. */
export async function eraseConversationsOf(tx: Transaction, { orgId, mode }: Tenant, userId: string): Promise<void> {
  const theirs = sql`SELECT id FROM conversations WHERE org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`;
  // Held first: whoever writes for one of them holds its row, and finds it gone afterwards.
  const { rows } = await tx.execute<{ id: string }>(sql`${theirs} FOR UPDATE`);
  await eraseEvents(tx, { orgId, mode }, { userId, conversationIds: rows.map(({ id }) => id) });
  const runs = sql`SELECT id FROM turns WHERE conversation_id IN (${theirs})
    UNION ALL SELECT id FROM tasks WHERE conversation_id IN (${theirs})`;
  await tx.execute(sql`DELETE FROM runs WHERE id IN (${runs})`);
  await tx.execute(sql`DELETE FROM run_calls WHERE run_id IN (${runs})`);
  await tx.execute(sql`DELETE FROM run_steps WHERE run_id IN (${runs})`);
  for (const table of ['interactions', 'messages', 'tasks', 'turns', 'conversation_events']) {
    await tx.execute(sql`DELETE FROM ${sql.identifier(table)} WHERE conversation_id IN (${theirs})`);
  }
  await tx.execute(sql`DELETE FROM conversations WHERE org_id = ${orgId} AND mode = ${mode} AND user_id = ${userId}`);
}
