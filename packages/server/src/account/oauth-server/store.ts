import type { Tenant } from '../../platform/caller.ts';
import { sharedNow } from '../../platform/db/clock.ts';
import type { Database, Executor, Transaction } from '../../platform/db/pool.ts';
import { prune } from '../../platform/db/prune.ts';
import { insert, insertMany, maybeOne, one, rowsOf, run, update } from '../../platform/db/query.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { boolean, columnsOf, count, float, type NewRowOf, type RowOf, text } from '../../platform/db/table.ts';
import { type GrantRow, mcpAuthorizationCodes, mcpGrants, mcpTokens, registeredMcpClients } from './tables.ts';
import { accessSeconds, codeSeconds, newSecret, unusedDays } from './token.ts';

export const findRegistered = (db: Executor, id: string): Promise<RowOf<typeof registeredMcpClients> | undefined> =>
  maybeOne(
    db,
    registeredMcpClients,
    sql`SELECT ${columnsOf(registeredMcpClients)} FROM ${registeredMcpClients} WHERE id = ${id}`,
  );

const isUnused = sql`NOT EXISTS (SELECT FROM ${mcpGrants} g WHERE g.client_id = ${registeredMcpClients}.id)`;

/** Anybody may register: of those that nobody has let in, no more than `most` are kept, the newest. */
export async function insertRegistered(
  tx: Transaction,
  row: Pick<RowOf<typeof registeredMcpClients>, 'id' | 'name' | 'redirect_uris'>,
  { most }: { most: number },
): Promise<RowOf<typeof registeredMcpClients>> {
  const made = await insert(tx, registeredMcpClients, row);
  await run(
    tx,
    sql`DELETE FROM ${registeredMcpClients} WHERE id IN (
          SELECT id FROM ${registeredMcpClients} WHERE ${isUnused} ORDER BY last_used_at DESC, id DESC OFFSET ${most})`,
  );
  return made;
}

const afterUnusedDays = sql`now() + make_interval(days => ${unusedDays}::int)`;

/** With a code for it, without which it ends as soon as the code does. */
export async function insertGrant(
  tx: Transaction,
  row: Omit<NewRowOf<typeof mcpGrants>, 'expires_at'>,
  code: Pick<RowOf<typeof mcpAuthorizationCodes>, 'code_hash' | 'redirect_uri' | 'code_challenge'>,
): Promise<GrantRow> {
  const expires_at = sql`now() + make_interval(secs => ${codeSeconds})`;
  const grant = await insert(tx, mcpGrants, { ...row, expires_at });
  await insert(tx, mcpAuthorizationCodes, { ...code, grant_id: grant.id, expires_at });
  await run(tx, sql`UPDATE ${registeredMcpClients} SET last_used_at = now() WHERE id = ${row.client_id}`);
  return grant;
}

export async function countOfMember(tx: Transaction, memberId: string): Promise<number> {
  const counted = sql`SELECT count(*) AS total FROM ${mcpGrants} WHERE member_id = ${memberId} AND expires_at > now()`;
  return (await one(tx, { total: count() }, counted)).total;
}

/** `memberIds`: only those of each of them. Those that have not fetched their first tokens are not in yet. */
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

/** Its codes and tokens go with it. */
export async function deleteGrant(tx: Transaction, id: string): Promise<void> {
  await run(tx, sql`DELETE FROM ${mcpGrants} WHERE id = ${id}`);
}

const ofCode = { ...mcpAuthorizationCodes.columns, is_over: boolean() };
const ofToken = { ...mcpTokens.columns, is_over: boolean() };
/** The grant is locked first: two exchanges of one secret come one after the other. */
export type LockedGrant = GrantRow & { renewed_ms_ago: number };

export async function lockByCode(
  tx: Transaction,
  hash: Buffer,
): Promise<{ grant: LockedGrant; code: RowOf<typeof ofCode> } | null> {
  const grant = await lockOwner(tx, sql`SELECT grant_id FROM ${mcpAuthorizationCodes} WHERE code_hash = ${hash}`);
  if (!grant) return null;
  const found = sql`SELECT ${columnsOf(mcpAuthorizationCodes)}, expires_at <= now() AS is_over
    FROM ${mcpAuthorizationCodes} WHERE code_hash = ${hash}`;
  return { grant, code: await one(tx, ofCode, found) };
}

