import { sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Transaction } from '../../db/pool.ts';

/** The tenant's conversation, which cannot be deleted until the transaction ends. */
export async function holdConversation(
  tx: Transaction,
  { orgId, mode }: Tenant,
  conversationId: string,
): Promise<{ user_id: string | null } | undefined> {
  const { rows } = await tx.execute<{ user_id: string | null }>(sql`
    SELECT user_id FROM conversations
    WHERE id = ${conversationId} AND org_id = ${orgId} AND mode = ${mode} FOR KEY SHARE`);
  return rows[0];
}
