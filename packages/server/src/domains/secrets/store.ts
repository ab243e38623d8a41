import { and, asc, eq, gt, inArray, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { type SecretRow, secrets } from './tables.ts';

const owned = (tenant: Tenant, userId: string) =>
  and(eq(secrets.org_id, tenant.orgId), eq(secrets.mode, tenant.mode), eq(secrets.user_id, userId));

export async function upsertSecret(
  tx: Executor,
  tenant: Tenant,
  { userId, name, sealed }: { userId: string; name: string; sealed: Buffer },
): Promise<SecretRow> {
  const [row] = await tx
    .insert(secrets)
    .values({ org_id: tenant.orgId, mode: tenant.mode, user_id: userId, name, sealed_value: sealed })
    .onConflictDoUpdate({
      target: [secrets.org_id, secrets.mode, secrets.user_id, secrets.name],
      set: { sealed_value: sealed, updated_at: sql`now()` },
    })
    .returning();
  return row as SecretRow;
}

/** By name: a secret has no other key, and nobody looks for the newest one. */
export function listSecrets(
  db: Executor,
  tenant: Tenant,
  userId: string,
  page: { limit: number; after: readonly string[] | null },
): Promise<SecretRow[]> {
  return db
    .select()
    .from(secrets)
    .where(and(owned(tenant, userId), page.after ? gt(secrets.name, page.after[0] as string) : undefined))
    .orderBy(asc(secrets.name))
    .limit(page.limit + 1);
}

export async function removeSecret(tx: Executor, tenant: Tenant, userId: string, name: string): Promise<boolean> {
  const removed = await tx
    .delete(secrets)
    .where(and(owned(tenant, userId), eq(secrets.name, name)))
    .returning({ name: secrets.name });
  return removed.length > 0;
}

/** Those of the names under which the company stored a secret in this mode. */
export async function storedNames(
  db: Executor,
  tenant: Tenant,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const rows = await db
    .select({ name: secrets.name })
    .from(secrets)
    .where(and(owned(tenant, ''), inArray(secrets.name, [...names])));
  return new Set(rows.map(({ name }) => name));
}

export async function removeSecretsOfUser(tx: Executor, tenant: Tenant, userId: string): Promise<void> {
  await tx.delete(secrets).where(owned(tenant, userId));
}

export async function findSecrets(db: Executor, tenant: Tenant, userId: string, names: string[]): Promise<SecretRow[]> {
  if (names.length === 0) return [];
  return db
    .select()
    .from(secrets)
    .where(and(owned(tenant, userId), inArray(secrets.name, names)));
}
