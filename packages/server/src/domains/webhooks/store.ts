import type { Mode } from '@vestra/contract/route';
import { and, desc, eq, gt, inArray, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Tenant } from '../../caller.ts';
import type { Executor, Transaction } from '../../db/pool.ts';
import type { Failing } from './delivery.ts';
import { dropWaiting } from './delivery-store.ts';
import { type EndpointRow, type SecretRow, webhookEndpoints, webhookSecrets } from './tables.ts';
import type { EndpointFields } from './webhook.ts';

const ofTenant = ({ orgId, mode }: Tenant) => and(eq(webhookEndpoints.org_id, orgId), eq(webhookEndpoints.mode, mode));

const owned = (tenant: Tenant, endpointId: string) => and(ofTenant(tenant), eq(webhookEndpoints.id, endpointId));

export function listEndpoints(
  db: Executor,
  tenant: Tenant,
  { limit, after }: { limit: number; after: readonly string[] | null },
): Promise<EndpointRow[]> {
  return db
    .select()
    .from(webhookEndpoints)
    .where(and(ofTenant(tenant), after ? lt(webhookEndpoints.id, after[0] as string) : undefined))
    .orderBy(desc(webhookEndpoints.id))
    .limit(limit + 1);
}

export async function findEndpoint(db: Executor, tenant: Tenant, endpointId: string): Promise<EndpointRow | undefined> {
  const [row] = await db.select().from(webhookEndpoints).where(owned(tenant, endpointId));
  return row;
}

/** Held until the transaction ends, so that changes at once are judged one after the other. */
export async function lockEndpoint(
  tx: Transaction,
  tenant: Tenant,
  endpointId: string,
): Promise<EndpointRow | undefined> {
  const [row] = await tx.select().from(webhookEndpoints).where(owned(tenant, endpointId)).for('update');
  return row;
}

/** In one order for all, so that two who hold several never wait for each other. */
export function lockEndpoints(tx: Transaction, endpointIds: readonly string[]): Promise<EndpointRow[]> {
  return tx
    .select()
    .from(webhookEndpoints)
    .where(inArray(webhookEndpoints.id, [...new Set(endpointIds)]))
    .orderBy(webhookEndpoints.id)
    .for('no key update');
}

export async function keepFailing(tx: Transaction, endpointId: string, { since, lastAt }: Failing): Promise<void> {
  await tx
    .update(webhookEndpoints)
    .set({ failing_since: since, last_failed_at: lastAt })
    .where(eq(webhookEndpoints.id, endpointId));
}

/** Those that the deployment's file has in this mode, held until the transaction ends. */
export function lockFileManaged(tx: Transaction, deploymentId: string, mode: Mode): Promise<EndpointRow[]> {
  return tx
    .select()
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.deployment_id, deploymentId), eq(webhookEndpoints.mode, mode)))
    .orderBy(webhookEndpoints.id)
    .for('update');
}

export async function insertEndpoint(tx: Transaction, row: typeof webhookEndpoints.$inferInsert): Promise<EndpointRow> {
  const [inserted] = await tx.insert(webhookEndpoints).values(row).returning();
  return inserted as EndpointRow;
}

/**
 * Changing nothing still moves the time: a roll changes what the row does not show. An endpoint that is switched off, or
 * on again, has nothing left of before to be sent; one that is switched on or moved begins without failures.
 */
export async function updateEndpoint(
  tx: Transaction,
  endpointId: string,
  changes: Partial<EndpointFields>,
): Promise<EndpointRow> {
  const isFresh = changes.active !== undefined || changes.url !== undefined;
  const [row] = await tx
    .update(webhookEndpoints)
    .set({ ...changes, ...(isFresh && { failing_since: null, last_failed_at: null }), updated_at: sql`now()` })
    .where(eq(webhookEndpoints.id, endpointId))
    .returning();
  if (changes.active !== undefined) await dropWaiting(tx, [endpointId]);
  return row as EndpointRow;
}

export async function deleteEndpoints(tx: Transaction, endpointIds: readonly string[]): Promise<void> {
  if (endpointIds.length === 0) return;
  await tx.delete(webhookEndpoints).where(inArray(webhookEndpoints.id, [...endpointIds]));
  await dropWaiting(tx, endpointIds);
}

export async function insertSecret(tx: Transaction, endpointId: string, sealed: Buffer): Promise<void> {
  await tx.insert(webhookSecrets).values({ endpoint_id: endpointId, sealed_secret: sealed });
}

/** The one in use first, then those that a roll replaced, the last of them first. */
export function secretsInForce(db: Executor, endpointId: string): Promise<SecretRow[]> {
  const { endpoint_id, valid_until } = webhookSecrets;
  return db
    .select()
    .from(webhookSecrets)
    .where(and(eq(endpoint_id, endpointId), or(isNull(valid_until), gt(valid_until, sql`now()`))))
    .orderBy(sql`${valid_until} DESC NULLS FIRST`);
}

/** Gives the secret in use its last 24 hours, and removes those whose time is over. */
export async function retireSecrets(tx: Transaction, endpointId: string): Promise<void> {
  const { endpoint_id, valid_until } = webhookSecrets;
  await tx.delete(webhookSecrets).where(and(eq(endpoint_id, endpointId), lte(valid_until, sql`now()`)));
  await tx
    .update(webhookSecrets)
    .set({ valid_until: sql`now() + interval '24 hours'` })
    .where(and(eq(endpoint_id, endpointId), isNull(valid_until)));
}
