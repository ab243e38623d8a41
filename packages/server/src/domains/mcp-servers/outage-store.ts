import type { AwayReason } from '@vestra/contract/missing-tools';
import { and, eq } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { toolOutages } from './tables.ts';

/**
 * Which servers are known to be away, so that it is told once when they go and again only after they came back. What
 * concerns one user alone (their secret, their sign-in) is kept apart from what concerns everybody.
 */

type Whose = Tenant & { userId: string | null };

/** The beginning of an outage, for the one who finds it first. */
export async function beginOutage(
  tx: Transaction,
  { orgId, mode, userId }: Whose,
  { serverId, isPersonal, reason }: { serverId: string; isPersonal: boolean; reason: AwayReason },
): Promise<boolean> {
  const begun = await tx
    .insert(toolOutages)
    .values({
      org_id: orgId,
      mode,
      server_id: serverId,
      is_personal: isPersonal,
      user_key: isPersonal ? keyOf(userId) : '',
      reason,
    })
    .onConflictDoNothing()
    .returning({ since: toolOutages.since });
  return begun.length > 0;
}

/** Asked with every turn that has such tools, so it is prepared; where nothing was away it writes nothing. */
const end = {
  name: 'end_tool_outages',
  text: `DELETE FROM tool_outages WHERE org_id = $1 AND mode = $2 AND server_id = ANY($3::text[])
    AND (NOT is_personal OR user_key = $4)`,
};

/** The user has the tools of these servers: they are away neither for them nor for everybody. */
export async function endOutages(
  db: Executor,
  { orgId, mode, userId }: Whose,
  serverIds: readonly string[],
): Promise<void> {
  await runPrepared(db, end, [orgId, mode, serverIds, keyOf(userId)]);
}

export async function forgetOutages(tx: Transaction, orgId: string, serverId: string): Promise<void> {
  await tx.delete(toolOutages).where(and(eq(toolOutages.org_id, orgId), eq(toolOutages.server_id, serverId)));
}

/** With the user goes what was away for them alone. */
export async function forgetOutagesOf(tx: Transaction, { orgId, mode }: Tenant, userId: string): Promise<void> {
  await tx
    .delete(toolOutages)
    .where(and(eq(toolOutages.org_id, orgId), eq(toolOutages.mode, mode), eq(toolOutages.user_key, userId)));
}

const keyOf = (userId: string | null) => userId ?? '';
