import { sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';

/**
 * Takes away what other systems were told of a user and of their conversations. A message names its conversation and no
 * user, so the conversations are given while they are still there. That the user was deleted stays.
 */
export async function eraseEvents(
  tx: Transaction,
  { orgId, mode }: Tenant,
  { userId, conversationIds }: { userId: string; conversationIds: readonly string[] },
): Promise<void> {
  const theirs = sql`ANY(${sql.param([...conversationIds])}::text[])`;
  await tx.execute(sql`
    DELETE FROM events WHERE org_id = ${orgId} AND mode = ${mode} AND type <> 'user.deleted' AND (
      data ->> 'user_id' = ${userId} OR data ->> 'conversation_id' = ${theirs}
      OR (type = 'conversation.created' AND data ->> 'id' = ${theirs})
      OR (type LIKE 'user.%' AND data ->> 'id' = ${userId}))`);
}

/** The last of an erasure: what was told while it went on. */
export const eraseEventsOf = (tx: Transaction, tenant: Tenant, userId: string) =>
  eraseEvents(tx, tenant, { userId, conversationIds: [] });
