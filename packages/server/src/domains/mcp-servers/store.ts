import { and, asc, desc, eq, inArray, lt, sql } from 'drizzle-orm';
import type { Executor, Transaction } from '../../db/pool.ts';
import { addressSha256, type ServerChanges } from './mcp-server.ts';
import { mcpServers, type ServerRow } from './tables.ts';

const owned = (orgId: string, serverId: string) => and(eq(mcpServers.org_id, orgId), eq(mcpServers.id, serverId));

export function listServers(
  db: Executor,
  orgId: string,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<ServerRow[]> {
  return db
    .select()
    .from(mcpServers)
    .where(and(eq(mcpServers.org_id, orgId), after ? lt(mcpServers.id, after[0] as string) : undefined))
    .orderBy(desc(mcpServers.id))
    .limit(limit + 1);
}

export async function findServer(db: Executor, orgId: string, serverId: string): Promise<ServerRow | undefined> {
  const [row] = await db.select().from(mcpServers).where(owned(orgId, serverId));
  return row;
}

/** `no key update` lets versions that name the server be saved meanwhile; `update` lets none. */
export async function lockServer(
  tx: Transaction,
  orgId: string,
  serverId: string,
  hold: 'no key update' | 'update',
): Promise<ServerRow | undefined> {
  const [row] = await tx.select().from(mcpServers).where(owned(orgId, serverId)).for(hold);
  return row;
}

/** With `hold` none of the found can be deleted until the transaction ends. */
type Hold = { hold: boolean };

/** The org's servers at these addresses, oldest first. */
export function findByAddress(
  tx: Executor,
  orgId: string,
  addresses: readonly string[],
  options: Hold,
): Promise<ServerRow[]> {
  return findIn(tx, orgId, { column: mcpServers.address_sha256, values: addresses.map(addressSha256) }, options);
}

export function findById(db: Executor, orgId: string, ids: readonly string[], options: Hold): Promise<ServerRow[]> {
  return findIn(db, orgId, { column: mcpServers.id, values: ids }, options);
}

async function findIn(
  db: Executor,
  orgId: string,
  { column, values }: { column: typeof mcpServers.address_sha256 | typeof mcpServers.id; values: readonly string[] },
  { hold }: Hold,
): Promise<ServerRow[]> {
  if (values.length === 0) return [];
  const found = db
    .select()
    .from(mcpServers)
    .where(and(eq(mcpServers.org_id, orgId), inArray(column, [...values])))
    .orderBy(asc(mcpServers.id));
  return hold ? found.for('key share') : found;
}

export async function takenSlugs(tx: Executor, orgId: string, slugs: readonly string[]): Promise<Set<string>> {
  if (slugs.length === 0) return new Set();
  const rows = await tx
    .select({ slug: mcpServers.slug })
    .from(mcpServers)
    .where(and(eq(mcpServers.org_id, orgId), inArray(mcpServers.slug, [...slugs])));
  return new Set(rows.map(({ slug }) => slug));
}

/** Nothing, where another server of the org has the slug. */
export async function insertServer(
  tx: Executor,
  row: Omit<typeof mcpServers.$inferInsert, 'address_sha256'>,
): Promise<ServerRow | undefined> {
  const [inserted] = await tx
    .insert(mcpServers)
    .values({ ...row, address_sha256: addressSha256(row.url) })
    .onConflictDoNothing({ target: [mcpServers.org_id, mcpServers.slug] })
    .returning();
  return inserted;
}

export async function updateRow(
  tx: Executor,
  orgId: string,
  serverId: string,
  changes: ServerChanges,
): Promise<ServerRow | undefined> {
  const [row] = await tx
    .update(mcpServers)
    .set({
      ...changes,
      ...(changes.url !== undefined && { address_sha256: addressSha256(changes.url) }),
      updated_at: sql`now()`,
    })
    .where(owned(orgId, serverId))
    .returning();
  return row;
}

export async function deleteServer(tx: Executor, orgId: string, serverId: string): Promise<void> {
  await tx.delete(mcpServers).where(owned(orgId, serverId));
}
