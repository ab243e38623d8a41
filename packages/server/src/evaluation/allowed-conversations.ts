import type { improvementConversations } from '@vestra/contract/account';
import { fail } from '@vestra/contract/errors';
import { findSettings } from '../account/index.ts';
import type { Caller, Tenant } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { rowsOf } from '../platform/db/query.ts';
import { sql } from '../platform/db/sql.ts';
import { text } from '../platform/db/table.ts';
import { messageFeedback } from './tables.ts';

export type ConversationAllowance = (typeof improvementConversations)[number];

/** The conversations among these whose words the org lets insights quote and improvements use, in this mode. */
export const allowedConversations = async (
  db: Executor,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => idsAllowedBy(await allowanceOfConversations(db, tenant), db, tenant, ids);

export const allowanceOfConversations = async (db: Executor, tenant: Tenant): Promise<ConversationAllowance> =>
  (await findSettings(db, tenant)).improvement_conversations;

export async function idsAllowedBy(
  allowed: ConversationAllowance,
  db: Executor,
  tenant: Tenant,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (allowed === 'all') return new Set(ids);
  if (allowed === 'none' || ids.length === 0) return new Set();
  const { orgId, mode } = tenant;
  const rated = await rowsOf(
    db,
    { id: text() },
    sql`SELECT DISTINCT conversation_id AS id FROM ${messageFeedback}
        WHERE org_id = ${orgId} AND mode = ${mode} AND conversation_id = ANY(${ids}::text[])`,
  );
  return new Set(rated.map(({ id }) => id));
}

/** Whether the caller may read what users wrote, as on the routes of conversations. A viewer of the console may. */
export const readsConversations = ({ scopes, member }: Caller): boolean =>
  scopes.includes('runtime') || scopes.includes('all') || member?.role === 'viewer';

/** For routes with scope `setup` that read conversations. */
export function requireConversationScope(caller: Caller, purpose: string): void {
  if (!readsConversations(caller)) {
    throw fail('scope_missing', { message: `${purpose} This needs a key with scope runtime too, or all.` });
  }
}