export async function lockByToken(
  tx: Transaction,
  hash: Buffer,
): Promise<{ grant: LockedGrant; token: RowOf<typeof ofToken> } | null> {
  const grant = await lockOwner(tx, sql`SELECT grant_id FROM ${mcpTokens} WHERE token_hash = ${hash}`);
  if (!grant) return null;
  const found = sql`SELECT ${columnsOf(mcpTokens)}, expires_at <= now() AS is_over
    FROM ${mcpTokens} WHERE token_hash = ${hash}`;
  return { grant, token: await one(tx, ofToken, found) };
}

const lockOwner = (tx: Transaction, owner: Sql): Promise<LockedGrant | undefined> =>
  maybeOne(
    tx,
    { ...mcpGrants.columns, renewed_ms_ago: float() },
    sql`SELECT ${columnsOf(mcpGrants)},
          COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - renewed_at) * 1000, 0)::float8 AS renewed_ms_ago
        FROM ${mcpGrants} WHERE id = (${owner}) FOR UPDATE`,
  );

export async function markCodeUsed(tx: Transaction, hash: Buffer): Promise<void> {
  await run(tx, sql`UPDATE ${mcpAuthorizationCodes} SET used_at = now() WHERE code_hash = ${hash}`);
}

export async function nextGeneration(tx: Transaction, grantId: string): Promise<GrantRow> {
  const changes = { generation: sql`generation + 1`, renewed_at: sql`clock_timestamp()`, expires_at: afterUnusedDays };
  const [row] = await update(tx, mcpGrants, changes, sql`id = ${grantId}`);
  return row as GrantRow;
}

/** A pair of tokens of the grant's newest generation. */
export async function issueTokens(tx: Transaction, { id, generation }: Pick<GrantRow, 'id' | 'generation'>) {
  const [access, refresh] = [newSecret('access'), newSecret('refresh')];
  const after = (seconds: number) => new Date(sharedNow() + seconds * 1000);
  await insertMany(tx, mcpTokens, [
    { token_hash: access.hash, grant_id: id, kind: 'access', generation, expires_at: after(accessSeconds) },
    { token_hash: refresh.hash, grant_id: id, kind: 'refresh', generation, expires_at: after(unusedDays * 86_400) },
  ]);
  return { access: access.secret, refresh: refresh.secret };
}

const standing = { ...mcpGrants.columns, is_over: boolean(), is_use_due: boolean() };

export const findByAccessToken = (db: Executor, hash: Buffer): Promise<RowOf<typeof standing> | undefined> =>
  maybeOne(
    db,
    standing,
    sql`SELECT ${columnsOf(mcpGrants, 'g')}, t.expires_at <= now() AS is_over,
          COALESCE(g.last_used_at < now() - interval '1 minute', true) AS is_use_due
        FROM ${mcpTokens} t JOIN ${mcpGrants} g ON g.id = t.grant_id
        WHERE t.token_hash = ${hash} AND t.kind = 'access'`,
  );

export async function markUsed(db: Executor, id: string): Promise<void> {
  await run(db, sql`UPDATE ${mcpGrants} SET last_used_at = now() WHERE id = ${id}`);
}

/** Of these, the ones that stand. */
export async function liveGrants(db: Executor, ids: string[]): Promise<string[]> {
  const live = sql`SELECT id FROM ${mcpGrants} WHERE id = ANY(${ids})`;
  return (await rowsOf(db, { id: text() }, live)).map(({ id }) => id);
}

export const lockGrantsOf = (tx: Transaction, memberIds: readonly string[]): Promise<GrantRow[]> =>
  rowsOf(
    tx,
    mcpGrants,
    sql`SELECT ${columnsOf(mcpGrants)} FROM ${mcpGrants} WHERE member_id = ANY(${memberIds}) ORDER BY id FOR UPDATE`,
  );

export const pruneGrants = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, mcpGrants, sql`expires_at < ${before}`, limit);

export const pruneTokens = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, mcpTokens, sql`expires_at < ${before}`, limit);

/** Registered clients that nobody has let in, or no longer. */
export const pruneRegistered = (db: Database, before: Date, limit: number): Promise<boolean> =>
  prune(db, registeredMcpClients, sql`last_used_at < ${before} AND ${isUnused}`, limit);
