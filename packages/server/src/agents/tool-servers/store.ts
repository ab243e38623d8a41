import type { AwayReason } from '@vestra/contract/missing-tools';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor, Transaction } from '../../platform/db/pool.ts';
import { insertMany, maybeOne, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { columnsOf, type NewRowOf, text } from '../../platform/db/table.ts';
import { addressSha256, type ServerChanges } from './server-settings.ts';
import { mcpServers, type ServerRow, toolOutages } from './tables.ts';

const columns = columnsOf(mcpServers);
const owned = (orgId: string, serverId: string) => sql`org_id = ${orgId} AND id = ${serverId}`;

export function listServers(
  db: Executor,
  orgId: string,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<ServerRow[]> {
  const further = after && sql`id < ${after[0] as string}`;
  return rowsOf(
    db,
    mcpServers,
    sql`SELECT ${columns} FROM ${mcpServers} WHERE ${sql.and(sql`org_id = ${orgId}`, further)}
        ORDER BY id DESC LIMIT ${limit + 1}`,
  );
}

export const findServer = (db: Executor, orgId: string, serverId: string): Promise<ServerRow | undefined> =>
  maybeOne(db, mcpServers, sql`SELECT ${columns} FROM ${mcpServers} WHERE ${owned(orgId, serverId)}`);

/** `no key update` allows saving versions that use the server, `update` does not. */
const holds = { 'no key update': sql`FOR NO KEY UPDATE`, update: sql`FOR UPDATE` };

export const lockServer = (
  tx: Transaction,
  orgId: string,
  serverId: string,
  hold: keyof typeof holds,
): Promise<ServerRow | undefined> =>
  maybeOne(tx, mcpServers, sql`SELECT ${columns} FROM ${mcpServers} WHERE ${owned(orgId, serverId)} ${holds[hold]}`);

/** `hold` prevents deletion until the transaction ends. */
type Hold = { hold: boolean };

/** Finds the org's servers at these addresses, oldest first. */
export function findByAddress(
  tx: Executor,
  orgId: string,
  addresses: readonly string[],
  options: Hold,
): Promise<ServerRow[]> {
  if (addresses.length === 0) return Promise.resolve([]);
  return findWhere(tx, orgId, sql`address_sha256 = ANY(${addresses.map(addressSha256)})`, options);
}

export function findById(db: Executor, orgId: string, ids: readonly string[], options: Hold): Promise<ServerRow[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return findWhere(db, orgId, sql`id = ANY(${ids})`, options);
}

const findWhere = (db: Executor, orgId: string, which: Sql, { hold }: Hold): Promise<ServerRow[]> =>
  rowsOf(
    db,
    mcpServers,
    sql`SELECT ${columns} FROM ${mcpServers} WHERE org_id = ${orgId} AND ${which} ORDER BY id
        ${hold ? sql`FOR KEY SHARE` : sql.empty}`,
  );

export async function takenSlugs(tx: Executor, orgId: string, slugs: readonly string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set();
  const rows = await rowsOf(
    tx,
    { slug: text() },
    sql`SELECT slug FROM ${mcpServers} WHERE org_id = ${orgId} AND slug = ANY(${slugs})`,
  );
  return new Set(rows.map(({ slug }) => slug));
}

/** Returns undefined if another server of the org has the slug. */
export async function insertServer(
  tx: Executor,
  row: Omit<NewRowOf<typeof mcpServers>, 'address_sha256'>,
): Promise<ServerRow | undefined> {
  const whole = { ...row, address_sha256: addressSha256(row.url) };
  const [inserted] = await insertMany(tx, mcpServers, [whole], { onConflict: sql`(org_id, slug) DO NOTHING` });
  return inserted;
}

export async function updateRow(
  tx: Executor,
  orgId: string,
  serverId: string,
  changes: ServerChanges,
): Promise<ServerRow | undefined> {
  const address = changes.url === undefined ? {} : { address_sha256: addressSha256(changes.url) };
  const [row] = await update(
    tx,
    mcpServers,
    { ...changes, ...address, updated_at: sql`now()` },
    owned(orgId, serverId),
  );
  return row;
}

export async function deleteServer(tx: Executor, orgId: string, serverId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${mcpServers} WHERE ${owned(orgId, serverId)}`);
}

/**
 * Known outages, so that each is reported once until the server is back. Outages of one user (a missing secret, an
 * ended sign-in) are separate from those of everybody.
 */

type OutageOwner = Tenant & { userId: string | null };

/** Returns true for the first caller that reports the outage. */
export async function beginOutage(
  tx: Transaction,
  { orgId, mode, userId }: OutageOwner,
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

/** Ends the outages of reachable servers, for everybody and for this user. Runs with every turn. */
export async function endOutages(
  db: Executor,
  { orgId, mode, userId }: OutageOwner,
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

/** Deletes the outages that concern only this user. */
export async function forgetOutagesOf(tx: Transaction, { orgId, mode }: Tenant, userId: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${toolOutages} WHERE org_id = ${orgId} AND mode = ${mode} AND user_key = ${userId}`);
}

const keyOf = (userId: string | null) => userId ?? '';
