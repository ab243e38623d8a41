import { and, desc, eq, isNull, lt } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor } from '../../db/pool.ts';
import { runPrepared } from '../../db/prepared.ts';
import { orgs } from '../orgs/api.ts';
import { apiKeys, type KeyRow, rolledKeySecrets } from './tables.ts';

export async function insertKey(tx: Executor, row: typeof apiKeys.$inferInsert): Promise<KeyRow> {
  const [inserted] = await tx.insert(apiKeys).values(row).returning();
  return inserted as KeyRow;
}

export function listKeys(
  db: Executor,
  tenant: Tenant,
  page: { limit: number; after: readonly string[] | null },
): Promise<KeyRow[]> {
  return db
    .select()
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.org_id, tenant.orgId),
        eq(apiKeys.mode, tenant.mode),
        isNull(apiKeys.revoked_at),
        page.after ? lt(apiKeys.id, page.after[0] as string) : undefined,
      ),
    )
    .orderBy(desc(apiKeys.id))
    .limit(page.limit + 1);
}

export async function lockKey(tx: Executor, tenant: Tenant, keyId: string): Promise<KeyRow | undefined> {
  const [row] = await tx
    .select()
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.id, keyId),
        eq(apiKeys.org_id, tenant.orgId),
        eq(apiKeys.mode, tenant.mode),
        isNull(apiKeys.revoked_at),
      ),
    )
    .for('update');
  return row;
}

export async function replaceSecret(
  tx: Executor,
  keyId: string,
  next: { hash: Buffer; last4: string },
  previous: { hash: Buffer; expiresAt: Date },
): Promise<KeyRow> {
  await tx
    .insert(rolledKeySecrets)
    .values({ secret_hash: previous.hash, key_id: keyId, expires_at: previous.expiresAt });
  const [row] = await tx
    .update(apiKeys)
    .set({ secret_hash: next.hash, last4: next.last4 })
    .where(eq(apiKeys.id, keyId))
    .returning();
  return row as KeyRow;
}

export async function markRevoked(tx: Executor, keyId: string): Promise<void> {
  await tx.update(apiKeys).set({ revoked_at: new Date() }).where(eq(apiKeys.id, keyId));
}

/** Of these, the ones that were not revoked. */
export async function liveKeys(db: Executor, ids: string[]): Promise<string[]> {
  const rows = await runPrepared<{ id: string }>(db, live, [ids]);
  return rows.map(({ id }) => id);
}

const live = { name: 'live_keys', text: 'SELECT id FROM api_keys WHERE id = ANY($1::text[]) AND revoked_at IS NULL' };

export type FoundKey = { key: KeyRow; org: { status: string }; rolledUntil: Date | null };

/** The key behind a secret: its current one, or one that a roll replaced. */
export async function findKeyBySecret(db: Executor, hash: Buffer): Promise<FoundKey | undefined> {
  const org = { status: orgs.status };
  const [current] = await db
    .select({ key: apiKeys, org })
    .from(apiKeys)
    .innerJoin(orgs, eq(orgs.id, apiKeys.org_id))
    .where(eq(apiKeys.secret_hash, hash));
  if (current) return { ...current, rolledUntil: null };
  const [rolled] = await db
    .select({ key: apiKeys, org, rolledUntil: rolledKeySecrets.expires_at })
    .from(rolledKeySecrets)
    .innerJoin(apiKeys, eq(apiKeys.id, rolledKeySecrets.key_id))
    .innerJoin(orgs, eq(orgs.id, apiKeys.org_id))
    .where(eq(rolledKeySecrets.secret_hash, hash));
  return rolled;
}
