import type { Tenant } from '../../platform/caller.ts';
import type { Transaction } from '../../platform/db/pool.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { insightNames } from '../tables.ts';

/** A name may repeat words of its conversations. */
export async function forgetNames(
  tx: Transaction,
  { orgId, mode }: Tenant,
  conversationIds: readonly string[] | 'all',
): Promise<void> {
  const which = conversationIds === 'all' ? sql`true` : sql`conversation_ids && ${conversationIds}::text[]`;
  await run(tx, sql`DELETE FROM ${insightNames} WHERE org_id = ${orgId} AND mode = ${mode} AND ${which}`);
}
