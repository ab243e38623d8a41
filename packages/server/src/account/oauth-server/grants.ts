import type { GrantEnding } from '@vestra/contract/mcp-grants';
import type { Actor, Origin, Tenant } from '../../platform/caller.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { maybeOne, prune, rowsOf, run } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, text } from '../../platform/db/table.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { emit } from '../events/emit.ts';
import { findMembers } from '../members/store.ts';
import { type GrantRow, type MemberRow, mcpGrants } from '../tables.ts';

export async function endGrant(tx: Transaction, origin: Origin, grant: GrantRow, reason: GrantEnding): Promise<void> {
  await deleteGrant(tx, grant.id);
  await recordAudit(tx, origin, {
    action: 'mcp_grant.revoked',
    target: { type: 'mcp_grant', id: grant.id },
    details: { client: grant.client_name, member: grant.member_id, reason },
  });
  const data = { ...presentGrant(grant, await findMembers(tx, [grant.member_id])), reason };
  await emit(tx, { orgId: grant.org_id, mode: grant.mode, type: 'mcp_grant.revoked', data });
}

/** Ends all grants of these members, because they are removed or their login may be compromised. */
export async function endGrantsOf(
  tx: Transaction,
  memberIds: readonly string[],
  source: Pick<Origin, 'requestId' | 'ip'>,
): Promise<string[]> {
  const grants = await lockGrantsOf(tx, memberIds);
  for (const grant of grants) await endGrant(tx, await originOf(tx, grant, source), grant, 'member');
  return grants.map(({ id }) => id);
}

/** The audit log names the responsible member and the client that acted. */
export const actorOf = (grant: GrantRow, member: Pick<MemberRow, 'name' | 'email'>): Actor => ({
  type: 'mcp_grant',
  id: grant.id,
  name: `${member.name ?? member.email} with ${grant.client_name}`,
});

/** The origin of actions without an access token: a client revokes a token, or uses a code or token twice. */
export async function originOf(
  db: Executor,
  grant: GrantRow,
  source: Pick<Origin, 'requestId' | 'ip'>,
): Promise<Origin> {
  const [member = { name: null, email: grant.member_id }] = await findMembers(db, [grant.member_id]);
  return { orgId: grant.org_id, mode: grant.mode, actor: actorOf(grant, member), ...source };
}

export const presentGrant = (row: GrantRow, members: readonly MemberRow[]) => {
  const member = members.find(({ id }) => id === row.member_id);
  return {
    object: 'mcp_grant' as const,
    id: row.id,
    client: { name: row.client_name, address: row.client_address, is_verified: row.is_verified },
    member: { id: row.member_id, name: member?.name ?? member?.email ?? row.member_id },
    mode: row.mode,
    scopes: row.scopes,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at.toISOString(),
  };
};

/** Grants that have fetched their first tokens. If `memberIds` has several ids, a grant must match all of them. */
const seenBy = ({ orgId, mode }: Tenant, memberIds: readonly string[]): Sql =>
  sql.and(
    sql`org_id = ${orgId} AND mode = ${mode} AND generation > 0 AND expires_at > now()`,
    ...memberIds.map((memberId) => sql`member_id = ${memberId}`),
  );

export const listGrants = (
  db: Executor,
  tenant: Tenant,
  memberIds: readonly string[],
  page: { limit: number; after: readonly string[] | null },
): Promise<GrantRow[]> =>
  rowsOf(
    db,
    mcpGrants,
    sql`SELECT ${columnsOf(mcpGrants)} FROM ${mcpGrants}
        WHERE ${sql.and(seenBy(tenant, memberIds), page.after && sql`id < ${page.after[0] as string}`)}
        ORDER BY id DESC LIMIT ${page.limit + 1}`,
  );

export const lockGrant = (
  tx: Transaction,
  tenant: Tenant,
  memberIds: readonly string[],
  id: string,
): Promise<GrantRow | undefined> =>
  maybeOne(
    tx,
    mcpGrants,
    sql`SELECT ${columnsOf(mcpGrants)} FROM ${mcpGrants} WHERE ${seenBy(tenant, memberIds)} AND id = ${id} FOR UPDATE`,
  );

/** The database deletes its codes and tokens as well. */
async function deleteGrant(tx: Transaction, id: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${mcpGrants} WHERE id = ${id}`);
}

/** Returns those of the grants that still exist. */
export async function liveGrants(db: Executor, ids: string[]): Promise<string[]> {
  const live = sql`SELECT id FROM ${mcpGrants} WHERE id = ANY(${ids})`;
  return (await rowsOf(db, { id: text() }, live)).map(({ id }) => id);
}

const lockGrantsOf = (tx: Transaction, memberIds: readonly string[]): Promise<GrantRow[]> =>
  rowsOf(
    tx,
    mcpGrants,
    sql`SELECT ${columnsOf(mcpGrants)} FROM ${mcpGrants} WHERE member_id = ANY(${memberIds}) ORDER BY id FOR UPDATE`,
  );

export const pruneGrants = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, mcpGrants, sql`expires_at < ${before}`, limit);
