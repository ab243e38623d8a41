import { and, desc, eq, gt, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import { selectRows } from '../../db/rows.ts';
import { type UserRow, users } from './tables.ts';

const owned = (tenant: Tenant) => and(eq(users.org_id, tenant.orgId), eq(users.mode, tenant.mode));
const named = (tenant: Tenant, userId: string) => and(owned(tenant), eq(users.id, userId));

export async function findUser(db: Executor, tenant: Tenant, userId: string): Promise<UserRow | undefined> {
  const [row] = await selectRows(db, users, { org_id: tenant.orgId, mode: tenant.mode, id: userId });
  return row;
}

export async function lockUser(tx: Transaction, tenant: Tenant, userId: string): Promise<UserRow | undefined> {
  const [row] = await tx.select().from(users).where(named(tenant, userId)).for('update');
  return row;
}

/** Nothing where the user was there before, also if another transaction made it meanwhile. */
export async function insertUser(tx: Transaction, row: typeof users.$inferInsert): Promise<UserRow | undefined> {
  const [inserted] = await tx.insert(users).values(row).onConflictDoNothing().returning();
  return inserted;
}

export async function findUsers(db: Executor, tenant: Tenant, ids: readonly string[]): Promise<Map<string, UserRow>> {
  const rows = await db
    .select()
    .from(users)
    .where(and(owned(tenant), inArray(users.id, [...ids])));
  return new Map(rows.map((row) => [row.id, row]));
}

/** Those that were not there before, nor made by another transaction meanwhile. */
export function insertUsers(tx: Transaction, rows: readonly (typeof users.$inferInsert)[]): Promise<UserRow[]> {
  return tx
    .insert(users)
    .values([...rows])
    .onConflictDoNothing()
    .returning();
}

export async function updateUser(
  tx: Transaction,
  tenant: Tenant,
  userId: string,
  changes: Partial<UserRow>,
): Promise<UserRow> {
  const [row] = await tx
    .update(users)
    .set({ id: userId, ...changes })
    .where(named(tenant, userId))
    .returning();
  return row as UserRow;
}

export async function removeUser(tx: Transaction, tenant: Tenant, userId: string): Promise<boolean> {
  const removed = await tx.delete(users).where(named(tenant, userId)).returning({ id: users.id });
  return removed.length > 0;
}

export type UserFilter = {
  status?: UserRow['status'] | undefined;
  email?: string | undefined;
  createdAfter?: Date | undefined;
};

/** Newest first. Two users of one millisecond are told apart by id. */
export function listUsers(
  db: Executor,
  tenant: Tenant,
  { status, email, createdAfter }: UserFilter,
  page: { limit: number; after: readonly string[] | null },
): Promise<UserRow[]> {
  const [madeAt, id] = page.after ?? [];
  const after =
    madeAt !== undefined && id !== undefined
      ? or(lt(users.created_at, new Date(madeAt)), and(eq(users.created_at, new Date(madeAt)), lt(users.id, id)))
      : undefined;
  return db
    .select()
    .from(users)
    .where(
      and(
        owned(tenant),
        isNull(users.erasing_since),
        status ? eq(users.status, status) : undefined,
        email ? eq(users.email, email) : undefined,
        createdAfter ? gt(users.created_at, createdAfter) : undefined,
        after,
      ),
    )
    .orderBy(desc(users.created_at), desc(users.id))
    .limit(page.limit + 1);
}

/** Null where the user has named none, and where there is no such user. */
export async function timezoneOf(db: Executor, tenant: Tenant, userId: string): Promise<string | null> {
  return (await findUser(db, tenant, userId))?.timezone ?? null;
}

export async function capsOf(db: Executor, tenant: Tenant, userIds: readonly string[]) {
  if (userIds.length === 0) return new Map<string, { daily: bigint | null; monthly: bigint | null }>();
  const [only] = userIds;
  if (only !== undefined && userIds.length === 1) {
    const user = await findUser(db, tenant, only);
    return new Map(user ? [[only, { daily: user.daily_cap_micros, monthly: user.monthly_cap_micros }]] : []);
  }
  const rows = await db
    .select({ id: users.id, daily: users.daily_cap_micros, monthly: users.monthly_cap_micros })
    .from(users)
    .where(and(owned(tenant), inArray(users.id, [...userIds])));
  return new Map(rows.map(({ id, daily, monthly }) => [id, { daily, monthly }]));
}

/** Users whose erasure was asked for and is not done. */
export async function listErasing(db: Executor, limit: number): Promise<{ tenant: Tenant; userId: string }[]> {
  const rows = await db
    .select({ orgId: users.org_id, mode: users.mode, userId: users.id })
    .from(users)
    .where(sql`${users.erasing_since} IS NOT NULL`)
    .orderBy(users.erasing_since)
    .limit(limit);
  return rows.map(({ orgId, mode, userId }) => ({ tenant: { orgId, mode }, userId }));
}
