import type { Tenant } from '../platform/caller.ts';
import { containsWordsSql, maxSearched } from '../platform/db/contains-words.ts';
import type { Database, Executor, Transaction } from '../platform/db/pool.ts';
import { insert, insertMany, maybeOne, rowsOf, rowsPlannedFor, run, updateOne } from '../platform/db/query.ts';
import type { CachedRow, RowCache } from '../platform/db/row-cache.ts';
import { type Sql, sql } from '../platform/db/sql.ts';
import { columnsOf, type NewRowOf, text } from '../platform/db/table.ts';
import { hasJob } from '../platform/jobs/queue.ts';
import { type UserRow, users } from './tables.ts';

const columns = columnsOf(users);
const owned = ({ orgId, mode }: Tenant) => sql`org_id = ${orgId} AND mode = ${mode}`;
const named = ({ orgId, mode }: Tenant, userId: string) => sql`org_id = ${orgId} AND mode = ${mode} AND id = ${userId}`;

export function findUser(db: Executor, { orgId, mode }: Tenant, userId: string): Promise<UserRow | undefined> {
  return maybeOne(
    db,
    users,
    sql`SELECT ${columns} FROM ${users} WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${userId}`,
  );
}

export function lockUser(tx: Transaction, tenant: Tenant, userId: string): Promise<UserRow | undefined> {
  return maybeOne(tx, users, sql`SELECT ${columns} FROM ${users} WHERE ${named(tenant, userId)} FOR UPDATE`);
}

/** Undefined if the user already exists. */
export function insertUser(tx: Transaction, row: NewRowOf<typeof users>): Promise<UserRow | undefined> {
  return insert(tx, users, row, { onConflict: sql`DO NOTHING` });
}

