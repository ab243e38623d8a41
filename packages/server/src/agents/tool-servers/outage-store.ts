import type { AwayReason } from '@vestra/contract/missing-tools';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insertMany, run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
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
  const outage = {
    org_id: orgId,
    mode,
    server_id: serverId,
    is_personal: isPersonal,
    user_key: isPersonal ? keyOf(userId) : '',
    reason,
  };
  const begun = await insertMany(tx, toolOutages, [outage], { onConflict: sql`DO NOTHING` });
  return begun.length > 0;
}

/** The user has the tools of these servers: they are away neither for them nor for everybody. Asked with every turn. */
export async function endOutages(
  db: Executor,
  { orgId, mode, userId }: Whose,
  serverIds: readonly string[],
): Promise<void> {
  await run(
    db,
    sql`DELETE FROM ${toolOutages} WHERE org_id = ${orgId} AND mode = ${mode} AND server_id = ANY(${serverIds})
          AND (NOT is_personal OR user_key = ${keyOf(userId)})`,
  );
}

export async function forgetOutages(tx: Transaction, orgId: string, serverId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${toolOutages} WHERE org_id = ${orgId} AND server_id = ${serverId}`);
}

/** With the user goes what was away for them alone. */
export async function forgetOutagesOf(tx: Transaction, { orgId, mode }: Tenant, userId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${toolOutages} WHERE org_id = ${orgId} AND mode = ${mode} AND user_key = ${userId}`);
}

const keyOf = (userId: string | null) => userId ?? '';