export async function findUsers(db: Executor, tenant: Tenant, ids: readonly string[]): Promise<Map<string, UserRow>> {
  const rows = await rowsOf(
    db,
    users,
    sql`SELECT ${columns} FROM ${users} WHERE ${owned(tenant)} AND id = ANY(${ids})`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Inserts the users and returns those that did not exist before. */
export function insertUsers(tx: Transaction, rows: readonly NewRowOf<typeof users>[]): Promise<UserRow[]> {
  return insertMany(tx, users, rows, { onConflict: sql`DO NOTHING` });
}

export async function updateUser(
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  changes: Partial<UserRow>,
): Promise<UserRow> {
  return updateOne(tx, users, { id: userId, ...changes }, named(tenant, userId));
}

export async function removeUser(tx: Transaction, tenant: Tenant, userId: string): Promise<boolean> {
  return (await run(tx, sql`DELETE FROM ${users} WHERE ${named(tenant, userId)}`)) > 0;
}

export type UserFilter = {
  /** Words of the id, name and email. */
  q?: string | undefined;
  status?: UserRow['status'] | undefined;
  email?: string | undefined;
  createdAfter?: Date | undefined;
};

/** Newest first. The id orders users of the same millisecond. */
export function listUsers(
  db: Executor,
  tenant: Tenant,
  { q, status, email, createdAfter }: UserFilter,
  page: { limit: number; after: readonly string[] | null },
): Promise<UserRow[]> {
  const [madeAt, id] = page.after ?? [];
  const conditions = sql.and(
    owned(tenant),
    sql`erasing_since IS NULL`,
    status && sql`status = ${status}`,
    email && sql`email = ${email}`,
    createdAfter && sql`created_at >= ${createdAfter}`,
    madeAt !== undefined && id !== undefined && sql`(created_at, id) < (${new Date(madeAt)}, ${id})`,
  );
  const newest = (where: Sql, most: number) =>
    sql`SELECT ${columns} FROM ${users} WHERE ${where} ORDER BY created_at DESC, id DESC LIMIT ${most}`;
  if (q === undefined) return rowsPlannedFor(db, users, newest(conditions, page.limit + 1));
  const first = sql`ORDER BY created_at DESC, id DESC LIMIT ${page.limit + 1}`;
  const recent = sql`SELECT ${columns} FROM (${newest(conditions, maxSearched)}) AS recent
    WHERE ${containsWordsSql(sql`concat_ws(' ', id, name, email)`, q)} ${first}`;
  // Indexes find a whole id or email among all users.
  const whole = (has: Sql) => sql`SELECT ${columns} FROM ${users} WHERE ${sql.and(conditions, has)} ${first}`;
  return rowsPlannedFor(
    db,
    users,
    sql`SELECT ${columns} FROM (
      (${recent}) UNION (${whole(sql`id = ${q}`)}) UNION (${whole(sql`email = ${q}`)})) AS found ${first}`,
  );
}

/** Null if the user has no time zone, or does not exist. */
export async function timezoneOf(db: Executor, tenant: Tenant, userId: string): Promise<string | null> {
  return (await findUser(db, tenant, userId))?.timezone ?? null;
}

export async function capsOf(db: Executor, tenant: Tenant, userIds: readonly string[]) {
  const rows = userIds.length === 0 ? [] : (await findUsers(db, tenant, userIds)).values();
  return new Map([...rows].map((row) => [row.id, { daily: row.daily_cap_micros, monthly: row.monthly_cap_micros }]));
}

/** Users whose erasure is not finished. */
export async function listErasing(db: Executor, limit: number): Promise<{ tenant: Tenant; userId: string }[]> {
  const { org_id, mode } = users.columns;
  const rows = await rowsOf(
    db,
    { org_id, mode, user_id: text() },
    sql`SELECT org_id, mode, id AS user_id FROM ${users} WHERE erasing_since IS NOT NULL
          AND NOT ${hasJob('user.erase', sql`${users}.org_id || ' ' || ${users}.mode || ' ' || ${users}.id`)}
        ORDER BY erasing_since LIMIT ${limit}`,
  );
  return rows.map((row) => ({ tenant: { orgId: row.org_id, mode: row.mode }, userId: row.user_id }));
}

const shape = { ...users.columns, version: text() };

/** The cached or current user. It may be stale, so a write that depends on it must check `isUnchangedUser`. */
export async function findCachedUser(
  { db, seen }: { db: Database; seen: RowCache<UserRow> },
  { orgId, mode }: Tenant,
  id: string,
): Promise<CachedRow<UserRow> | undefined> {
  const key = JSON.stringify([orgId, mode, id]);
  const known = seen.get(key);
  if (known) return known;
  const found = await maybeOne(
    db,
    shape,
    sql`SELECT ${columnsOf(users)}, xmin::text AS version FROM ${users} WHERE org_id = ${orgId} AND mode = ${mode} AND id = ${id}`,
  );
  if (!found) return undefined;
  const { version, ...row } = found;
  seen.set(key, { row, version });
  return { row, version };
}

export const forgetCachedUser = (
  seen: RowCache<UserRow>,
  { org_id, mode, id }: Pick<UserRow, 'org_id' | 'mode' | 'id'>,
) => seen.forget(JSON.stringify([org_id, mode, id]));

/** The condition that the user has not changed since it was cached. */
export const isUnchangedUser = ({ row, version }: CachedRow<UserRow>) => sql`EXISTS (SELECT FROM ${users}
  WHERE org_id = ${row.org_id} AND mode = ${row.mode} AND id = ${row.id} AND xmin = ${version}::xid)`;

/** Reads a column of the user of a row with `org_id`, `mode` and `user_id`, for queries of other modules. */
export const userOfRow = (row: Sql, column: 'status' | 'default_deployment'): Sql =>
  sql`(SELECT owner.${sql.raw(column)} FROM ${users} AS owner
    WHERE owner.org_id = ${row}.org_id AND owner.mode = ${row}.mode AND owner.id = ${row}.user_id)`;
